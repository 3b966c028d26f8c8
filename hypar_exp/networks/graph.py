"""The graph of weighted layers, put together from tensors: what lies between two layers and has no weights.

An edge carries the tensor that its consumer reads of its producer: through activation, normalisation, pooling and
reshaping, as they leave it. Where tensors meet,

- a concatenation is read part by part: one edge from each producer, with its own part;
- an addition takes place where the last of its operands is made: that layer reads the others whole, an edge from each,
  and whoever reads the sum reads it from that layer, once. So a chain of residual blocks has one edge a shortcut, and
  not one from every block to all blocks after it. An operand that is broadcast is small and goes along to the readers;
- a product of two tensors, as in attention, takes place where its result is read: one edge from each operand's
  producer, whole, and the multiplication counts as that layer's compute.

Between two layers there is one edge at most: what a layer reads twice it fetches once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hypar_exp.networks.layers import Layer
from hypar_exp.networks.network import Edge, Network


@dataclass(frozen=True)
class Tensor:
    """A tensor of one sample on its way between layers."""

    elements: int
    parts: Mapping[int, int] = field(default_factory=dict)
    """Producer (index of a layer) -> elements that stem from it; empty for what the network itself reads."""
    work: frozenset[int] = frozenset()
    """Products without weights that its reader computes, by number."""

    def resized(self, elements: int) -> Tensor:
        """What pooling, reshaping or slicing leaves: every part shrinks, or grows, with the whole."""
        if elements == self.elements or not self.elements:
            return replace(self, elements=elements)
        parts = {at: max(1, round(part * elements / self.elements)) for at, part in self.parts.items()}
        return replace(self, elements=elements, parts=parts)


@dataclass(frozen=True)
class _Product:
    """A product of tensors without weights, of one sample."""

    macs: int
    operands: int
    """Elements that it reads, and that its backward pass needs."""
    made: int
    """Of these, those that products make themselves, as attention's probabilities."""
    dropped: int
    """Of these, those that are dropped out."""


class GraphBuilder:
    """Collects layers in topological order and the edges that their tensors imply."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []
        self._edges: dict[tuple[int, int], int] = {}
        self._products: dict[int, _Product] = {}
        """Those that no layer computes yet, by number."""
        self._works = 0
        self._declared: set[int] = set()

    def layer(self, layer: Layer, reads: Tensor, *, declared: bool = False) -> Tensor:
        """Add a layer; the result is what it writes. A `declared` output is what all read, whatever the edges carry."""
        at = len(self.layers)
        if declared:
            self._declared.add(at)
        self.layers.append(self._working(layer, reads))
        self._feed(reads.resized(layer.input.elements).parts, at)
        return Tensor(layer.output.elements, {at: layer.output.elements})

    def concat(self, tensors: Sequence[Tensor]) -> Tensor:
        """Tensors side by side."""
        parts: dict[int, int] = {}
        for tensor in tensors:
            for at, elements in tensor.parts.items():
                parts[at] = parts.get(at, 0) + elements
        return Tensor(sum(tensor.elements for tensor in tensors), parts, _works(tensors))

    def add(self, tensors: Sequence[Tensor]) -> Tensor:
        """Tensors combined element by element: a sum, or any other operation of that kind."""
        elements = max(tensor.elements for tensor in tensors)
        whole = [tensor for tensor in tensors if tensor.elements == elements and tensor.parts]
        if not whole:
            return Tensor(elements, _together(tensors), _works(tensors))
        carrier = max(whole, key=lambda tensor: max(tensor.parts))
        target = max(carrier.parts, key=lambda at: (carrier.parts[at], at))
        others = _together([tensor for tensor in whole if tensor is not carrier])
        self._feed({at: part for at, part in others.items() if at < target}, target)
        along: list[Mapping[int, int]] = [{at: part for at, part in others.items() if at > target}]
        along += [tensor.parts for tensor in tensors if tensor.elements < elements]
        parts = dict(carrier.parts)
        for smaller in along:
            for at, part in smaller.items():
                parts[at] = max(parts.get(at, 0), part)
        return Tensor(elements, parts, _works(tensors))

    def product(
        self, tensors: Sequence[Tensor], elements: int, macs: int, inner_elements: int = 0, *, dropout: bool = False
    ) -> Tensor:
        """A product of tensors without weights: `macs` multiply-accumulates of one sample make `elements`.

        Its operands are kept for the backward pass, and `inner_elements` that it makes on the way, as probabilities;
        with `dropout` these are dropped out.
        """
        operands = self.concat(tensors)
        self._works += 1
        made = inner_elements + sum(tensor.elements for tensor in tensors if tensor.work)
        dropped = inner_elements if dropout else 0
        self._products[self._works] = _Product(macs, operands.elements + inner_elements, made, dropped)
        return Tensor(elements, operands.parts, operands.work | {self._works})

    def keep(self, tensor: Tensor, what: str) -> None:
        """Say that an operation without weights needs what it reads in the backward pass.

        Args:
            tensor: what it reads; the layers that made it hold it.
            what: the field of `Around` that counts it. What several layers write after a product without weights
                belongs to none of them and is left out.
        """
        if tensor.work:
            return
        for at, elements in tensor.parts.items():
            around = self.layers[at].around
            self.layers[at] = replace(
                self.layers[at], around=replace(around, **{what: getattr(around, what) + elements})
            )

    def network(self, name: str, ends: Sequence[Tensor] = (), outputs: Sequence[Tensor] = ()) -> Network:
        """The network; products that only `ends` of it read count as the compute of the layers that made them.

        Args:
            name: of the network.
            ends: tensors that may be the last to read such products.
            outputs: what leaves the network.

        Raises:
            UserError: there are no layers.
        """
        for end in ends:
            if end.parts:
                last = max(end.parts)
                self.layers[last] = self._working(self.layers[last], end)
        self._read_outputs(outputs)
        by_consumer = sorted(self._edges.items(), key=lambda edge: (edge[0][1], edge[0][0]))
        edges = tuple(Edge(producer, consumer, elements) for (producer, consumer), elements in by_consumer)
        return Network(name, tuple(self.layers), edges)

    def _working(self, layer: Layer, reads: Tensor) -> Layer:
        """The layer with the products that it computes because it reads their result."""
        products = [self._products.pop(work) for work in reads.work if work in self._products]
        macs = sum(product.macs for product in products)
        inputs = sum(product.operands for product in products)
        around = replace(
            layer.around,
            probabilities=layer.around.probabilities + sum(product.made for product in products),
            dropout_probabilities=layer.around.dropout_probabilities + sum(product.dropped for product in products),
        )
        macs, inputs = layer.extra_macs + macs, layer.extra_inputs + inputs
        return replace(layer, extra_macs=macs, extra_inputs=inputs, around=around)

    def _read_outputs(self, outputs: Sequence[Tensor]) -> None:
        """Make each layer's output F_{l+1} what all who read it read: the most that any reader, or the outside, takes.

        So it is pooled where all read it pooled, wherever the pooling is written.
        """
        carried = dict(_together(outputs))
        for (producer, _), elements in self._edges.items():
            carried[producer] = max(carried.get(producer, 0), elements)
        for at, elements in carried.items():
            if at not in self._declared:
                layer = self.layers[at]
                self.layers[at] = replace(layer, output=layer.output.resized(elements))

    def _feed(self, parts: Mapping[int, int], consumer: int) -> None:
        for producer, elements in parts.items():
            ends = producer, consumer
            self._edges[ends] = max(self._edges.get(ends, 0), elements)


def _together(tensors: Sequence[Tensor]) -> dict[int, int]:
    parts: dict[int, int] = {}
    for tensor in tensors:
        for at, part in tensor.parts.items():
            parts[at] = max(parts.get(at, 0), part)
    return parts


def _works(tensors: Sequence[Tensor]) -> frozenset[int]:
    return frozenset().union(*(tensor.work for tensor in tensors))
