"""PipeDream's profiles (github.com/msr-fiddle/pipedream, `profiler/*/profiles/*/graph.txt`; SOSP 2019).

    node2 -- Conv2d(3, 64, kernel_size=(7, 7), ...) -- ..., activation_size=822083584.000, parameter_size=37632.000
        node1 -- node2

A PyTorch module a line, with the bytes that it writes for the whole batch; then the edges between them, indented. Of
the profile only sizes are used: times are of the machine that it was made on.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.networks.graph import GraphBuilder, Tensor
from hypar_exp.networks.layers import Layer, Shape
from hypar_exp.networks.network import Network
from hypar_exp.text_files import Line, read_lines

FLOAT_BYTES = 4
_NODE = re.compile(r"(\S+) -- (\w+)(?:\((.*)\))? -- (.*)")
_EDGE = re.compile(r"(\S+) -- (\S+)")
_SIZE = re.compile(r"(activation_size|parameter_size)=\[?(\d{1,18}(?:\.\d*)?(?:;\d{1,18}(?:\.\d*)?)*)\]?(?:,|$)")
_CONV = re.compile(r"(\d{1,9}), (\d{1,9}), kernel_size=\(([\d, ]{1,40})\)")
_GROUPS = re.compile(r"groups=(\d{1,9})")
_EMBEDDING = re.compile(r"(\d{1,9}), (\d{1,9})")
_RECURRENT = re.compile(r"(\d{1,9}), (\d{1,9})(.*)")
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_LINEAR = re.compile(r"in_features=(\d{1,9}), out_features=(\d{1,9})")
_COUNTED = ("Size",)
"""Modules whose output is a number and no tensor."""


def load(path: str, name: str | None = None, batch: int | None = None) -> Network:
    """Load a network from a profile of PipeDream's.

    Args:
        path: the file.
        name: the network's name; the file's where it is None.
        batch: samples that were profiled at once; where it is None, what the first fully connected layer says.

    Raises:
        UserError: a file that cannot be read or does not have this form, a module with weights that is not known, or a
            graph with a cycle; the sentence names file and line.
    """
    if batch is not None:
        require_whole("network", "batch", batch, least=1)
    modules: dict[str, _Module] = {}
    reads: dict[str, list[str]] = {}
    for line in read_lines(path, "profile of PipeDream"):
        if node := _NODE.fullmatch(line.text):
            if line.name(node[1]) in modules:
                raise line.error(f"'{node[1]}' is there twice")
            modules[node[1]] = _module(line, node[2], node[3] or "", node[4])
            reads.setdefault(node[1], [])
        elif edge := _EDGE.fullmatch(line.text):
            if edge[1] not in modules or edge[2] not in modules:
                raise line.error(f"'{line.text[:60]}' names a node that is not there")
            reads[edge[2]].append(edge[1])
        else:
            raise line.error(f"a line is 'node -- Module(...) -- sizes' or 'node -- node' (got {line.text[:60]!r})")
    if not modules:
        raise UserError(f"{path} has no nodes; it should be a profile of PipeDream")
    try:
        order = list(TopologicalSorter({node: reads[node] for node in modules}).static_order())
    except CycleError:
        raise UserError(f"{path}: its nodes read each other in a circle") from None
    return _Profile(modules, reads, batch or _batch(path, modules)).network(name or Path(path).stem, order)


@dataclass(frozen=True)
class _Module:
    """One node of the profile."""

    line: Line
    kind: str
    arguments: str
    activation_bytes: int
    """Of what it writes; of several tensors the first."""
    parameter_bytes: int
    state_bytes: int = 0
    """Of the second, a recurrent layer's state."""


class _Profile:
    """The nodes and edges, and the graph that is made of them."""

    def __init__(self, modules: Mapping[str, _Module], reads: Mapping[str, list[str]], batch: int) -> None:
        self._modules, self._reads, self._batch = modules, reads, batch
        self._graph = GraphBuilder()
        self._tensors: dict[str, Tensor] = {}

    def network(self, name: str, order: list[str]) -> Network:
        for node in order:
            module = self._modules[node]
            if module.kind in _COUNTED:
                continue
            elements = max(1, module.activation_bytes // (FLOAT_BYTES * self._batch))
            sources = [source for source in self._reads[node] if self._modules[source].kind not in _COUNTED]
            tensors = [self._tensors[source] for source in sources]
            if module.kind in GATES:
                self._tensors[node] = self._recurrent(module, tensors, elements)
            elif module.kind in ("Conv2d", "Linear", "Embedding"):
                layer = self._layer(module, tensors, elements)
                self._tensors[node] = self._graph.layer(layer, tensors[0])
            else:
                self._tensors[node] = self._weightless(node, module, sources, elements)
        read = {source for node in self._tensors for source in self._reads[node]}
        outputs = [tensor for node, tensor in self._tensors.items() if node not in read]
        return self._graph.network(name, outputs=outputs)

    def _recurrent(self, module: _Module, tensors: list[Tensor], elements: int) -> Tensor:
        """Two layers: the matrix that reads the sequence, and the one that reads the state at every step."""
        arguments = _RECURRENT.match(module.arguments)
        if not tensors or arguments is None or not int(arguments[1]) or not int(arguments[2]):
            raise module.line.error(
                f"the sizes of this {module.kind} are not understood (got {module.arguments[:80]!r})"
            )
        features, state = int(arguments[1]), int(arguments[2])
        directions = 2 if "bidirectional=True" in arguments[3].replace(" ", "") else 1
        positions = max(1, elements // (directions * state))
        name, kind = f"{module.kind.lower()}{len(self._graph.layers) + 1}", module.kind.lower()
        gates = Shape(directions * GATES[module.kind] * state, positions)
        states = Shape(directions * state, positions)
        arriving = Layer(f"{name}.input", kind, Shape(features, positions), gates, features * gates.channels, positions)
        recurring = Layer(f"{name}.state", kind, states, states, state * gates.channels, positions)
        sums = self._graph.layer(arriving, tensors[0])
        written = self._graph.layer(recurring, Tensor(states.elements))
        self._graph.add([sums, dataclasses.replace(written, elements=sums.elements)])
        return written

    def _layer(self, module: _Module, tensors: list[Tensor], elements: int) -> Layer:
        number = len(self._graph.layers) + 1
        if len(tensors) != 1:
            raise module.line.error(f"a {module.kind} must read one node (it reads {len(tensors)})")
        if module.kind == "Linear" and (found := _LINEAR.search(module.arguments)):
            arriving, leaving = int(found[1]), int(found[2])
            positions = max(1, elements // max(1, leaving))
            kind = "fc" if positions == 1 else "matmul"
            shapes = Shape(arriving, positions), Shape(leaving, positions)
            return Layer(f"{kind}{number}", kind, *shapes, arriving * leaving, positions)
        if module.kind == "Embedding" and (found := _EMBEDDING.match(module.arguments)) and int(found[2]):
            rows, width = int(found[1]), int(found[2])
            ids = max(1, elements // width)
            return Layer(f"embedding{number}", "embedding", Shape(1, ids), Shape(width, ids), rows * width, 0)
        if module.kind == "Conv2d" and (found := _CONV.match(module.arguments)):
            arriving, leaving = int(found[1]), int(found[2])
            groups = int(group[1]) if (group := _GROUPS.search(module.arguments)) else 1
            taps = math.prod(int(size) for size in found[3].replace(",", " ").split())
            if arriving and leaving and groups and taps and elements % leaving == 0:
                read, written = _image(arriving, tensors[0].elements), _image(leaving, elements)
                weights = taps * (arriving // groups) * leaving
                return Layer(f"conv{number}", "conv", read, written, weights, written.positions)
        raise module.line.error(f"the sizes of this {module.kind} are not understood (got {module.arguments[:80]!r})")

    def _weightless(self, node: str, module: _Module, sources: list[str], elements: int) -> Tensor:
        tensors = [self._tensors[source] for source in sources]
        if module.parameter_bytes and "Norm" not in module.kind:
            raise module.line.error(
                f"the module {module.kind} has {module.parameter_bytes} bytes of weights and is not known; known are "
                "Conv2d, Linear, Embedding, LSTM, GRU, RNN and normalisation"
            )
        if not tensors:
            return Tensor(elements)
        if module.kind.lower().startswith(("concat", "cat")):
            return self._graph.concat(tensors).resized(elements)
        return self._graph.add(tensors).resized(elements)


def _module(line: Line, kind: str, arguments: str, sizes: str) -> _Module:
    told = {size[1]: size[2].split(";") for size in _SIZE.finditer(sizes.replace(" ", ""))}
    found = {key: [int(float(value)) for value in values] for key, values in told.items()}
    for key in ("activation_size", "parameter_size"):
        if key not in found:
            given = next((part for part in sizes.split(", ") if part.strip().startswith(key)), "none")
            raise line.error(f"a node needs {key}=BYTES, or {key}=[BYTES; BYTES] (got {given[:80]})")
    written, parameters = found["activation_size"], found["parameter_size"]
    return _Module(line, kind, arguments, written[0], parameters[0], written[1] if len(written) > 1 else 0)


def _batch(path: str, modules: Mapping[str, _Module]) -> int:
    """The samples profiled at once: a recurrent layer keeps a state for each, a fully connected one writes features."""
    for module in modules.values():
        arguments = _RECURRENT.match(module.arguments) if module.kind in GATES and module.state_bytes else None
        if arguments and int(arguments[2]):
            return max(1, module.state_bytes // (FLOAT_BYTES * int(arguments[2])))
    for module in modules.values():
        found = _LINEAR.search(module.arguments) if module.kind == "Linear" else None
        if found and int(found[2]):
            return max(1, module.activation_bytes // (FLOAT_BYTES * int(found[2])))
    raise UserError(f"{path} has no Linear to tell how many samples were profiled; give them as network.batch=N")


def _image(channels: int, elements: int) -> Shape:
    """The shape of a feature map; heights are not in the file: it is square where it can be."""
    if channels > elements or elements % channels:
        return Shape(elements)
    side = math.isqrt(elements // channels)
    return Shape(channels, side, side) if side * side * channels == elements else Shape(channels, elements // channels)
