"""Small models of kinds that exporters make, with what they come to by hand: weights, and MACs of one sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks import Network, load
from hypar_exp.networks.importers import onnx
from tests.conftest import DATA
from tests.networks.importers.onnx_models import floats, node, save, weights

FOLDER = DATA / "onnx"

MODELS = {  # file -> weights of the layers, multiply-accumulates of one sample, whether the batch is told
    "25_computed_reshapes": (25 * 16, 25 * 16 * 6, False),
    "25_custom_activations": (25 * 16, 25 * 16, False),
    "expand_where_types": (10 * 4 + 4 * 3, 6 * 4 * 3, False),
    "pad_to_multiple_mod": (4 * 3, 10 * 4 * 3, False),
    "qgemm": (16 * 4, 16 * 4, False),
    "matmul_nbits": (64 * 32, 6 * 64 * 32, False),
    "embed_layernorm": (50 * 8 + 16 * 8 + 2 * 8 + 8 * 3, 6 * 8 * 3, False),
    "dynamic_quantize_lstm": (5 * 24 + 6 * 24, 10 * (5 * 24 + 6 * 24), True),
    "computed_kernel": (5 * 216, 5 * 216 + 8 * 10 * 10 * 27, False),
    "image_without_batch": (8 * 27, 10 * 10 * 8 * 27, True),
    "lstm_time_first": (5 * 24 + 6 * 24 + 6 * 3, 10 * (5 * 24 + 6 * 24) + 6 * 3, True),
    "lstm_time_first_b1": (5 * 24 + 6 * 24, 10 * (5 * 24 + 6 * 24), True),
    "state_before_data": (8 * 4 * 3, 20 * 8 * 4 * 3, True),
    "einsum_ellipsis": (4 * 3, 6 * 4 * 3, False),
    "einsum_implicit": (4 * 3, 6 * 4 * 3, False),
}


def totals(network: Network) -> tuple[int, int]:
    return int(network.weights.sum()), sum(layer.macs_at_output for layer in network.layers)


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_comes_to(name: str) -> None:
    network = load(str(FOLDER / f"onnx_{name}.onnx"))
    *expected, told = MODELS[name]
    assert totals(network) == tuple(expected)
    assert bool(network.notes) == told


@pytest.mark.parametrize("file", sorted((FOLDER / "shape_arithmetic").glob("*.onnx")), ids=lambda file: file.stem)
def test_sizes_that_a_model_computes(file: Path) -> None:
    network = load(str(file))
    assert [str(layer.input) for layer in network.layers] == ["8x24"]
    assert totals(network) == (8 * 3, 24 * 8 * 3)


def test_a_branch_that_depends_on_sizes_is_taken() -> None:
    file = str(FOLDER / "onnx_squeeze_as_if.onnx")
    with pytest.raises(UserError, match=r"give its size, as in network\.shapes=\{t: N\}"):
        load(file)
    assert totals(load(file, shapes={"t": 8})) == (24, 192)


def test_a_batch_that_the_operators_contradict_is_refused() -> None:
    with pytest.raises(UserError, match=r"it reads 1 samples, of which network\.batch=3 is no divisor"):
        load(str(FOLDER / "onnx_image_without_batch.onnx"), batch=3)


def test_weights_may_be_plain_inputs(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    inputs = [floats("x", [1, 3, 8, 8]), floats("k", [4, 3, 3, 3]), floats("m", [144, 5])]
    flatten = node("Flatten", "c", "f", axis=1)
    save(file, [node("Conv", "x k", "c"), flatten, node("MatMul", "f m", "y")], inputs, "y", [])
    network = onnx.load(str(file))
    assert totals(network) == (4 * 27 + 144 * 5, 36 * 4 * 27 + 144 * 5)


def test_blocked_convolutions_are_convolutions(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    blocked = {"domain": "com.microsoft.nchwc"}
    nodes = [
        node("ReorderInput", "x", "r", **blocked),
        node("Conv", "r w", "c", activation="Relu", **blocked),
        node("ReorderOutput", "c", "y", channels=16, **blocked),
    ]
    save(file, nodes, [floats("x", [1, 8, 6, 6])], "y", [weights("w", 16, 8, 3, 3)])
    assert totals(onnx.load(str(file))) == (16 * 8 * 9, 16 * 16 * 8 * 9)


def test_doubling_a_concatenation_forty_times_fills_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    nodes = [node("Concat", f"v{at} v{at}", f"v{at + 1}", axis=0) for at in range(40)]
    nodes += [node("Shape", "v40", "s"), node("MatMul", "x w", "y")]
    numbers = weights("v0", 4)
    save(file, nodes, [floats("x", [1, 4])], "y", [numbers, weights("w", 4, 3)])
    assert totals(onnx.load(str(file))) == (12, 12)


def test_functions_that_call_each_other_thirty_deep_are_counted_first(tmp_path: Path) -> None:
    from onnx import helper, save_model

    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("loc", 1)]
    functions = [helper.make_function("loc", "F0", ["a"], ["c"], [helper.make_node("Relu", ["a"], ["c"])], opsets)]
    for at in range(1, 31):
        calls = [
            helper.make_node(f"F{at - 1}", [read], [written], domain="loc")
            for read, written in (("a", "b"), ("b", "c"))
        ]
        functions.append(helper.make_function("loc", f"F{at}", ["a"], ["c"], calls, opsets))
    graph = helper.make_graph(
        [helper.make_node("F30", ["x"], ["y"], domain="loc")], "g", [floats("x", [1, 4])], [floats("y", [1, 4])]
    )
    save_model(helper.make_model(graph, opset_imports=opsets, functions=functions), str(tmp_path / "m.onnx"))
    with pytest.raises(UserError, match="with its functions written out it has more than 200,000 nodes"):
        onnx.load(str(tmp_path / "m.onnx"))
