"""A network: a directed acyclic graph of weighted layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks.layers import Around, Layer


@dataclass(frozen=True)
class Edge:
    """The tensor that layer `consumer` reads from layer `producer`: `elements` of one sample."""

    producer: int
    consumer: int
    elements: int


@dataclass(frozen=True)
class Network:
    """Weighted layers in topological order and the edges between them; a chain is the simple case.

    Raises:
        UserError: no layers, or an edge that does not lead forward.
    """

    name: str
    layers: tuple[Layer, ...]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What its reader took for granted, and the user should know."""

    def __post_init__(self) -> None:
        if not self.layers:
            raise UserError(f"network {self.name} has no layers; it needs at least one conv or fc layer")
        for edge in self.edges:
            if not 0 <= edge.producer < edge.consumer < len(self.layers):
                raise UserError(f"network {self.name}: edge {edge} does not lead from a layer to a later one")

    @classmethod
    def chain(cls, name: str, layers: tuple[Layer, ...]) -> Network:
        """A network in which every layer reads what the layer before it writes."""
        edges = tuple(Edge(at - 1, at, layers[at].input.elements) for at in range(1, len(layers)))
        return cls(name, layers, edges)

    def part(self, layers: Sequence[int], name: str | None = None) -> Network:
        """Some layers, by their positions in ascending order, and the edges between them."""
        place = {at: index for index, at in enumerate(layers)}
        return Network(
            name=name or self.name,
            layers=tuple(self.layers[at] for at in layers),
            edges=tuple(
                replace(edge, producer=place[edge.producer], consumer=place[edge.consumer])
                for edge in self.edges
                if edge.producer in place and edge.consumer in place
            ),
        )

    @cached_property
    def is_chain(self) -> bool:
        return [(edge.producer, edge.consumer) for edge in self.edges] == [
            (at - 1, at) for at in range(1, len(self.layers))
        ]

    @cached_property
    def layer_names(self) -> tuple[str, ...]:
        return tuple(layer.name for layer in self.layers)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """float64[layers]: A(W_l), elements."""
        return np.array([layer.weights for layer in self.layers], dtype=np.float64)

    @cached_property
    def input_elements(self) -> NDArray[np.float64]:
        """float64[layers]: A(F_l) of one sample."""
        return np.array([layer.input.elements for layer in self.layers], dtype=np.float64)

    @cached_property
    def output_elements(self) -> NDArray[np.float64]:
        """float64[layers]: A(F_{l+1}) of one sample."""
        return np.array([layer.output.elements for layer in self.layers], dtype=np.float64)

    @cached_property
    def extra_inputs(self) -> NDArray[np.float64]:
        """float64[layers]: what the products without weights that run with a layer read, of one sample."""
        return np.array([layer.extra_inputs for layer in self.layers], dtype=np.float64)

    def elements_of(self, what: Callable[[Layer], int]) -> NDArray[np.float64]:
        """float64[layers]: some elements of one sample of every layer."""
        return np.array([what(layer) for layer in self.layers], dtype=np.float64)

    @cached_property
    def around(self) -> dict[str, NDArray[np.float64]]:
        """Field of `Around` -> float64[layers]."""
        return {spec.name: self.elements_of(attrgetter(f"around.{spec.name}")) for spec in fields(Around)}

    @cached_property
    def before_pooling(self) -> NDArray[np.float64]:
        """float64[layers]: what a layer writes of one sample before it is pooled; 0 where it is not."""
        return self.elements_of(attrgetter("before_pooling"))

    @cached_property
    def groups(self) -> NDArray[np.float64]:
        """float64[layers]: parts of a layer's channels that do not mix; 1 for all but grouped convolutions."""
        return np.array([layer.groups for layer in self.layers], dtype=np.float64)

    @cached_property
    def is_grouped(self) -> bool:
        """Whether any layer has groups."""
        return bool((self.groups > 1).any())

    @cached_property
    def has_tables(self) -> bool:
        """Whether any layer's weights are a table."""
        return bool(self.looked_up.any())

    @cached_property
    def looked_up(self) -> NDArray[np.bool_]:
        """bool[layers]: whether the weights are a table of which a sample reads only some rows."""
        return np.array([layer.output_positions == 0 for layer in self.layers])

    @cached_property
    def edge_elements(self) -> NDArray[np.float64]:
        """float64[edges]: elements of one sample that the edge carries."""
        return np.array([edge.elements for edge in self.edges], dtype=np.float64)

    @cached_property
    def last_layers(self) -> NDArray[np.intp]:
        """The layers that no other reads."""
        unread = np.ones(len(self.layers), dtype=np.bool_)
        unread[self.edge_producers] = False
        return np.flatnonzero(unread)

    @cached_property
    def edge_consumers(self) -> NDArray[np.intp]:
        """intp[edges]: the layer at the end of each edge."""
        return np.array([edge.consumer for edge in self.edges], dtype=np.intp)

    @cached_property
    def edge_producers(self) -> NDArray[np.intp]:
        """intp[edges]: the layer at the start of each edge."""
        return np.array([edge.producer for edge in self.edges], dtype=np.intp)
