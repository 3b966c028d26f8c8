"""Accelerators at coordinates: exchanges take routes over real links, and the most loaded link sets the time.

The array is halved dimension by dimension, as the H tree is laid out: H1 cuts the columns in half, H2 the rows, and so
on. In an exchange every accelerator sends to the one at the same place in the other half, dimension by dimension, so
it crosses the distance of the halves along one dimension.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number
from hypar_exp.simulation.interconnect.links import Links
from hypar_exp.simulation.topology import AcceleratorArray


@dataclass(frozen=True)
class _Routed(ABC):
    """Links between neighbours.

    Attributes:
        name: the interconnect's name.
        link_bandwidth_bits_per_s: of one link, both directions together; None for the hardware's rate.
        latency_s: seconds a hop.
        energy_per_hop: whether an exchanged element costs its energy once a hop.

    Raises:
        UserError: a rate or latency that is no usable number.
    """

    name: str
    link_bandwidth_bits_per_s: float | None = None
    latency_s: float = 0.0
    energy_per_hop: bool = False

    def __post_init__(self) -> None:
        if self.link_bandwidth_bits_per_s is not None:
            require_number("interconnect", self, "link_bandwidth_bits_per_s")
        require_number("interconnect", self, "latency_s", above=None)

    def links(self, array: AcceleratorArray, bandwidth_bits_per_s: NDArray[np.float64]) -> Links:
        """The links of each level, by the routes of one pair's exchange."""
        own = self.link_bandwidth_bits_per_s
        ways = [self._way(level, array.levels) for level in range(array.levels)]
        hops = np.array([hops for _, hops in ways], dtype=np.float64)
        return Links(
            bandwidth_bits_per_s if own is None else np.full(array.levels, own),
            # an accelerator sends its share of what its group exchanges: one in 2^(levels - level)
            load=np.array([transfers for transfers, _ in ways]) / np.ldexp(1.0, array.levels - np.arange(array.levels)),
            hops=hops,
            latency_s=self.latency_s * hops,
            at_once=True,
            spread=True,
        )

    @abstractmethod
    def _way(self, level: int, levels: int) -> tuple[int, int]:
        """Transfers over the most loaded link in an exchange at a level, and the hops of one of them."""


def _along(distance: int, nodes: int, wraps: bool) -> tuple[int, int]:
    """The same in a row of nodes, where each sends over a distance to its partner, and gets as much."""
    # where the halves are the two halves of a ring, all send the same way around: half as much over every link
    return (distance if wraps and 2 * distance == nodes else 2 * distance), distance


@dataclass(frozen=True)
class _Grid(_Routed):
    """Two dimensions, as square as powers of two allow."""

    _wraps = False

    def _way(self, level: int, levels: int) -> tuple[int, int]:
        bits = levels - levels // 2 if level % 2 == 0 else levels // 2  # columns first, then rows
        nodes = 2**bits
        return _along(nodes // 2 ** (level // 2 + 1), nodes, self._wraps)


@dataclass(frozen=True)
class MeshLinks(_Grid):
    """A two-dimensional mesh."""

    name: str = "mesh"


@dataclass(frozen=True)
class TorusLinks(_Grid):
    """A two-dimensional torus: a mesh whose rows and columns are closed to rings."""

    name: str = "torus"
    _wraps = True


@dataclass(frozen=True)
class RingLinks(_Routed):
    """All accelerators in one ring."""

    name: str = "ring"

    def _way(self, level: int, levels: int) -> tuple[int, int]:
        return _along(2 ** (levels - level - 1), 2**levels, wraps=True)


@dataclass(frozen=True)
class SwitchLinks(_Routed):
    """One switch with a link to every accelerator; it never blocks."""

    name: str = "switch"

    def _way(self, level: int, levels: int) -> tuple[int, int]:
        return 2, 2  # what an accelerator sends and what it gets share its link; to the switch and from it
