"""Operators of others as those of the standard that they work like, before shapes are inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypar_exp.errors import UserError, did_you_mean

WEIGHTLESS = "weightless"
MICROSOFT = "com.microsoft"
BLOCKED = "com.microsoft.nchwc"
"""Convolutions and pooling of images whose channels lie in blocks; their sizes are those of the standard's."""
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
    for node in list(graph.node):
        like = mapped.get(node.op_type)
        if like is not None and like != WEIGHTLESS:
            _rename(node, like, _in_order(node.input, stored, like))
        elif node.domain == BLOCKED:
            _rename(node, "Identity" if node.op_type.startswith("Reorder") else node.op_type, node.input)
            _keep_attributes(node, () if node.op_type == "Identity" else STANDARD_OF_BLOCKED)
        elif node.domain == MICROSOFT:
            if node.op_type in PACKED:
                PACKED[node.op_type](graph, node)
            elif node.op_type in EQUIVALENT:
                _rename(node, EQUIVALENT[node.op_type], node.input)
            elif node.op_type == "QLinearConcat":  # scale and zero of what is written, then of each that is read
                _rename(node, "Concat", node.input[2::3])
            elif node.op_type == "FusedMatMul" and not any(
                attribute.i for attribute in node.attribute if attribute.name in TRANSPOSITIONS
            ):
                _rename(node, "MatMul", node.input)


def _multiply_packed(graph: Any, node: Any) -> None:
    """MatMulNBits: the matrix [K, N] is packed, some bits a number."""
    sizes = {attribute.name: attribute.i for attribute in node.attribute}
    if sizes.get("K", 0) < 1 or sizes.get("N", 0) < 1:
        raise UserError(f"node '{node.name}' (MatMulNBits): it needs the sizes K and N of its matrix")
    _rename(node, "MatMul", [node.input[0], _unpacked(graph, node.input[1], [sizes["K"], sizes["N"]])])
    _keep_attributes(node, ())


def _multiply_quantised(graph: Any, node: Any) -> None:
    """QGemm: each operand is followed by its scale and its zero."""
    del graph
    _rename(node, "Gemm", [node.input[0], node.input[3]])
    _keep_attributes(node, ("transA", "transB"))


def _recur_quantised(graph: Any, node: Any) -> None:
    """DynamicQuantizeLSTM: weights lie as [directions, features, gates]."""
    stored = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    turned = []
    for name in node.input[1:3]:
        sizes = stored.get(name, [])
        if len(sizes) != 3:
            raise UserError(
                f"node '{node.name}' (DynamicQuantizeLSTM): its weights must be [directions, features, gates]"
            )
        turned.append(_unpacked(graph, name, [sizes[0], sizes[2], sizes[1]]))
    _rename(node, "LSTM", [node.input[0], *turned])
    _keep_attributes(node, ("hidden_size", "direction", "input_forget"))


def _embed(graph: Any, node: Any) -> None:
    """EmbedLayerNormalization: rows of up to three tables, for words, places and segments, are added up."""
    ids, segments, words, places, kinds = (*node.input[:5], "", "", "")[:5]
    tables = [(words, ids), (places, ids), (kinds, segments or ids)]
    read = [(table, numbers) for table, numbers in tables if table and numbers]
    where = list(graph.node).index(node)
    graph.node.remove(node)
    found = [f"{node.output[0]}.rows{number}" for number in range(len(read))]
    made = [
        type(node)(op_type="Gather", name=table, input=[table, numbers], output=[rows])
        for (table, numbers), rows in zip(read, found, strict=True)
    ]
    made.append(type(node)(op_type="Sum", input=found, output=[node.output[0]]))
    made += [type(node)(op_type="Identity", input=[ids], output=[mask]) for mask in node.output[1:2] if mask]
    made += [
        type(node)(op_type="Identity", input=[node.output[0]], output=[total]) for total in node.output[2:3] if total
    ]
    for number, inner in enumerate(made):
        graph.node.insert(where + number, inner)


PACKED = {
    "MatMulNBits": _multiply_packed,
    "QGemm": _multiply_quantised,
    "DynamicQuantizeLSTM": _recur_quantised,
    "EmbedLayerNormalization": _embed,
}
"""Operators of com.microsoft whose weights lie otherwise, and what puts the standard's in their place."""
STANDARD_OF_BLOCKED = (
    *("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides", "ceil_mode", "count_include_pad"),
)


def _unpacked(graph: Any, name: str, sizes: Sequence[int]) -> str:
    """The name of a constant of some sizes, without data, in the place of a packed one."""
    fresh = f"{name}_unpacked"
    if all(tensor.name != fresh for tensor in graph.initializer):
        graph.initializer.add(name=fresh, dims=sizes, data_type=1, data_location=1)
    return fresh


def _keep_attributes(node: Any, names: Sequence[str]) -> None:
    for attribute in [attribute for attribute in node.attribute if attribute.name not in names]:
        node.attribute.remove(attribute)


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
