"""SCALE-Sim's topologies (github.com/scalesim-project/SCALE-Sim, `topologies/**/*.csv`; Samajdar et al., ISPASS 2020).

Convolutions: `Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,`
Matrix products: `Layer, M, N, K,`: M positions, N features out, K in.

A row does not say which layer it reads: it is taken to read the last one before it that writes as many channels, and
an input of its own where there is none. So branches are there, but what joins them again is not. As in SCALE-Sim the
output of a convolution is counted without padding beyond what the input's height and width include.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.networks.graph import GraphBuilder, Tensor
from hypar_exp.networks.layers import Layer, Shape
from hypar_exp.networks.network import Network
from hypar_exp.text_files import Line, read_lines

CONVOLUTION = ("height", "width", "filter height", "filter width", "channels", "filters", "stride")
PRODUCT = ("M", "N", "K")


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
    fields = {1 + len(form): form for form in (CONVOLUTION, PRODUCT)}.get(len(_cells(head)))
    if fields is None:
        forms = " or ".join(f"'name, {', '.join(form)},'" for form in (CONVOLUTION, PRODUCT))
        raise head.error(f"the head of a topology is {forms} (got {head.text[:80]!r})")
    return _Topology(fields, products).read(rows).network(path, name)


class _Topology:
    """The rows as far as they have been read."""

    def __init__(self, fields: Sequence[str], products: Sequence[str]) -> None:
        self._fields = fields
        self._products = [products] if isinstance(products, str) else list(products)
        self._graph = GraphBuilder()
        self._written: dict[int, Tensor] = {}
        """Channels -> what the last layer that writes so many has written."""
        self._pending: Tensor | None = None
        self._names: set[str] = set()

    def read(self, rows: Sequence[Line]) -> _Topology:
        for row in rows:
            name, sizes = self._row(row)
            layer = _convolution(row, name, sizes) if self._fields is CONVOLUTION else _product(name, sizes)
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
        return self._graph.network(name or Path(path).stem)

    def _row(self, row: Line) -> tuple[str, dict[str, int]]:
        name, *cells = _cells(row)
        if len(cells) != len(self._fields):
            raise row.error(f"a row is 'name, {', '.join(self._fields)},' (got {row.text[:80]!r})")
        if not name or name in self._names:
            raise row.error(f"the layer '{name}' is there twice" if name else "the layer has no name")
        self._names.add(name)
        return name, {
            field: row.whole(cell, f"{field} of {name}") for field, cell in zip(self._fields, cells, strict=True)
        }

    def _add(self, layer: Layer) -> None:
        source = self._written.get(layer.input.channels)
        if source is None:
            source = Tensor(layer.input.elements)
        if self._pending is not None:
            source = Tensor(source.elements, source.parts, self._pending.work)
            self._pending = None
        written = self._graph.layer(layer, source.resized(layer.input.elements))
        self._written[layer.output.channels] = written


def _convolution(row: Line, name: str, sizes: dict[str, int]) -> Layer:
    height, width, filter_height, filter_width, channels, filters, stride = (sizes[field] for field in CONVOLUTION)
    if filter_height > height or filter_width > width:
        raise row.error(f"the filter of {name}, {filter_height}x{filter_width}, is larger than {height}x{width}")
    weights = filter_height * filter_width * channels * filters
    if height == width == 1:
        return Layer(name, "fc", Shape(channels), Shape(filters), weights, output_positions=1)
    output = Shape(filters, -(-(height - filter_height) // stride) + 1, -(-(width - filter_width) // stride) + 1)
    return Layer(name, "conv", Shape(channels, height, width), output, weights, output.positions)


def _product(name: str, sizes: dict[str, int]) -> Layer:
    positions, features, depth = (sizes[field] for field in PRODUCT)
    kind = "fc" if positions == 1 else "matmul"
    return Layer(name, kind, Shape(depth, positions), Shape(features, positions), depth * features, positions)


def _cells(line: Line) -> list[str]:
    return [cell.strip() for cell in line.text.rstrip(", \t").split(",")]
