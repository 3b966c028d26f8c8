"""An H tree with a link for every pair of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_numbers
from hypar_exp.errors import UserError
from hypar_exp.simulation.interconnect.links import Links
from hypar_exp.simulation.topology import AcceleratorArray


@dataclass(frozen=True)
class TreeLinks:
    """A link for every pair of every level; all pairs of a level exchange at once, level after level.

    Attributes:
        name: the interconnect's name.
        link_bandwidth_bits_per_s: one number for all levels, or a list from H1 on; None for the hardware's rate.
        latency_s: likewise, seconds before an exchange's first byte.
        energy_per_hop: whether energy is paid once a hop; an exchange is one hop at every level.

    Raises:
        UserError: a rate or latency that is no usable number.
    """

    name: str = "tree"
    link_bandwidth_bits_per_s: float | Sequence[float] | None = None
    latency_s: float | Sequence[float] = 0.0
    energy_per_hop: bool = False

    def __post_init__(self) -> None:
        require_numbers("interconnect", self, "link_bandwidth_bits_per_s")
        require_numbers("interconnect", self, "latency_s", above=None)

    def links(self, array: AcceleratorArray, bandwidth_bits_per_s: NDArray[np.float64]) -> Links:
        """The links of each level.

        Raises:
            UserError: a list that is not as long as the array has levels.
        """
        own = self.link_bandwidth_bits_per_s
        rates = bandwidth_bits_per_s if own is None else self._by_level(own, "link_bandwidth_bits_per_s", array.levels)
        one = np.ones(array.levels)
        return Links(rates, one, one, self._by_level(self.latency_s, "latency_s", array.levels), at_once=True)

    @staticmethod
    def _by_level(value: float | Sequence[float], key: str, levels: int) -> NDArray[np.float64]:
        if not isinstance(value, Sequence):
            return np.full(levels, float(value))
        if len(value) != levels:
            raise UserError(
                f"interconnect.{key} has {len(value)} numbers and array.levels is {levels}; "
                "give one number for all levels, or one for each"
            )
        return np.array(value, dtype=np.float64)
