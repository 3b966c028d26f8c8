"""What ONNX's operators are to a network: layers with weights, tensors that meet, or nothing that matters."""

from __future__ import annotations

from collections.abc import Mapping

from hypar_exp.networks.importers.onnx.file import knows
from hypar_exp.networks.importers.onnx.model import Model, Node
from hypar_exp.networks.importers.onnx.rewriting import MAPPABLE, MICROSOFT, WEIGHTLESS

CONVOLUTIONS = ("Conv", "ConvInteger", "QLinearConv")
TRANSPOSED_CONVOLUTIONS = ("ConvTranspose",)
MATRICES = ("Gemm", "MatMul", "FusedMatMul", "MatMulInteger", "QLinearMatMul", "Einsum")
RECURRENT = ("LSTM", "GRU", "RNN")
TABLES = ("Gather",)
FUSED_ATTENTION = ("Attention", "QAttention")
"""Of com.microsoft: with the matrix that makes query, key and value of one input."""
PRODUCTS_OF_ATTENTION = ("Attention", "MultiHeadAttention", "GroupQueryAttention")
"""Of the standard and of com.microsoft: query, key and value come in apart."""
SIDE_BY_SIDE = ("Concat",)
KNOWN_OF_MICROSOFT = frozenset(
    (
        "Attention",
        "BiasAdd",
        "BiasDropout",
        "BiasGelu",
        "BiasSoftmax",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        "FastGelu",
        "FusedMatMul",
        "Gelu",
        "GroupNorm",
        "GroupQueryAttention",
        "Inverse",
        "LayerNormalization",
        "MultiHeadAttention",
        "QAttention",
        "QLinearAdd",
        "QLinearConv",
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
KEPT_BY: Mapping[str, frozenset[str]] = {
    "normalised_outputs": frozenset(
        (
            *("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization", "GroupNorm"),
            *("RMSNormalization", "SimplifiedLayerNormalization", "SkipGroupNorm", "SkipLayerNormalization"),
            "SkipSimplifiedLayerNormalization",
        )
    ),
    "activation_inputs": frozenset(
        ("Gelu", "BiasGelu", "FastGelu", "QuickGelu", "Erf", "Silu", "Swish", "Mish", "Softplus", "HardSwish")
    ),
    "dropout_outputs": frozenset(("Dropout", "BiasDropout")),
}
"""What of `Around` counts what an operator reads; Erf is what exporters write for GELU."""
CONTROL_FLOW = ("If", "Loop", "Scan")
WEIGHT_INPUTS = {"QLinearConv": (0, 3), "QLinearMatMul": (0, 3)}
"""Where an operator's two operands are, if not first and second."""


def is_convolution(operator: str) -> bool:
    """Whether an operator slides a kernel, constant or computed."""
    return operator in (*CONVOLUTIONS, *TRANSPOSED_CONVOLUTIONS)


def operator_of(node: Node, model: Model, mapped: Mapping[str, str]) -> str:
    """The operator of a node, `WEIGHTLESS` where it is none that matters.

    Raises:
        UserError: an operator that has weights and is not known.
    """
    if mapped.get(node.operator) == WEIGHTLESS:
        return WEIGHTLESS
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
    places = WEIGHT_INPUTS.get(node.operator, (0, 1))
    found = [node.inputs[place] for place in places if place < len(node.inputs)]
    if len(found) != 2 or not all(found):
        raise node.error("it needs two operands, what it reads and its weights")
    return found[0], found[1]
