"""The paper's link rule: one medium for everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number
from hypar_exp.simulation.interconnect.links import Links
from hypar_exp.simulation.topology import AcceleratorArray


@dataclass(frozen=True)
class SharedLink:
    """The bytes of all pairs and levels one after the other on one link, each as long as its way has hops.

    This is what reproduces the paper's figures. At many accelerators it is pessimistic: the bytes of N/2 pairs wait
    for one another.

    Attributes:
        name: the interconnect's name.
        latency_s: seconds before an exchange's first byte.
        energy_per_hop: whether energy is paid once for each of the topology's mean hops.

    Raises:
        UserError: a latency that is no number from 0 on.
    """

    name: str = "shared"
    latency_s: float = 0.0
    energy_per_hop: bool = False
    _medium: ClassVar[Literal["one", "stages"]] = "one"

    def __post_init__(self) -> None:
        require_number("interconnect", self, "latency_s", above=None)

    def links(self, array: AcceleratorArray, bandwidth_bits_per_s: NDArray[np.float64]) -> Links:
        """The one link, as long as the topology's mean way."""
        hops = np.full(array.levels, array.hop_factor)
        latency_s = np.full(array.levels, self.latency_s)
        return Links(bandwidth_bits_per_s, hops, hops, latency_s, at_once=False, medium=self._medium)


@dataclass(frozen=True)
class SubarrayLinks(SharedLink):
    """The same within each stage of a pipeline; stages exchange at the same time, and so do the boundaries.

    It gives S stages S times the bandwidth, silently: the step without stages still has the one link.
    """

    name: str = "subarrays"
    _medium: ClassVar[Literal["one", "stages"]] = "stages"
