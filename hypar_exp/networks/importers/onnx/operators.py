"""What ONNX's operators are to a network: layers with weights, tensors that meet, or nothing that matters."""

from __future__ import annotations

from collections.abc import Mapping

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.importers.onnx.file import knows
from hypar_exp.networks.importers.onnx.model import Model, Node

WEIGHTLESS = "weightless"
CONVOLUTIONS = ("Conv", "ConvInteger", "FusedConv", "QLinearConv")
TRANSPOSED_CONVOLUTIONS = ("ConvTranspose",)
MATRICES = ("Gemm", "MatMul", "FusedGemm", "FusedMatMul", "MatMulInteger", "QLinearMatMul", "Einsum")
RECURRENT = ("LSTM", "GRU", "RNN")
TABLES = ("Gather",)
FUSED_ATTENTION = ("Attention", "QAttention")
"""Of com.microsoft: with the matrix that makes query, key and value of one input."""
PRODUCTS_OF_ATTENTION = ("Attention", "MultiHeadAttention", "GroupQueryAttention")
"""Of the standard and of com.microsoft: query, key and value come in apart."""
SIDE_BY_SIDE = ("Concat",)
MAPPABLE = (*CONVOLUTIONS[:1], *TRANSPOSED_CONVOLUTIONS, "Gemm", "MatMul", *RECURRENT, *TABLES)
MICROSOFT = "com.microsoft"
KNOWN_OF_MICROSOFT = frozenset(
    (
        "Attention",
        "BiasAdd",
        "BiasDropout",
        "BiasGelu",
        "BiasSoftmax",
        "BiasSplitGelu",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        "FastGelu",
        "FusedConv",
        "FusedGemm",
        "FusedMatMul",
        "Gelu",
        "GroupNorm",
        "GroupQueryAttention",
        "Inverse",
        "LayerNormalization",
        "MultiHeadAttention",
        "NhwcMaxPool",
        "QAttention",
        "QLinearAdd",
        "QLinearAveragePool",
        "QLinearConcat",
        "QLinearConv",
        "QLinearGlobalAveragePool",
        "QLinearLeakyRelu",
        "QLinearMul",
        "QLinearSigmoid",
        "QLinearSoftmax",
        "QuantizeLinear",
        "QuickGelu",
        "RotaryEmbedding",
        "Silu",
        "SimplifiedLayerNormalization",
        "SkipGroupNorm",
        "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    )
)
CONTROL_FLOW = ("If", "Loop", "Scan")
WEIGHT_INPUTS = {"QLinearConv": (0, 3), "QLinearMatMul": (0, 3)}
"""Where an operator's two operands are, if not first and second."""


def checked_map(map: Mapping[str, str]) -> dict[str, str]:
    """What the user says that operators work like.

    Raises:
        UserError: like something that is not known.
    """
    allowed = (*MAPPABLE, WEIGHTLESS)
    for operator, like in map.items():
        if like not in allowed:
            raise UserError(
                f"network.map.{operator} must be an operator with weights that is known, or {WEIGHTLESS} (got {like!r})"
                f"{did_you_mean(str(like), allowed)}"
            )
    return {str(operator): like for operator, like in map.items()}


def operator_of(node: Node, model: Model, mapped: Mapping[str, str]) -> str:
    """The operator that a node works like, `WEIGHTLESS` where it is none that matters.

    Raises:
        UserError: an operator that has weights and is not known.
    """
    if node.operator in mapped:
        return mapped[node.operator]
    known = knows(node.operator, node.domain) or (node.domain == MICROSOFT and node.operator in KNOWN_OF_MICROSOFT)
    if node.inner_layers:
        raise node.error(
            f"there are layers inside it, which are not read; export the model without it, or leave them out with "
            f"network.map={{{node.operator}: {WEIGHTLESS}}}"
        )
    if known and node.operator not in CONTROL_FLOW:
        return node.operator
    if any(is_matrix(value, model) for value in node.inputs):
        raise node.error(
            f"this operator has weights and is not known; say what it works like, as in "
            f"network.map={{{node.operator}: MatMul}} (or {', '.join(MAPPABLE)}, or {WEIGHTLESS})"
        )
    return WEIGHTLESS


def is_matrix(value: str, model: Model) -> bool:
    """Whether a value is a constant of two dimensions or more, as weights are and biases and scales are not."""
    return value in model.constants and len([size for size in model.dims.get(value, ()) if size != 1]) >= 2


def operands(node: Node, model: Model) -> tuple[str, str]:
    """The two values that a convolution or a matrix product multiplies.

    Raises:
        UserError: they are not there.
    """
    if knows(node.operator, node.domain) or node.domain == MICROSOFT:
        places = WEIGHT_INPUTS.get(node.operator, (0, 1))
        found = [node.inputs[place] for place in places if place < len(node.inputs)]
    else:  # an operator of someone else's, mapped to one of these
        data = [value for value in node.inputs if value and value not in model.constants][:1]
        found = [*data, *[value for value in node.inputs if is_matrix(value, model)][:1]]
    if len(found) != 2 or not all(found):
        raise node.error("it needs two operands, what it reads and its weights")
    return found[0], found[1]
