"""Sizes that a model computes: small constants and the shapes of values, through the operators that exporters use.

Shape inference follows some of these computations and loses others (a Cast, a Reshape, a Pad). What can be worked out
here is put into the graph as a constant, so that inference can go on from it. Only arithmetic on a few numbers is done,
never anything with weights or data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_NUMBERS = 1024
"""What has more is no shape."""
Numbers = NDArray[Any]


def fold(graph: Any, dims: Mapping[str, tuple[int, ...]]) -> bool:
    """Replace nodes whose numbers can be worked out by constants, in place; False where there are none.

    Args:
        graph: the GraphProto.
        dims: value -> its sizes, as far as they are known.
    """
    from onnx import numpy_helper

    known = _constants(graph)
    folded = []
    for node in graph.node:
        if len(node.output) != 1 or node.op_type == "Constant":
            continue
        value = _evaluate(node, known, dims)
        if value is not None and value.size <= MOST_NUMBERS:
            known[node.output[0]] = value
            folded.append(node)
    for node in folded:
        graph.initializer.append(numpy_helper.from_array(known[node.output[0]], node.output[0]))
        graph.node.remove(node)
    return bool(folded)


def _constants(graph: Any) -> dict[str, Numbers]:
    """The small constants of a graph that hold numbers."""
    from onnx import numpy_helper

    tensors = {tensor.name: tensor for tensor in graph.initializer}
    known: dict[str, Numbers] = {}
    for node in graph.node:
        for attribute in node.attribute if node.op_type == "Constant" and node.output else ():
            if attribute.name == "value":
                tensors[node.output[0]] = attribute.t
            elif attribute.name in ("value_int", "value_ints"):
                given = attribute.i if attribute.name == "value_int" else list(attribute.ints)
                known[node.output[0]] = np.array(given, dtype=np.int64)
    for name, tensor in tensors.items():
        if math.prod(tensor.dims) <= MOST_NUMBERS and min(tensor.dims, default=0) >= 0 and not tensor.data_location:
            try:
                value = numpy_helper.to_array(tensor)
            except (ValueError, TypeError, KeyError, RuntimeError):
                continue  # a damaged constant is none
            if value.dtype.kind in "iufb":
                known[name] = value
    return known


def _evaluate(node: Any, known: Mapping[str, Numbers], dims: Mapping[str, tuple[int, ...]]) -> Numbers | None:
    """What a node writes, None where that depends on data or is not worked out here."""
    attributes = {
        attribute.name: list(attribute.ints) if attribute.ints else attribute.i for attribute in node.attribute
    }
    if node.op_type in ("Shape", "Size"):
        sizes = dims.get(node.input[0]) if node.input else None
        if sizes is None or attributes:
            return None
        return np.array(sizes if node.op_type == "Shape" else math.prod(sizes), dtype=np.int64)
    rule = RULES.get(node.op_type)
    if rule is None or not node.input or any(name and name not in known for name in node.input):
        return None
    if node.op_type == "ConstantOfShape":  # what it is filled with is of no interest where it is no number
        attributes["value"] = next((attribute.t for attribute in node.attribute), None)
    try:
        with np.errstate(all="ignore"):
            return np.asarray(rule(attributes, *[known[name] if name else None for name in node.input]))
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError):
        return None  # damaged, or of a form that is not known here


def _filled(attributes: Mapping[str, Any], shape: Numbers) -> Numbers:
    from onnx import numpy_helper

    _require_few(shape)
    fill = numpy_helper.to_array(attributes["value"]).reshape(()) if attributes["value"] else np.float32(0)
    return np.full(tuple(shape.tolist()), fill)


def _slice(
    attributes: Mapping[str, Any],
    data: Numbers,
    starts: Numbers | None = None,
    ends: Numbers | None = None,
    axes: Numbers | None = None,
    steps: Numbers | None = None,
) -> Numbers:
    """Before opset 10 the places are attributes, since then inputs."""
    first = _ints(attributes.get("starts") if starts is None else starts)
    past = _ints(attributes.get("ends") if ends is None else ends)
    along = _ints(attributes.get("axes") if axes is None else axes) or list(range(len(first)))
    stride = _ints(steps) or [1] * len(first)
    index = [slice(None)] * data.ndim
    for axis, start, end, step in zip(along, first, past, stride, strict=True):
        index[axis] = slice(start, None if step < 0 and end < -data.shape[axis] else end, step)
    return data[tuple(index)]


def _squeeze(attributes: Mapping[str, Any], data: Numbers, axes: Numbers | None = None) -> Numbers:
    along = _ints(attributes.get("axes") if axes is None else axes)
    return np.squeeze(data, axis=tuple(along) if along else None)


def _unsqueeze(attributes: Mapping[str, Any], data: Numbers, axes: Numbers | None = None) -> Numbers:
    return np.expand_dims(data, tuple(_ints(attributes["axes"] if axes is None else axes)))


def _reshape(attributes: Mapping[str, Any], data: Numbers, shape: Numbers) -> Numbers:
    return data.reshape([data.shape[at] if size == 0 else size for at, size in enumerate(_ints(shape))])


def _divide(attributes: Mapping[str, Any], left: Numbers, right: Numbers) -> Numbers:
    """Whole numbers are cut off towards zero."""
    quotient = left / right
    return np.trunc(quotient).astype(left.dtype) if left.dtype.kind in "iu" else quotient.astype(left.dtype)


def _range(attributes: Mapping[str, Any], start: Numbers, limit: Numbers, delta: Numbers) -> Numbers:
    if abs((float(limit) - float(start)) / float(delta)) > MOST_NUMBERS:
        raise ValueError
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def _expand(attributes: Mapping[str, Any], data: Numbers, shape: Numbers) -> Numbers:
    wanted = np.broadcast_shapes(data.shape, tuple(_ints(shape)))
    _require_few(np.array(wanted))
    return np.broadcast_to(data, wanted)


def _cast(attributes: Mapping[str, Any], data: Numbers) -> Numbers:
    from onnx import helper

    return data.astype(helper.tensor_dtype_to_np_dtype(attributes["to"]))


def _require_few(shape: Numbers) -> None:
    if math.prod(shape.tolist()) > MOST_NUMBERS or (shape < 0).any():
        raise ValueError


def _ints(values: int | Sequence[int] | Numbers | None) -> list[int]:
    return [] if values is None else [int(value) for value in np.atleast_1d(np.asarray(values)).tolist()]


RULES: dict[str, Callable[..., Any]] = {
    "Add": lambda attributes, left, right: left + right,
    "Cast": _cast,
    "Ceil": lambda attributes, data: np.ceil(data),
    "Concat": lambda attributes, *parts: np.concatenate(parts, axis=attributes.get("axis", 0)),
    "ConstantOfShape": _filled,
    "Div": _divide,
    "Equal": lambda attributes, left, right: left == right,
    "Expand": _expand,
    "Floor": lambda attributes, data: np.floor(data),
    "Gather": lambda attributes, data, at: np.take(data, at, axis=attributes.get("axis", 0)),
    "Identity": lambda attributes, data: data,
    "Max": lambda attributes, *values: np.max(np.broadcast_arrays(*values), axis=0),
    "Min": lambda attributes, *values: np.min(np.broadcast_arrays(*values), axis=0),
    "Mul": lambda attributes, left, right: left * right,
    "Neg": lambda attributes, data: -data,
    "Range": _range,
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Sub": lambda attributes, left, right: left - right,
    "Transpose": lambda attributes, data: np.transpose(data, attributes.get("perm") or None),
    "Unsqueeze": _unsqueeze,
    "Where": lambda attributes, condition, yes, no: np.where(condition, yes, no),
}
"""Operator -> what it makes of its attributes and inputs."""
