"""Reading an ONNX file with the onnx package: parse, give every input its sizes, infer all others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.extras import install_command
from hypar_exp.networks.importers.onnx.folding import fold
from hypar_exp.networks.importers.onnx.rewriting import fused_product_sizes
from hypar_exp.networks.importers.onnx.skeleton import read_skeleton

MOST_SIZE = 2**31 - 1
MOST_ROUNDS = 1000
"""Of inference and folding; each makes at least one more value known."""
MOST_NODES = 200_000
"""Of a graph with every call of a function written out."""
MOST_ELEMENTS = 2**53
"""More than any tensor has; a file that says otherwise is damaged."""


def parse_file(path: str) -> Any:
    """The ModelProto in a file, with its functions inlined and without its large constants' data.

    Raises:
        UserError: no onnx package, or a file that cannot be read or is no ONNX model.
    """
    try:
        import onnx
        from google.protobuf.message import DecodeError
        from onnx.inliner import inline_local_functions
    except ImportError:
        raise UserError(f"reading ONNX files needs the onnx package: {install_command('onnx')}") from None
    file = Path(path)
    try:
        proto = onnx.load_model_from_string(read_skeleton(file))
    except OSError as error:
        raise UserError(f"the ONNX file {path} cannot be read: {error.strerror}") from None
    except (DecodeError, ValueError, TypeError):
        raise UserError(f"{path} is not an ONNX model, or is cut off") from None
    if not all(isinstance(text, str) for text in _texts(proto.graph)):
        raise UserError(f"{path} is not an ONNX model: it has names that are not text")
    if not proto.graph.node:
        raise UserError(f"{path} is not an ONNX model, or an empty one: it has no nodes")
    if proto.functions:
        nodes = _inlined_nodes(proto)
        if nodes > MOST_NODES:
            raise UserError(f"{path}: with its functions written out it has more than {MOST_NODES:,} nodes")
        try:
            proto = inline_local_functions(proto)
        except Exception as error:
            raise UserError(f"{path}: its functions cannot be resolved: {_one_line(error)}") from None
    _import_domains(proto)
    return proto


def set_input_sizes(proto: Any, path: str, batch: int | None, shapes: Mapping[str, int | Sequence[int]]) -> int:
    """Give every axis of every input its size; returns how many samples the inputs hold.

    Raises:
        UserError: an axis that has none, or sizes for what is not there.
    """
    if batch is not None:
        require_whole("network", "batch", batch, least=1)
    shapes = {str(key).replace(r"\:", ":"): sizes for key, sizes in shapes.items()}
    stored = {tensor.name for tensor in proto.graph.initializer}
    inputs = [value for value in proto.graph.input if value.name not in stored]
    axis_names = {axis.dim_param for value in inputs for axis in value.type.tensor_type.shape.dim if axis.dim_param}
    known = axis_names | {value.name for value in inputs}
    for key in shapes:
        if key not in known:
            raise UserError(
                f"network.shapes: {path} has no input and no dynamic axis '{key}'{did_you_mean(key, known)}"
            )
    samples, batch_axis = batch, ""
    for value in inputs:
        tensor = value.type.tensor_type
        if value.name in shapes:
            given = shapes[value.name]
            sizes = [given] if isinstance(given, int) else list(given)
            del tensor.shape.dim[:]
            tensor.shape.dim.extend([type(tensor.shape).Dimension(dim_value=_size(value.name, size)) for size in sizes])
        elif value.type.HasField("tensor_type") and not tensor.HasField("shape"):
            raise UserError(f"the input '{value.name}' of {path} has no shape; give it as network.shapes.{value.name}")
        for number, axis in enumerate(tensor.shape.dim):
            if axis.HasField("dim_value") and axis.dim_value >= 0:
                continue
            if axis.dim_param in shapes:
                axis.dim_value = _size(axis.dim_param, shapes[axis.dim_param])
            elif number == 0 or (axis.dim_param and axis.dim_param == batch_axis):
                batch_axis = batch_axis or axis.dim_param
                axis.dim_value = samples or 1
        missing = [number for number, axis in enumerate(tensor.shape.dim) if not axis.HasField("dim_value")]
        missing += [number for number, axis in enumerate(tensor.shape.dim) if axis.dim_value < 0]
        if missing:
            raise UserError(
                f"axis {missing[0]} of the input '{value.name}' of {path} is dynamic; give its size, as in "
                f"network.shapes={{{_example(value.name, tensor.shape.dim, missing)}}}"
            )
        if samples is None and tensor.shape.dim:
            samples = max(1, tensor.shape.dim[0].dim_value)
    return samples or 1


def _example(name: str, axes: Sequence[Any], missing: Sequence[int]) -> str:
    """Sizes as they could be given: of the axes that lack one if these have names, else of the whole input."""
    named = [axes[number].dim_param for number in missing]
    if all(name.isidentifier() for name in named):
        return ", ".join(f"{name}: N" for name in dict.fromkeys(named))
    sizes = ["N" if number in missing else str(axis.dim_value) for number, axis in enumerate(axes)]
    escaped = name.replace(":", r"\:")  # as a key on Hydra's command line has to be
    return f"{escaped}: [{', '.join(sizes)}]"


def infer_shapes(proto: Any, path: str) -> Any:
    """The model with the sizes of its values as onnx infers them.

    What an operator that onnx does not know writes is taken to be as large as what it reads.

    Raises:
        UserError: onnx refuses the model.
    """
    import onnx

    for _ in range(MOST_ROUNDS):
        _forget_symbols(proto.graph)
        try:
            proto = onnx.shape_inference.infer_shapes(proto)  # without its own propagation of data, which has no bounds
        except Exception as error:
            raise UserError(f"{path}: onnx cannot infer its shapes: {_one_line(error)}") from None
        known = known_sizes(proto.graph)
        lacking = any(value not in known for node in proto.graph.node for value in node.output if value)
        if not lacking or not (fold(proto, known) or _assume_sizes(proto.graph, known)):
            break
    return proto


def _forget_symbols(graph: Any) -> None:
    """Drop what an earlier inference only had a symbol for: it would not be looked at again."""
    unknown = [
        value
        for value in graph.value_info
        if any(not axis.HasField("dim_value") for axis in value.type.tensor_type.shape.dim)
    ]
    for value in unknown:
        graph.value_info.remove(value)
    for value in graph.output:
        if any(not axis.HasField("dim_value") for axis in value.type.tensor_type.shape.dim):
            value.type.tensor_type.ClearField("shape")


def known_sizes(graph: Any) -> dict[str, tuple[int, ...]]:
    """Value -> its sizes, where each of them is known and their product is no nonsense; constants' included."""
    sizes: dict[str, tuple[int, ...]] = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if value.type.HasField("tensor_type") and tensor.HasField("shape"):
            axes = [axis.dim_value if axis.HasField("dim_value") else -1 for axis in tensor.shape.dim]
            if min(axes, default=0) >= 0 and math.prod(axes) <= MOST_ELEMENTS:
                sizes[value.name] = tuple(axes)
    sizes |= {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    return sizes | {tensor.values.name: tuple(tensor.dims) for tensor in graph.sparse_initializer}


def knows(operator: str, domain: str) -> bool:
    """Whether the ONNX standard has the operator."""
    import onnx

    return bool(onnx.defs.has(operator, domain="" if domain == "ai.onnx" else domain))


def _assume_sizes(graph: Any, known: Mapping[str, tuple[int, ...]]) -> bool:
    """Give the outputs of unknown operators the sizes of their first inputs; False where there is nothing to do."""
    values = {value.name: value for value in (*graph.input, *graph.value_info, *graph.output)}
    added = False
    for node in graph.node:
        if knows(node.op_type, node.domain) or not node.input or not node.output or node.output[0] in known:
            continue
        fused = node.op_type == "FusedMatMul"
        sizes = fused_product_sizes(node, known) if fused else known.get(node.input[0])
        if sizes is None:
            continue
        value = values.get(node.output[0]) or graph.value_info.add(name=node.output[0])
        if node.input[0] in values:
            value.type.CopyFrom(values[node.input[0]].type)
        value.type.tensor_type.elem_type = value.type.tensor_type.elem_type or 1  # float, where nothing says
        shape = value.type.tensor_type.shape
        del shape.dim[:]
        shape.dim.extend([type(shape).Dimension(dim_value=size) for size in sizes])
        added = True
    return added


def _inlined_nodes(proto: Any) -> float:
    """How many nodes the graph has with every call of its functions written out; infinite where one calls itself."""
    functions = {(function.domain, function.name): function for function in proto.functions}
    counted: dict[tuple[str, str], float] = {}

    def count(nodes: Any, calls: frozenset[tuple[str, str]]) -> float:
        total = 0.0
        for node in nodes:
            total += 1 + sum(count(attribute.g.node, calls) for attribute in node.attribute if attribute.HasField("g"))
            key = node.domain, node.op_type
            if key in functions:
                if key in calls:
                    return math.inf
                if key not in counted:
                    counted[key] = count(functions[key].node, calls | {key})
                total += counted[key]
        return total

    return count(proto.graph.node, frozenset())


def _import_domains(proto: Any) -> None:
    """Declare the domains of all operators: shape inference refuses a model that forgot one."""
    import onnx

    standard = ("", "ai.onnx")
    declared = {"" if opset.domain in standard else opset.domain for opset in proto.opset_import}
    for domain in sorted({"" if node.domain in standard else node.domain for node in proto.graph.node} - declared):
        proto.opset_import.add(domain=domain, version=1 if domain else onnx.defs.onnx_opset_version())


def _texts(graph: Any) -> Iterator[Any]:
    """The names in a graph; protobuf hands out bytes where one is not UTF-8."""
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (axis.dim_param for axis in value.type.tensor_type.shape.dim)
    yield from (tensor.name for tensor in graph.initializer)


def _size(key: str, size: Any) -> int:
    require_whole("network.shapes", key, size, least=0, most=MOST_SIZE)
    return int(size)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
