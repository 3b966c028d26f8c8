"""Small ONNX models, made with onnx's own helpers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

Sizes = Sequence[int | str | None]


def weights(name: str, *dims: int) -> Any:
    """A constant with sizes and no data: nobody looks at it."""
    return TensorProto(name=name, dims=dims, data_type=TensorProto.FLOAT)


def numbers(name: str, values: Sequence[int]) -> Any:
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def floats(name: str, sizes: Sizes | None) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)


def save(
    file: Path,
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    output: str,
    constants: Sequence[Any] = (),
    *,
    opset: int = 17,
    functions: Sequence[Any] = (),
    domains: Sequence[str] = (),
) -> str:
    """Write a model to a file and return its path."""
    graph = helper.make_graph(nodes, "g", inputs, [floats(output, None)], constants)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    model = helper.make_model(graph, opset_imports=opsets, functions=functions)
    file.write_bytes(model.SerializeToString())
    return str(file)


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node whose inputs and outputs are separated by spaces ('-' is an input that is not there)."""
    given = ["" if value == "-" else value for value in inputs.split()]
    return helper.make_node(operator, given, outputs.split(), **attributes)


def transformer_block(file: Path, sizes: Sizes, width: int, heads: int) -> str:
    """One block as PyTorch exports it: sizes computed by Shape, weights that are only numbered, names on the nodes."""
    each = width // heads
    numbered = {
        which: f"onnx::MatMul_{300 + at}" for at, which in enumerate(("query", "key", "value", "output", "up", "down"))
    }
    nodes = [
        node("Shape", "x", "size"),
        node("Gather", "size zero", "samples"),
        node("Gather", "size one", "positions"),
        node("Unsqueeze", "samples axis", "samples1"),
        node("Unsqueeze", "positions axis", "positions1"),
        node("Concat", "samples1 positions1 heads each", "split", axis=0),
        node("Concat", "samples1 positions1 width", "whole", axis=0),
    ]
    for which, transposed in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        nodes += [
            node("MatMul", f"x {numbered[which]}", f"{which}m", name=f"/block/attention/{which}/MatMul"),
            node("Add", f"bias {which}m", f"{which}b"),
            node("Reshape", f"{which}b split", f"{which}r"),
            node("Transpose", f"{which}r", f"{which}t", perm=transposed),
        ]
    nodes += [
        node("MatMul", "queryt keyt", "scores"),
        node("Div", "scores scale", "scaled"),
        node("Softmax", "scaled", "probabilities", axis=-1),
        node("MatMul", "probabilities valuet", "mixed"),
        node("Transpose", "mixed", "mixedt", perm=[0, 2, 1, 3]),
        node("Reshape", "mixedt whole", "merged"),
        node("MatMul", f"merged {numbered['output']}", "projected", name="/block/output/MatMul"),
        node("Add", "projected x", "summed"),
        node("LayerNormalization", "summed bias bias", "normal"),
        node("MatMul", f"normal {numbered['up']}", "up", name="/block/up/MatMul"),
        node("Erf", "up", "erf"),
        node("Mul", "up erf", "gelu"),
        node("MatMul", f"gelu {numbered['down']}", "down", name="/block/down/MatMul"),
        node("Add", "down normal", "y"),
    ]
    constants = [
        *(numbers(name, [value]) for name, value in (("axis", 0), ("heads", heads), ("each", each), ("width", width))),
        *(helper.make_tensor(name, TensorProto.INT64, [], [value]) for name, value in (("zero", 0), ("one", 1))),
        *(weights(numbered[which], width, width) for which in ("query", "key", "value", "output")),
        weights(numbered["up"], width, 4 * width),
        weights(numbered["down"], 4 * width, width),
        weights("bias", width),
        helper.make_tensor("scale", TensorProto.FLOAT, [], [8.0]),
    ]
    return save(file, nodes, [floats("x", sizes)], "y", constants)


LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
"""The light models of the onnx package itself: real graphs, weights replaced by constants of their sizes."""
