"""An ONNX file as plain data: its nodes in order, its constants, and the sizes of its values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypar_exp.errors import UserError
from hypar_exp.networks.importers.onnx.file import MOST_ELEMENTS, infer_shapes, known_sizes, parse_file, set_input_sizes
from hypar_exp.networks.importers.onnx.rewriting import rewrite

LAYER_OPERATORS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Einsum")
SHAPE_OPERATORS = ("Shape", "Size")
RANDOM_OPERATORS = (
    "RandomNormal",
    "RandomUniform",
    "RandomNormalLike",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
)
PASSING_OPERATORS = frozenset(
    ("Cast", "DequantizeLinear", "Identity", "QuantizeLinear", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
)
"""Operators whose result is their first input in another form: it keeps its name."""
Dims = tuple[int, ...]


WEIGHT_PLACES = {
    "Conv": (1, 2), "ConvTranspose": (1, 2), "MatMul": (1,), "Gemm": (1, 2), "Gather": (0,),
    "LSTM": (1, 2, 3), "GRU": (1, 2, 3), "RNN": (1, 2, 3),
}  # fmt: skip
"""Operator -> the places of its inputs where weights stand."""


@dataclass(frozen=True)
class Node:
    """One operator."""

    name: str
    operator: str
    domain: str
    inputs: tuple[str, ...]
    """Names of values; '' for an optional input that is not there. Last, what the graphs inside it read of outside."""
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    """Numbers, texts and lists of them; other kinds are left out."""
    inner_layers: bool
    """Whether a graph inside the node (of If, Loop or Scan) has layers with weights."""

    def error(self, sentence: str) -> UserError:
        """The error that this node causes."""
        return UserError(f"node '{self.name or ', '.join(self.outputs)}' ({self.operator}): {sentence}")

    def integer(self, attribute: str, default: int) -> int:
        value = self.attributes.get(attribute, default)
        if not isinstance(value, int):
            raise self.error(f"its attribute {attribute} must be a whole number (got {value!r})")
        return value


@dataclass(frozen=True)
class Model:
    """A file's graph; every size includes the `batch` samples that the inputs hold."""

    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dims: Mapping[str, Dims]
    """Value -> its sizes, where they are known."""
    constants: Mapping[str, str]
    """Values that do not depend on what the network reads, weights and all that is computed of weights and shapes,
    each with the stored constant that it came from."""
    batch: int
    note: str | None = None
    """What was taken for the batch, where that was not the first axis of the first input."""

    def elements(self, value: str) -> int | None:
        """Elements of one sample (a fraction rounded up); None where the sizes are not known."""
        dims = self.dims.get(value)
        return None if dims is None else -(-math.prod(dims) // self.batch)


def read_model(
    path: str, batch: int | None, shapes: Mapping[str, int | Sequence[int]], mapped: Mapping[str, str]
) -> Model:
    """The plain data of an ONNX file; raises as `hypar_exp.networks.importers.onnx.load` does."""
    proto = parse_file(path)
    rewrite(proto.graph, mapped)
    samples = set_input_sizes(proto, path, batch, shapes)
    proto = infer_shapes(proto, path)
    graph = proto.graph
    dims = known_sizes(graph)
    stored = [tensor.name for tensor in graph.initializer] + [tensor.values.name for tensor in graph.sparse_initializer]
    for constant in stored:
        if min(dims[constant], default=1) < 0 or math.prod(dims[constant]) > MOST_ELEMENTS:
            raise UserError(f"{path}: the constant '{constant}' has the sizes {list(dims[constant])}")
    nodes = tuple(_node(node) for node in graph.node)
    weights = _weights_among_inputs(graph, nodes, stored, dims)
    constants = [*stored, *weights]
    samples, note = _checked_batch(path, nodes, dims, batch, samples)
    return Model(
        nodes=nodes,
        inputs=tuple(value.name for value in graph.input if value.name not in constants),
        outputs=tuple(value.name for value in graph.output),
        dims=dims,
        constants=_constants(nodes, constants),
        batch=samples,
        note=note,
    )


def _weights_among_inputs(
    graph: Any, nodes: Sequence[Node], stored: Sequence[str], dims: Mapping[str, Dims]
) -> list[str]:
    """The inputs that are weights without a stored value: matrices and kernels that only stand where weights do."""
    given = [value.name for value in graph.input if value.name not in stored]
    uses: dict[str, list[bool]] = {}
    for node in nodes:
        for place, value in enumerate(node.inputs):
            uses.setdefault(value, []).append(place in WEIGHT_PLACES.get(node.operator, ()))
    return [name for name in given[1:] if name in uses and all(uses[name]) and len(dims.get(name, ())) >= 2]


def _checked_batch(
    path: str, nodes: Sequence[Node], dims: Mapping[str, Dims], given: int | None, samples: int
) -> tuple[int, str | None]:
    """The samples that the inputs hold as convolutions and recurrent layers say it, and a note where that differs.

    Raises:
        UserError: the user's own number does not divide them.
    """
    for node in nodes:
        axis = _batch_axis(node)
        sizes = dims.get(node.inputs[0], ()) if axis is not None and node.inputs else ()
        if axis is None or len(sizes) <= axis or not sizes[axis] or not sizes[axis] % samples:
            continue
        seen = sizes[axis]
        if given is not None:
            raise node.error(f"it reads {seen} samples, of which network.batch={given} is no divisor")
        count = "one sample" if seen == 1 else f"{seen} samples"
        return seen, f"{path} is read as {count}, as its {node.operator} has it; network.batch=N would say otherwise"
    return samples, None


def _batch_axis(node: Node) -> int | None:
    if node.operator in ("LSTM", "GRU", "RNN"):
        return 0 if node.attributes.get("layout") else 1
    return 0 if node.operator in ("Conv", "ConvTranspose", "ConvInteger", "QLinearConv") else None


def _node(proto: Any) -> Node:
    import onnx

    kinds = onnx.AttributeProto
    simple = {kinds.INT: "i", kinds.FLOAT: "f", kinds.STRING: "s", kinds.INTS: "ints", kinds.FLOATS: "floats"}
    attributes: dict[str, Any] = {}
    for attribute in proto.attribute:
        if attribute.type in simple:
            value = getattr(attribute, simple[attribute.type])
            plain = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            attributes[attribute.name] = plain if isinstance(plain, int | float | str) else list(plain)
    graphs = [attribute.g for attribute in proto.attribute if attribute.type == kinds.GRAPH]
    return Node(
        name=proto.name,
        operator=proto.op_type,
        domain=proto.domain,
        inputs=(*proto.input, *(value for graph in graphs for value in _read_from_outside(graph))),
        outputs=tuple(proto.output),
        attributes=attributes,
        inner_layers=any(_has_layers(graph) for graph in graphs),
    )


def _has_layers(graph: Any) -> bool:
    inner = _inner_graphs(graph)
    return any(node.op_type in LAYER_OPERATORS for node in graph.node) or any(_has_layers(graph) for graph in inner)


def _read_from_outside(graph: Any) -> list[str]:
    """The values that a graph inside a node reads, and neither makes nor holds."""
    read = [value for node in graph.node for value in node.input] + [value.name for value in graph.output]
    read += [value for inner in _inner_graphs(graph) for value in _read_from_outside(inner)]
    own = {value for node in graph.node for value in node.output}
    own |= {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    return [value for value in dict.fromkeys(read) if value and value not in own]


def _inner_graphs(graph: Any) -> list[Any]:
    return [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]


def _constants(nodes: Sequence[Node], stored: Sequence[str]) -> dict[str, str]:
    constants = {value: value for value in stored}
    for node in nodes:
        given = [value for value in node.inputs if value]
        depends = any(value not in constants for value in given)
        if node.operator in SHAPE_OPERATORS or not (depends or node.operator in RANDOM_OPERATORS):
            for value in node.outputs:
                passed_on = node.operator in PASSING_OPERATORS and given
                constants[value] = constants.get(given[0], value) if passed_on else value
    constants.pop("", None)
    return constants
