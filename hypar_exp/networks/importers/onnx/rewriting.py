"""Operators of others as those of the standard that they work like, before shapes are inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypar_exp.errors import UserError, did_you_mean

WEIGHTLESS = "weightless"
MICROSOFT = "com.microsoft"
EQUIVALENT = {
    "FusedConv": "Conv",
    "FusedGemm": "Gemm",
    "QLinearAveragePool": "AveragePool",
    "QLinearGlobalAveragePool": "GlobalAveragePool",
}
"""Operator of com.microsoft (onnxruntime's ContribOperators.md) -> the same of the standard, as far as sizes go."""
MAPPABLE = ("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Gather")
TRANSPOSITIONS = ("transA", "transB", "transBatchA", "transBatchB")


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


def rewrite(graph: Any, mapped: Mapping[str, str]) -> None:
    """Change nodes of others in place: what `mapped` says, and com.microsoft's that have an equivalent."""
    stored = {tensor.name: len(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:
        like = mapped.get(node.op_type)
        if like is not None and like != WEIGHTLESS:
            _rename(node, like, _in_order(node.input, stored, like))
        elif node.domain == MICROSOFT:
            if node.op_type in EQUIVALENT:
                _rename(node, EQUIVALENT[node.op_type], node.input)
            elif node.op_type == "QLinearConcat":  # scale and zero of what is written, then of each that is read
                _rename(node, "Concat", node.input[2::3])
            elif node.op_type == "FusedMatMul" and not any(
                attribute.i for attribute in node.attribute if attribute.name in TRANSPOSITIONS
            ):
                _rename(node, "MatMul", node.input)


def fused_product_sizes(node: Any, known: Mapping[str, tuple[int, ...]]) -> tuple[int, ...] | None:
    """The sizes of what com.microsoft's FusedMatMul writes; None where those of its operands are not known."""
    sizes = [list(known.get(value, ())) for value in node.input[:2]]
    if len(sizes) < 2 or min(map(len, sizes)) < 2:
        return None
    flags = {attribute.name: attribute.i for attribute in node.attribute}
    for operand, flag in zip(sizes, ("transA", "transB"), strict=True):
        if flags.get(flag):
            operand[-2:] = operand[:-3:-1]
    batches = max(sizes[0][:-2], sizes[1][:-2], key=len)
    return (*batches, sizes[0][-2], sizes[1][-1])


def _rename(node: Any, operator: str, inputs: Sequence[str]) -> None:
    given = list(inputs)
    node.op_type, node.domain = operator, ""
    del node.input[:]
    node.input.extend(given)


def _in_order(inputs: Sequence[str], stored: Mapping[str, int], like: str) -> list[str]:
    """What is read and the weights where the standard has them, whatever the order that they are given in."""
    if like in ("LSTM", "GRU", "RNN"):
        return list(inputs)
    matrices = [value for value in inputs if stored.get(value, 0) >= 2][:1]
    read = [value for value in inputs if value and value not in stored][:1]
    return [*matrices, *read] if like == "Gather" else [*read, *matrices]
