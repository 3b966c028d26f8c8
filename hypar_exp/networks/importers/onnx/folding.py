"""Sizes that a model computes: small constants and the shapes of values, worked out by ONNX's own reference operators.

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

ARITHMETIC = frozenset(
    (
        *("Abs", "Add", "And", "ArgMax", "ArgMin", "Cast", "CastLike", "Ceil", "Clip", "Compress", "Concat"),
        *("ConstantOfShape", "CumSum", "Div", "Equal", "Expand", "Flatten", "Floor", "Gather", "GatherElements"),
        *(
            "GatherND",
            "Greater",
            "GreaterOrEqual",
            "Identity",
            "Less",
            "LessOrEqual",
            "Max",
            "Mean",
            "Min",
            "Mod",
            "Mul",
        ),
        *("Neg", "NonZero", "Not", "Or", "Pow", "Range", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"),
        *("ReduceSum", "Reshape", "Round", "ScatterElements", "ScatterND", "Sign", "Slice", "Split", "Sqrt", "Squeeze"),
        *("Sub", "Sum", "Tile", "TopK", "Transpose", "Trilu", "Unique", "Unsqueeze", "Where", "Xor"),
    )
)
"""The operators of the standard that exporters compute sizes with."""


def fold(proto: Any, dims: Mapping[str, tuple[int, ...]]) -> bool:
    """Replace nodes whose numbers can be worked out by constants, in place; False where there are none.

    Args:
        proto: the ModelProto.
        dims: value -> its sizes, as far as they are known.
    """
    from onnx import numpy_helper

    graph = proto.graph
    known = _constants(graph)
    folded = []
    for node in graph.node:
        if node.op_type == "Constant" or not node.output:
            continue
        values = _evaluate(node, proto.opset_import, known, dims)
        if values is not None and all(value.size <= MOST_NUMBERS for value in values):
            known |= {name: value for name, value in zip(node.output, values, strict=False) if name}
            folded.append(node)
    for node in folded:
        graph.initializer.extend(numpy_helper.from_array(known[name], name) for name in node.output if name)
        graph.node.remove(node)
    return bool(_take_branches(graph, known)) or bool(folded)


def _constants(graph: Any) -> dict[str, Numbers]:
    """The small constants of a graph that hold numbers."""
    from onnx import numpy_helper

    tensors = {tensor.name: tensor for tensor in graph.initializer}
    known: dict[str, Numbers] = {}
    for node in graph.node:
        for attribute in node.attribute if node.op_type == "Constant" and node.output else ():
            if attribute.name == "value":
                tensors[node.output[0]] = attribute.t
            elif attribute.name in _NUMBERS_OF_CONSTANTS:
                known[node.output[0]] = _NUMBERS_OF_CONSTANTS[attribute.name](attribute)
    for name, tensor in tensors.items():
        if math.prod(tensor.dims) <= MOST_NUMBERS and min(tensor.dims, default=0) >= 0 and not tensor.data_location:
            try:
                value = numpy_helper.to_array(tensor)
            except (ValueError, TypeError, KeyError, RuntimeError):
                continue  # a damaged constant is none
            if value.dtype.kind in "iufb":
                known[name] = value
    return known


_NUMBERS_OF_CONSTANTS: Mapping[str, Callable[[Any], Numbers]] = {
    "value_int": lambda attribute: np.array(attribute.i, dtype=np.int64),
    "value_ints": lambda attribute: np.array(attribute.ints, dtype=np.int64),
    "value_float": lambda attribute: np.array(attribute.f, dtype=np.float32),
    "value_floats": lambda attribute: np.array(attribute.floats, dtype=np.float32),
}


def _evaluate(
    node: Any, opsets: Any, known: Mapping[str, Numbers], dims: Mapping[str, tuple[int, ...]]
) -> Sequence[Numbers] | None:
    """What a node writes, None where that depends on data or is not worked out here."""
    if node.domain not in ("", "ai.onnx"):
        return None
    if node.op_type in ("Shape", "Size"):
        return _sizes(node, dims)
    if node.op_type not in ARITHMETIC or not node.input or any(name and name not in known for name in node.input):
        return None
    given = {name: known[name] for name in node.input if name}
    try:
        _require_few(node, [known[name] for name in node.input if name])
        with np.errstate(all="ignore"):
            return [np.asarray(value) for value in _reference(node, opsets).run(None, given)]
    except Exception:  # damaged, or of a form that the reference does not take, which it says in many ways
        return None


def _sizes(node: Any, dims: Mapping[str, tuple[int, ...]]) -> Sequence[Numbers] | None:
    sizes = dims.get(node.input[0]) if node.input else None
    if sizes is None:
        return None
    if node.op_type == "Size":
        return [np.array(math.prod(sizes), dtype=np.int64)]
    places = {attribute.name: attribute.i for attribute in node.attribute}
    return [np.array(sizes[places.get("start", 0) : places.get("end")], dtype=np.int64)]


def _reference(node: Any, opsets: Any) -> Any:
    """ONNX's own implementation of one node."""
    from onnx import TypeProto, helper
    from onnx.reference import ReferenceEvaluator

    inputs = [helper.make_value_info(name, TypeProto()) for name in dict.fromkeys(node.input) if name]
    outputs = [helper.make_value_info(name, TypeProto()) for name in node.output if name]
    model = helper.make_model(helper.make_graph([node], "one", inputs, outputs), opset_imports=list(opsets))
    return ReferenceEvaluator(model)


def _require_few(node: Any, values: Sequence[Numbers]) -> None:
    """Raise ValueError before a node makes more numbers than a shape has."""
    lengths: Mapping[str, Callable[[], float]] = {
        "ConstantOfShape": lambda: math.prod(values[0].tolist()),
        "Expand": lambda: math.prod(np.broadcast_shapes(values[0].shape, tuple(values[1].tolist()))),
        "Tile": lambda: values[0].size * math.prod(values[1].tolist()),
        "Range": lambda: (float(values[1]) - float(values[0])) / float(values[2]),
        "Concat": lambda: sum(value.size for value in values),
    }
    if node.op_type in lengths and lengths[node.op_type]() > MOST_NUMBERS:
        raise ValueError


def _take_branches(graph: Any, known: Mapping[str, Numbers]) -> int:
    """Put the nodes of the branch that is taken in the place of each If on a constant; how many there were."""
    taken = 0
    for node in [node for node in graph.node if node.op_type == "If" and node.input and node.input[0] in known]:
        wanted = "then_branch" if known[node.input[0]].any() else "else_branch"
        branch = next((attribute.g for attribute in node.attribute if attribute.name == wanted), None)
        if branch is None or len(branch.output) != len(node.output):
            continue
        taken += 1
        place = list(graph.node).index(node)
        graph.node.remove(node)
        for number, inner in enumerate(branch.node):
            graph.node.insert(place + number, inner)
        graph.initializer.extend(branch.initializer)
        graph.value_info.extend(branch.value_info)
        for number, (inside, outside) in enumerate(zip(branch.output, node.output, strict=True)):
            passed = type(node)(op_type="Identity", input=[inside.name], output=[outside])
            graph.node.insert(place + len(branch.node) + number, passed)
    return taken
