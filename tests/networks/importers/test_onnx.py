"""ONNX models: real ones against the networks of conf/network, and every kind of operator by hand."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper
from onnx.defs import onnx_opset_version

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Layer, Network, build
from hypar_exp.networks.importers import onnx
from hypar_exp.networks.layers import Around
from hypar_exp.planning import CommunicationModel, HyPar, PlanningProblem
from tests.conftest import DATA
from tests.networks.importers.onnx_models import LIGHT, floats, node, numbers, save, transformer_block, weights

AS_EVALUATED = CommunicationModel(
    within_layer={"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}},
    between_layers={"dp": {"mp": {"feature": 0.5, "error": 0.5}}},
)

NEWEST_OPSET = onnx_opset_version()


def sizes(layer: Layer) -> tuple[Any, ...]:
    return layer.kind, layer.input, layer.output, layer.weights, layer.output_positions, layer.extra_macs


def edges(network: Network) -> Counter[tuple[Any, ...]]:
    layers = network.layers
    return Counter((sizes(layers[e.producer]), sizes(layers[e.consumer]), e.elements) for e in network.edges)


@pytest.mark.parametrize("file", sorted(LIGHT.glob("*.onnx")), ids=lambda file: file.stem)
def test_every_light_model_of_onnx_imports_and_plans(file: Path) -> None:
    network = onnx.load(str(file))
    plan = HyPar().plan(PlanningProblem(network, batch_size=256, levels=4, communication=AS_EVALUATED))
    assert plan.choices.shape == (4, len(network.layers))
    assert str(network.layers[-1].output) == "1000"
    assert len(set(network.layer_names)) == len(network.layers)


def test_models_of_others() -> None:
    auto = onnx.load(str(DATA / "onnx" / "deepautoencoder.onnx"))
    # MLPerf Tiny's anomaly detection: 640, four times 128, 8, four times 128, 640
    assert [layer.output.elements for layer in auto.layers] == [128] * 4 + [8] + [128] * 4 + [640]
    swiglu = onnx.load(str(DATA / "onnx" / "swiglu_1_16_32.onnx"))
    # gate and value are multiplied: the later of the two fetches the other, and is read for both
    assert [(edge.producer, edge.consumer, edge.elements) for edge in swiglu.edges] == [(0, 1, 32), (1, 2, 32)]


def test_vgg19_is_vgg_e_layer_by_layer() -> None:
    read, ours = onnx.load(str(LIGHT / "light_vgg19.onnx")), networks.load("vgg_e")
    assert [sizes(layer) for layer in read.layers] == [sizes(layer) for layer in ours.layers]
    assert read.edges == ours.edges
    assert read.layer_names[:3] == ("conv1_1", "conv1_2", "conv2_1")


def test_bvlc_alexnet_has_its_groups() -> None:
    read = onnx.load(str(LIGHT / "light_bvlc_alexnet.onnx"))
    # Krizhevsky et al.: 96 11x11x3, 256 5x5x48, 384 3x3x256, 384 3x3x192, 256 3x3x192, then 4096, 4096, 1000
    kernels = [96 * 363, 256 * 25 * 48, 384 * 9 * 256, 384 * 9 * 192, 256 * 9 * 192]
    assert [layer.weights for layer in read.layers] == [*kernels, 9216 * 4096, 4096 * 4096, 4096 * 1000]


@pytest.mark.parametrize(
    ("file", "name"), [("resnet50", "resnet50"), ("squeezenet", "squeezenet"), ("densenet121", "densenet121")]
)
def test_graphs_are_those_of_the_zoo(file: str, name: str) -> None:
    read, ours = onnx.load(str(LIGHT / f"light_{file}.onnx")), networks.load(name)
    assert Counter(layer.weights for layer in read.layers) == Counter(layer.weights for layer in ours.layers)
    assert len(read.edges) == len(ours.edges)
    if file == "resnet50":  # the others differ in where they round the sizes of their pools, or how they flatten
        assert Counter(map(sizes, read.layers)) == Counter(map(sizes, ours.layers))


def test_googlenet_has_the_published_weights_and_edges() -> None:
    read, ours = onnx.load(str(LIGHT / "light_inception_v1.onnx")), networks.load("googlenet")
    assert [layer.weights for layer in read.layers] == [layer.weights for layer in ours.layers]
    assert [(e.producer, e.consumer) for e in read.edges] == [(e.producer, e.consumer) for e in ours.edges]


def block(width: int, positions: int) -> Network:
    return build(
        "block",
        [width, positions],
        {
            "query": {"matmul": width},
            "key": {"matmul": width, "reads": "input"},
            "value": {"matmul": width, "reads": "input"},
            "attention": {"attention": ["query", "key", "value"]},
            "output": {"matmul": width},
            "up": {"matmul": 4 * width},
            "down": {"matmul": width, "add": "output"},
        },
    )


@pytest.mark.parametrize("fixed", [False, True])
def test_a_transformer_block_as_pytorch_exports_it(tmp_path: Path, fixed: bool) -> None:
    if fixed:  # four samples of seven tokens: every size is divided by four
        read = onnx.load(transformer_block(tmp_path / "block.onnx", [4, 7, 24], width=24, heads=3))
    else:
        path = transformer_block(tmp_path / "block.onnx", ["batch", "tokens", 24], width=24, heads=3)
        read = onnx.load(path, shapes={"tokens": 7})
    ours = block(24, 7)
    assert read.layer_names == ("attention/query", "attention/key", "attention/value", "output", "up", "down")
    assert [sizes(layer) for layer in read.layers] == [sizes(layer) for layer in ours.layers]
    assert read.edges == ours.edges


def test_what_stands_around_the_layers_is_read(tmp_path: Path) -> None:
    read = onnx.load(transformer_block(tmp_path / "block.onnx", [4, 7, 24], width=24, heads=3))
    around = {layer.name: layer.around for layer in read.layers if layer.around != Around()}
    assert around == {
        "output": Around(normalised_outputs=7 * 24, probabilities=3 * 7 * 7),
        "up": Around(activation_inputs=7 * 96),
    }
    light, ours = onnx.load(str(LIGHT / "light_resnet50.onnx")), networks.load("resnet50")
    assert [sum(layer.around.normalised_outputs for layer in network.layers) for network in (light, ours)] == [
        11113984
    ] * 2


def test_sizes_that_are_left_open_have_to_be_given(tmp_path: Path) -> None:
    path = transformer_block(tmp_path / "block.onnx", ["batch", "tokens", 24], width=24, heads=3)
    with pytest.raises(UserError, match=r"axis 1 of the input 'x' .* network.shapes=\{tokens: N\}"):
        onnx.load(path)
    with pytest.raises(UserError, match="no dynamic axis 'token'; did you mean tokens"):
        onnx.load(path, shapes={"token": 7})
    whole = onnx.load(path, shapes={"x": [2, 7, 24]})
    assert [sizes(layer) for layer in whole.layers] == [sizes(layer) for layer in block(24, 7).layers]
    assert onnx.load(path, batch=8, shapes={"tokens": 7}).layers == whole.layers
    with pytest.raises(UserError, match=r"network.shapes.tokens must be a whole number"):
        onnx.load(path, shapes={"tokens": -3})
    with pytest.raises(UserError, match=r"network.batch must be a whole number"):
        onnx.load(path, batch=0)


def only(path: str, **options: Any) -> Layer:
    (layer,) = onnx.load(path, **options).layers
    return layer


def test_convolutions_of_every_kind(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    x = [floats("x", [2, 8, 10, 10])]
    grouped = only(save(file, [node("Conv", "x w", "y", group=4)], x, "y", [weights("w", 12, 2, 3, 3)]))
    assert sizes(grouped) == ("conv", networks.Shape(8, 10, 10), networks.Shape(12, 8, 8), 216, 64, 0)
    one = only(save(file, [node("Conv", "x w", "y")], [floats("x", [2, 8, 10])], "y", [weights("w", 6, 8, 3)]))
    assert sizes(one) == ("conv", networks.Shape(8, 10), networks.Shape(6, 8), 144, 8, 0)
    three = only(
        save(file, [node("Conv", "x w", "y")], [floats("x", [1, 2, 4, 5, 5])], "y", [weights("w", 3, 2, 2, 3, 3)])
    )
    assert (three.input.elements, three.output.elements, three.macs_at_output) == (200, 81, 108 * 27)
    up = only(
        save(file, [node("ConvTranspose", "x w", "y", strides=[2, 2])], x, "y", [weights("w", 8, 5, 2, 2)], opset=11)
    )
    assert sizes(up) == ("conv_transpose", networks.Shape(8, 10, 10), networks.Shape(5, 20, 20), 160, 100, 0)


def test_matrices_of_every_kind(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    rows, tokens = [floats("x", [2, 6])], [floats("x", [2, 5, 6])]
    fc = only(save(file, [node("Gemm", "x w b", "y", transB=1)], rows, "y", [weights("w", 4, 6), weights("b", 4)]))
    assert sizes(fc) == ("fc", networks.Shape(6), networks.Shape(4), 24, 1, 0)
    sequence = only(save(file, [node("MatMul", "x w", "y")], tokens, "y", [weights("w", 6, 4)]))
    assert sizes(sequence) == ("matmul", networks.Shape(6, 5), networks.Shape(4, 5), 24, 5, 0)
    einsum = node("Einsum", "x w", "y", equation="bij,jk->bik")
    assert sizes(only(save(file, [einsum], tokens, "y", [weights("w", 6, 4)]))) == sizes(sequence)
    transposed = [node("Transpose", "w", "wt"), node("MatMul", "x wt", "y")]
    assert sizes(only(save(file, transposed, tokens, "y", [weights("w", 4, 6)]))) == sizes(sequence)
    flattened = [node("Reshape", "x to", "r"), node("Gemm", "r w", "y")]
    assert sizes(only(save(file, flattened, tokens, "y", [numbers("to", [-1, 6]), weights("w", 6, 4)]))) == sizes(
        sequence
    )


def test_tables_recurrent_layers_and_attention_with_its_matrix(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    ids = floats("x", [2, 5])
    ids.type.tensor_type.elem_type = 7
    table = only(save(file, [node("Gather", "w x", "y")], [ids], "y", [weights("w", 100, 6)]))
    assert (table.kind, table.weights, table.macs_at_input, str(table.output)) == ("embedding", 600, 0, "6x5")
    matrices = [weights("w", 2, 16, 3), weights("r", 2, 16, 4)]
    lstm = node("LSTM", "x w r", "y", hidden_size=4, direction="bidirectional")
    network = onnx.load(save(file, [lstm], [floats("x", [7, 1, 3])], "y", matrices), batch=1)
    assert [(layer.weights, layer.macs_at_output) for layer in network.layers] == [(96, 96 * 7), (128, 128 * 7)]
    # the gates that the first matrix makes, four for each of 2 x 4 states and 7 steps
    assert [(edge.producer, edge.consumer, edge.elements) for edge in network.edges] == [(0, 1, 4 * 2 * 4 * 7)]
    fused = node("Attention", "x w b", "y", domain="com.microsoft", num_heads=2)
    constants = [weights("w", 6, 18), weights("b", 18)]
    layer = only(save(file, [fused], [floats("x", [2, 5, 6])], "y", constants, domains=["com.microsoft"]))
    assert (layer.weights, layer.extra_macs) == (108, 2 * 5 * 5 * 6)


def test_unknown_operators_pass_stop_or_are_mapped(tmp_path: Path) -> None:
    plain = [node("MyGelu", "x", "g", domain="mine"), node("MatMul", "g w", "y")]
    x = [floats("x", [2, 5, 6])]
    path = save(tmp_path / "plain.onnx", plain, x, "y", [weights("w", 6, 4)], domains=["mine"])
    expected = ("matmul", networks.Shape(6, 5), networks.Shape(4, 5), 24, 5, 0)
    assert sizes(only(path)) == expected
    custom = [node("MyLinear", "x b w", "y", domain="mine", name="head")]
    path = save(tmp_path / "own.onnx", custom, x, "y", [weights("w", 6, 6), weights("b", 6)], domains=["mine"])
    with pytest.raises(UserError) as error:
        onnx.load(path)
    assert str(error.value) == (
        f"{path}: node 'head' (MyLinear): this operator has weights and is not known; say what it works like, as in "
        "network.map={MyLinear: MatMul} (or Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU, RNN, Gather, or weightless)"
    )
    assert sizes(only(path, map={"MyLinear": "MatMul"}))[1:] == (networks.Shape(6, 5), networks.Shape(6, 5), 36, 5, 0)
    with pytest.raises(UserError, match="no layers"):
        onnx.load(path, map={"MyLinear": "weightless"})
    with pytest.raises(UserError, match=r"network.map.MyLinear must be an operator .* did you mean MatMul"):
        onnx.load(path, map={"MyLinear": "Matmul"})


def test_a_convolution_after_an_unknown_operator_still_has_its_sizes(tmp_path: Path) -> None:
    nodes = [node("Mish2", "x", "m", domain="mine"), node("Relu", "m", "r"), node("Conv", "r w", "y")]
    path = save(
        tmp_path / "m.onnx", nodes, [floats("x", [1, 3, 8, 8])], "y", [weights("w", 4, 3, 3, 3)], domains=["mine"]
    )
    assert str(only(path).output) == "4x6x6"


def test_external_data_is_not_looked_for(tmp_path: Path) -> None:
    outside = weights("w", 6, 4)
    outside.data_location = 1
    outside.external_data.add(key="location", value="../../not/there.bin")
    path = save(tmp_path / "m.onnx", [node("MatMul", "x w", "y")], [floats("x", [2, 6])], "y", [outside])
    assert only(path).weights == 24


def test_what_is_no_model_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.onnx"
    with pytest.raises(UserError, match="cannot be read: No such file"):
        onnx.load(str(file))
    for content in (b"", b"name: vgg\n", b"\x00" * 1000):
        file.write_bytes(content)
        with pytest.raises(UserError, match="is not an ONNX model"):
            onnx.load(str(file))
    save(file, [node("Conv", "x w", "y")], [floats("x", [1, 3, 8, 8])], "y", [weights("w", 4, 5, 3, 3)])
    with pytest.raises(UserError, match=r"its kernel wants 5 channels, but 3 come in|onnx cannot infer its shapes"):
        onnx.load(str(file))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UserError, match=r"needs the onnx package: .* -m pip install 'onnx"):
        onnx.load(str(file))


def test_sizes_that_the_model_computes_itself_are_worked_out(tmp_path: Path) -> None:
    """As PaddlePaddle exports a flatten: through Cast, Slice and Concat, where shape inference gives up."""
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        node("Shape", "c", "size"),
        node("Cast", "size", "size32", to=6),
        node("Slice", "size32 zero one zero", "samples"),
        node("Cast", "samples", "samples64", to=7),
        node("Mul", "samples64 one", "samples1"),
        node("ConstantOfShape", "one", "filled", value=onnx_filled(-1)),
        node("Concat", "samples1 filled", "target", axis=0),
        node("Reshape", "c target", "flat"),
        node("Pad", "flat pads", "padded"),
        node("MatMul", "padded v", "y"),
    ]
    constants = [
        *(weights("w", 4, 3, 3, 3), weights("v", 4 * 36 + 2, 10)),
        *(numbers("zero", [0]), numbers("one", [1]), numbers("pads", [0, 1, 0, 1])),
    ]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [5, 3, 6, 6])], "y", constants)
    assert sizes(onnx.load(path).layers[1]) == ("fc", networks.Shape(146), networks.Shape(10), 1460, 1, 0)


def test_layers_inside_control_flow_are_not_lost_in_silence(tmp_path: Path) -> None:
    branches = {
        f"{name}_branch": helper.make_graph([node("MatMul", "x w", f"{name}y")], name, [], [floats(f"{name}y", [1, 4])])
        for name in ("then", "else")
    }
    nodes = [node("If", "flag", "chosen", name="maybe", **branches), node("MatMul", "chosen v", "y")]
    flag = helper.make_tensor("flag", TensorProto.BOOL, [], [True])
    constants = [weights("w", 6, 4), weights("v", 4, 3), flag]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 6])], "y", constants)
    with pytest.raises(UserError, match=r"node 'maybe' \(If\): there are layers inside it, which are not read"):
        onnx.load(path)
    assert only(path, map={"If": "weightless"}).weights == 12


def test_an_axis_of_the_batchs_name_is_the_batch_in_every_input(tmp_path: Path) -> None:
    inputs = [floats("x", ["N", 6]), floats("state", [2, "N", 6])]
    nodes = [node("ReduceSum", "state axes", "s", keepdims=0), node("Add", "x s", "a"), node("MatMul", "a w", "y")]
    path = save(tmp_path / "m.onnx", nodes, inputs, "y", [numbers("axes", [0]), weights("w", 6, 4)])
    assert only(path, batch=3).input == networks.Shape(6)


def test_what_gemm_adds_and_a_recurrent_layers_first_state_come_over_edges(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    nodes = [node("Gemm", "x u", "a"), node("Gemm", "x v", "b"), node("Gemm", "b w a", "y")]
    constants = [weights("u", 6, 4), weights("v", 6, 5), weights("w", 5, 4)]
    network = onnx.load(save(file, nodes, [floats("x", [1, 6])], "y", constants))
    assert [(edge.producer, edge.consumer, edge.elements) for edge in network.edges] == [(0, 2, 4), (1, 2, 5)]
    nodes = [
        node("RNN", "x w r", "encoded state", hidden_size=4),
        node("RNN", "z w2 r2 - - state", "decoded", hidden_size=4),
        node("MatMul", "decoded v", "y"),
    ]
    constants = [*(weights(name, 1, 4, 3) for name in ("w", "w2")), *(weights(name, 1, 4, 4) for name in ("r", "r2"))]
    inputs = [floats("x", [7, 1, 3]), floats("z", [5, 1, 3])]
    network = onnx.load(save(file, nodes, inputs, "y", [*constants, weights("v", 4, 9)]), batch=1)
    ends = [(edge.producer, edge.consumer, edge.elements) for edge in network.edges]
    # the last of the encoder's states goes along to who reads the decoder's
    assert ends == [(0, 1, 4 * 7), (2, 3, 4 * 5), (1, 4, 4), (3, 4, 4 * 5)]


def test_a_mapped_operator_has_the_sizes_of_what_it_works_like(tmp_path: Path) -> None:
    nodes = [node("MyLinear", "w x", "h", domain="mine"), node("MyConv", "h k", "y", domain="mine", strides=[2, 2])]
    constants = [weights("w", 8, 12), weights("k", 5, 3, 3, 3)]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 3, 9, 8])], "y", constants, domains=["mine"])
    first, second = onnx.load(path, map={"MyLinear": "MatMul", "MyConv": "Conv"}).layers
    assert sizes(first) == ("matmul", networks.Shape(8, 27), networks.Shape(12, 27), 96, 27, 0)
    assert sizes(second) == ("conv", networks.Shape(3, 9, 12), networks.Shape(5, 4, 5), 135, 20, 0)


def test_onnxruntimes_fused_operators(tmp_path: Path) -> None:
    nodes = [
        node("FusedConv", "x k", "c", domain="com.microsoft", activation="Relu", strides=[2, 2]),
        node("QLinearGlobalAveragePool", "c s z s z", "p", domain="com.microsoft"),
        node("Flatten", "p", "f"),
        node("FusedGemm", "f w b", "y", domain="com.microsoft", transB=1),
    ]
    constants = [weights("k", 8, 3, 3, 3), weights("w", 10, 8), weights("b", 10), weights("s"), weights("z")]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 3, 9, 9])], "y", constants, domains=["com.microsoft"])
    conv, fc = onnx.load(path).layers
    assert sizes(conv) == ("conv", networks.Shape(3, 9, 9), networks.Shape(8), 216, 16, 0)
    assert sizes(fc) == ("fc", networks.Shape(8), networks.Shape(10), 80, 1, 0)


def attention_of_heads(operator: Any) -> list[Any]:
    made = [node("MatMul", f"x w{which}", which) for which in "qkv"]
    return [*made, operator, node("MatMul", "mixed wo", "y")]


@pytest.mark.parametrize("operator", ["Attention", "MultiHeadAttention"])
def test_attention_as_one_operator_is_attention(operator: str, tmp_path: Path) -> None:
    domain = "com.microsoft" if operator == "MultiHeadAttention" else ""
    heads = {"num_heads": 2} if domain else {"q_num_heads": 2, "kv_num_heads": 2}
    nodes = attention_of_heads(node(operator, "q k v", "mixed", domain=domain, **heads))
    constants = [weights(f"w{which}", 8, 8) for which in "qkvo"]
    x = [floats("x", [1, 5, 8])]
    network = onnx.load(save(tmp_path / "m.onnx", nodes, x, "y", constants, opset=23, domains=["com.microsoft"]))
    described = {which: {"matmul": 8, "reads": "input"} for which in "qkv"}
    ours = build("n", [8, 5], described | {"mixed": {"attention": ["q", "k", "v"]}, "o": {"matmul": 8}})
    assert [sizes(layer) for layer in network.layers] == [sizes(layer) for layer in ours.layers]
    assert network.edges == ours.edges


def test_a_fused_product_with_a_transposed_operand(tmp_path: Path) -> None:
    nodes = [
        *(node("MatMul", "x u", "a"), node("MatMul", "x v", "b")),
        node("FusedMatMul", "a b", "scores", domain="com.microsoft", transB=1),
        node("MatMul", "scores w", "y"),
    ]
    constants = [weights("u", 6, 4), weights("v", 6, 4), weights("w", 5, 3)]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 5, 6])], "y", constants, domains=["com.microsoft"])
    layer = onnx.load(path).layers[2]
    assert (layer.input, layer.extra_macs) == (networks.Shape(5, 5), 5 * 5 * 4)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21, NEWEST_OPSET])
def test_opsets_from_7_to_the_newest(opset: int, tmp_path: Path) -> None:
    axes = {"inputs": "u axes" if opset >= 13 else "u"} | ({} if opset >= 13 else {"axes": [2]})
    nodes = [
        node("Conv", "x k", "c", pads=[1, 1, 1, 1]),
        node("MaxPool", "c", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Reshape", "p to", "r"),
        node("MatMul", "r w", "u"),
        node("Unsqueeze", str(axes.pop("inputs")), "e", **axes),
        node("Squeeze", "e axes" if opset >= 13 else "e", "s", **axes),
        node("Gemm", "s v b", "y"),
    ]
    constants = [
        *(weights("k", 4, 3, 3, 3), weights("w", 64, 8), weights("v", 8, 2), weights("b", 2)),
        *(numbers("to", [-1, 64]), numbers("axes", [2])),
    ]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [2, 3, 8, 8])], "y", constants, opset=opset)
    assert [str(layer.output) for layer in onnx.load(path).layers] == ["4x4x4", "8", "2"]


def test_an_input_with_a_colon_can_be_given_its_sizes_as_the_error_says(tmp_path: Path) -> None:
    x = [floats("x:0", ["N", 3, "?", "?"])]
    path = save(tmp_path / "m.onnx", [node("Conv", "x:0 w", "y")], x, "y", [weights("w", 4, 3, 3, 3)])
    with pytest.raises(UserError) as error:
        onnx.load(path)
    assert str(error.value).endswith(r"as in network.shapes={x\:0: [1, 3, N, N]}")
    assert str(only(path, shapes={r"x\:0": [1, 3, 8, 8]}).output) == "4x6x6"


def onnx_filled(value: int) -> Any:
    return helper.make_tensor("value", TensorProto.INT64, [1], [value])
