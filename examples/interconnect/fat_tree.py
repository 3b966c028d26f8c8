"""An interconnect: a fat tree, whose links are faster the more accelerators they carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number
from hypar_exp.simulation import AcceleratorArray, Links


@dataclass(frozen=True)
class FatTree:
    """A link for every pair of groups, 2 / taper times as fast as those a level below.

    Attributes:
        taper: what is saved at every level; 1 for a full fat tree, 2 for a tree whose links are all alike.
        energy_per_hop: an exchange is one hop at every level, so that it makes no difference.
    """

    name: str = "fat_tree"
    taper: float = 1.0
    energy_per_hop: bool = False

    def __post_init__(self) -> None:
        require_number("interconnect", self, "taper")

    def links(self, array: AcceleratorArray, bandwidth_bits_per_s: NDArray[np.float64]) -> Links:
        """Links with the hardware's rate between two accelerators, and faster ones above them."""
        levels_below = np.arange(array.levels)[::-1]
        one = np.ones(array.levels)
        return Links(
            bandwidth_bits_per_s * (2 / self.taper) ** levels_below,
            load=one,
            hops=one,
            latency_s=0 * one,
            at_once=True,
        )
