"""Memory as a constraint: what the leaf accelerators may hold, and what they have to hold at least."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError

PerLayer = Callable[[NDArray[np.number]], tuple[NDArray[np.float64], NDArray[np.float64]]]


class DoesNotFitError(UserError):
    """The accelerators have too little memory for a plan, or for every plan there is: an outcome, and no fault.

    Attributes:
        needed_bytes: what an accelerator has to hold, at least.
        capacity_bytes: what it has room for.
    """

    def __init__(self, sentence: str, needed_bytes: float, capacity_bytes: float) -> None:
        super().__init__(sentence)
        self.needed_bytes = needed_bytes
        self.capacity_bytes = capacity_bytes


@dataclass(frozen=True)
class MemoryLimit:
    """What an accelerator may hold, and what it holds of each layer.

    Attributes:
        capacity_bytes: of one accelerator.
        per_layer: from all choices of a plan, counted integer[..., layers, len(Split)], to the bytes that each layer
            keeps for the whole step and those that it needs for a moment, both float64[..., layers]. An accelerator
            has to have room for the sum of the first and the largest of the second.
    """

    capacity_bytes: float
    per_layer: PerLayer


@dataclass(frozen=True)
class Shares:
    """The bytes that each layer keeps, and needs for a moment, in each of its states: float64[layers, states]."""

    kept: NDArray[np.float64]
    moment: NDArray[np.float64]
    capacity: float

    def kept_in(self, states: NDArray[np.int64]) -> float:
        """The sum of what is kept, where `states` is the state of each layer."""
        return float(self.kept[np.arange(len(states)), states].sum())

    def fit(self, states: NDArray[np.int64]) -> bool:
        """Whether an accelerator has room for all of it."""
        return self.kept_in(states) + float(self.moment[np.arange(len(states)), states].max()) <= self.capacity

    def least_need(self) -> float:
        """What an accelerator has to hold at least, whatever the plan."""
        return min(limit + kept for limit, kept in self._least_kept())

    def limits(self) -> list[float]:
        """The needs for a moment that leave room for what is kept, the largest first."""
        return [limit for limit, kept in self._least_kept() if limit + kept <= self.capacity][::-1]

    def _least_kept(self) -> Iterator[tuple[float, float]]:
        """Each need for a moment that some plan keeps within, from the least, with the least that is kept then."""
        for limit in np.unique(self.moment):
            least = np.where(self.moment <= limit, self.kept, np.inf).min(axis=1).sum()
            if np.isfinite(least):
                yield float(limit), float(least)
