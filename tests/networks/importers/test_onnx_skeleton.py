"""ONNX files are read without their weights: what is left is the same model, whatever the weights are stored as."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx as onnx_package
import pytest
from onnx import TensorProto, helper, numpy_helper

from hypar_exp.errors import UserError
from hypar_exp.networks.importers import onnx
from hypar_exp.networks.importers.onnx.skeleton import MOST_KEPT_BYTES, read_skeleton
from tests.networks.importers.onnx_models import LIGHT, floats, node, numbers, save

LARGE = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)


@pytest.mark.parametrize("file", sorted(LIGHT.glob("*.onnx")), ids=lambda file: file.stem)
def test_a_model_without_large_constants_is_kept_byte_by_byte(file: Path) -> None:
    proto = onnx_package.load_model_from_string(read_skeleton(file))
    assert proto == onnx_package.load(file)


def test_large_constants_lose_their_data_wherever_they_are(tmp_path: Path) -> None:
    raw, plain = (
        numpy_helper.from_array(LARGE, "raw"),
        helper.make_tensor("plain", TensorProto.FLOAT, [32, 64], LARGE.flatten()),
    )
    constant = helper.make_node("Constant", [], ["inner"], value=numpy_helper.from_array(LARGE, "value"))
    nodes = [
        *(constant, node("MatMul", "x raw", "a"), node("Reshape", "a to", "b")),
        *(node("MatMul", "b plain", "c"), node("MatMul", "c inner", "y")),
    ]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 64])], "y", [raw, plain, numbers("to", [1, 32])])
    skeleton = read_skeleton(Path(path))
    assert len(skeleton) < MOST_KEPT_BYTES < Path(path).stat().st_size
    kept = {tensor.name: tensor for tensor in onnx_package.load_model_from_string(skeleton).graph.initializer}
    assert (list(kept["raw"].dims), list(kept["plain"].dims)) == ([64, 32], [32, 64])
    assert numpy_helper.to_array(kept["to"]).tolist() == [1, 32]
    assert [layer.weights for layer in onnx.load(path).layers] == [2048, 2048, 2048]


def test_functions_are_inlined(tmp_path: Path) -> None:
    opset = helper.make_opsetid("", 17)
    linear = helper.make_function("mine", "Linear", ["x", "w"], ["y"], [node("MatMul", "x w", "y")], [opset])
    raw = numpy_helper.from_array(LARGE, "raw")
    nodes = [node("Linear", "x raw", "y", domain="mine")]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 64])], "y", [raw], functions=[linear], domains=["mine"])
    assert [layer.weights for layer in onnx.load(path).layers] == [2048]


def test_graphs_within_graphs_without_end_are_refused(tmp_path: Path) -> None:
    graph = helper.make_graph([node("Relu", "x", "y", name="n" * 2 * MOST_KEPT_BYTES)], "g", [], [])
    content = graph.SerializeToString()
    for _ in range(2000):  # an attribute (6: graph) in a node (5) in a graph (1)
        for number in (6, 5, 1):
            content = bytes([number << 3 | 2]) + varint(len(content)) + content
    file = tmp_path / "m.onnx"
    file.write_bytes(bytes([7 << 3 | 2]) + varint(len(content)) + content)
    with pytest.raises(UserError, match="is not an ONNX model"):
        onnx.load(str(file))


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 128:
        encoded.append(value % 128 + 128)
        value //= 128
    return bytes([*encoded, value])
