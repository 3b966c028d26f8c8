"""SCALE-Sim's topologies (github.com/scalesim-project/SCALE-Sim, `topologies/**/*.csv`; Samajdar et al., ISPASS 2020).

Convolutions: `Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,`
Matrix products: `Layer, M, N, K,`: M positions, N features out, K in.

A row does not say which layer it reads: it is taken to read the last one before it that writes as many channels, and
an input of its own where there is none. So branches are there, but what joins them again is not. As in SCALE-Sim the
output of a convolution is counted without padding beyond what the input's height and width include.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.networks.graph import GraphBuilder, Tensor
from hypar_exp.networks.layers import Layer, Shape
from hypar_exp.networks.network import Network
from hypar_exp.text_files import Line, read_lines

CONVOLUTION = ("height", "width", "filter height", "filter width", "channels", "filters", "stride")
PRODUCT = ("M", "N", "K")
HEADINGS = {
    "ifmap height": "height",
    "ifmap width": "width",
    "filter height": "filter height",
    "filter width": "filter width",
    "channels": "channels",
    "num filter": "filters",
    "num filters": "filters",
    "strides": "stride",
    "stride": "stride",
    "stride height": "stride",
    "stride width": "stride width",
    **{field.lower(): field for field in PRODUCT},
}
"""Words of a head -> the field; other columns (sparsity, batch size, notes) say nothing of a layer's sizes."""
STRIDE_WIDTH = "stride width"
"""A column that only some files have; else the stride is the same both ways."""
DEPTHWISE = re.compile(r"(?i)(^|[^a-z])(dp|dw|depth_?wise)([^a-z]|$)")


def load(path: str, name: str | None = None, products: Sequence[str] = ()) -> Network:
    """Load a network from a SCALE-Sim topology.

    Args:
        path: the file.
        name: the network's name; the file's where it is None.
        products: rows of the M, N, K form that multiply two feature maps and have no weights, as QKT of attention; the
            file does not say so. They count as compute of the layer after them.

    Raises:
        UserError: a file that cannot be read or does not have this form; the sentence names file and line.
    """
    head, *rows = read_lines(path, "topology of SCALE-Sim")
    places = _places(head)
    topology = _Topology(places, products)
    if any(cell.lower().startswith("sparsity") for cell in _cells(head)):
        topology.notes.append(f"{path} has a column of sparsity, which is not read: layers are dense")
    return topology.read([row for row in rows if _is_layer(row)]).network(path, name)


def _places(head: Line) -> dict[str, int]:
    """Field -> its column, by the words of the head, or in the usual order where it has words of its own."""
    cells = [cell.lower() for cell in _cells(head)]
    named = {HEADINGS[cell]: place for place, cell in reversed(list(enumerate(cells))) if place and cell in HEADINGS}
    for form in (CONVOLUTION, PRODUCT):
        if set(form) <= named.keys():
            optional = (STRIDE_WIDTH,) if form is CONVOLUTION and STRIDE_WIDTH in named else ()
            return {field: named[field] for field in (*form, *optional)}
    for form in (CONVOLUTION, PRODUCT):
        if len(cells) == 1 + len(form):
            return {field: place for place, field in enumerate(form, 1)}
    forms = " or ".join(f"'name, {', '.join(form)},'" for form in (CONVOLUTION, PRODUCT))
    lacking = [field for field in CONVOLUTION if field not in named]
    raise head.error(f"the head of a topology is {forms} (of the first this one lacks {', '.join(lacking)})")


def _is_layer(row: Line) -> bool:
    """Whether a row is neither empty nor a title."""
    cells = [cell for cell in _cells(row) if cell]
    return len(cells) > 1


class _Topology:
    """The rows as far as they have been read."""

    def __init__(self, places: Mapping[str, int], products: Sequence[str]) -> None:
        self._places = places
        self._products = [products] if isinstance(products, str) else list(products)
        self._graph = GraphBuilder()
        self._written: dict[int, Tensor] = {}
        """Channels -> what the last layer that writes so many has written."""
        self._pending: Tensor | None = None
        self._names: list[str] = []
        self.notes: list[str] = []

    def read(self, rows: Sequence[Line]) -> _Topology:
        read = [self._row(row) for row in rows]
        after = [sizes.get("channels") for _, sizes in read[1:]] + [None]
        for row, (name, sizes), next_channels in zip(rows, read, after[: len(rows)], strict=True):
            fresh = self._fresh(name)
            if "channels" not in sizes:
                layer = _product(fresh, sizes)
            else:
                depthwise = _is_depthwise(name, sizes, next_channels)
                layer = _convolution(row, fresh, sizes, depthwise)
                if depthwise:
                    self.notes.append(
                        f"row '{name}' is read as depthwise: it has one filter for {sizes['channels']} channels"
                    )
            if name in self._products:
                waiting = [] if self._pending is None else [self._pending]
                self._pending = self._graph.product(waiting, layer.output.elements, layer.macs_at_output)
            else:
                self._add(layer)
        return self

    def network(self, path: str, name: str | None) -> Network:
        for product in self._products:
            if product not in self._names:
                raise UserError(f"network.products: {path} has no row '{product}'")
        network = self._graph.network(name or Path(path).stem)
        return dataclasses.replace(network, notes=tuple(self.notes))

    def _row(self, row: Line) -> tuple[str, dict[str, int]]:
        cells = _cells(row)
        name = row.name(cells[0])
        if not name:
            raise row.error("the layer has no name")
        for field, place in self._places.items():
            if place >= len(cells) or not cells[place]:
                raise row.error(f"{field} of {name} is missing: column {place + 1} is empty")
        return name, {field: row.whole(cells[place], f"{field} of {name}") for field, place in self._places.items()}

    def _fresh(self, name: str) -> str:
        """The name, numbered where rows before it have it too."""
        self._names.append(name)
        count = self._names.count(name)
        return name if count == 1 else f"{name}_{count}"

    def _add(self, layer: Layer) -> None:
        source = self._written.get(layer.input.channels)
        if source is None:
            source = Tensor(layer.input.elements)
            if self._graph.layers:
                self.notes.append(
                    f"row '{layer.name}' is taken to read the network's input: no row before it writes "
                    f"{layer.input.channels} channels"
                )
        if self._pending is not None:
            source = Tensor(source.elements, source.parts, self._pending.work)
            self._pending = None
        written = self._graph.layer(layer, source.resized(layer.input.elements))
        self._written[layer.output.channels] = written


def _is_depthwise(name: str, sizes: Mapping[str, int], next_channels: int | None) -> bool:
    """A depthwise convolution is written as one filter: by its name, or as the next row reads all its channels."""
    one_filter = sizes["filters"] == 1 and sizes["channels"] > 1
    return one_filter and (DEPTHWISE.search(name) is not None or next_channels == sizes["channels"])


def _convolution(row: Line, name: str, sizes: Mapping[str, int], depthwise: bool) -> Layer:
    height, width, filter_height, filter_width, channels, filters, stride = (sizes[field] for field in CONVOLUTION)
    if filter_height > height or filter_width > width:
        raise row.error(f"the filter of {name}, {filter_height}x{filter_width}, is larger than {height}x{width}")
    weights = filter_height * filter_width * channels * filters
    if depthwise:
        filters = channels
    if height == width == 1:
        return Layer(name, "fc", Shape(channels), Shape(filters), weights, output_positions=1)
    across = sizes.get(STRIDE_WIDTH, stride)
    output = Shape(filters, -(-(height - filter_height) // stride) + 1, -(-(width - filter_width) // across) + 1)
    groups = channels if depthwise else 1
    return Layer(name, "conv", Shape(channels, height, width), output, weights, output.positions, groups=groups)


def _product(name: str, sizes: Mapping[str, int]) -> Layer:
    positions, features, depth = (sizes[field] for field in PRODUCT)
    kind = "fc" if positions == 1 else "matmul"
    return Layer(name, kind, Shape(depth, positions), Shape(features, positions), depth * features, positions)


def _cells(line: Line) -> list[str]:
    """The cells of a row, between commas or tabulators, up to a comment."""
    text = line.text.partition("#")[0]
    return [cell.strip() for cell in re.split("[,\t]", text.rstrip(", \t"))]
