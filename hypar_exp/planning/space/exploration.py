"""What costing many plans finds out: the best of them, how they are distributed, and where given plans fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.costs import CostedPlans
from hypar_exp.planning.plan import Choices

BINS_PER_OCTAVE, OCTAVES = 128, 24
"""Bins of the performance's logarithm: half a per cent wide, so many octaves to each side of 1."""
SAME_DIGITS = 12
"""Relative times that agree to so many digits are one: sums that are equal on paper differ in their last bits."""


@dataclass(frozen=True)
class Points:
    """Costed plans: uint8[points, levels, layers], and float64[points] each."""

    plans: Choices
    communication_bytes: NDArray[np.float64]
    step_time_s: NDArray[np.float64]
    relative_time: NDArray[np.float64]
    """Step time over that of the reference plan."""

    @property
    def performance(self) -> NDArray[np.float64]:
        """How many times faster than the reference plan."""
        performance: NDArray[np.float64] = 1 / self.relative_time
        return performance

    def __len__(self) -> int:
        return len(self.plans)

    def at(self, indices: NDArray[np.intp]) -> Points:
        """Some of the points, in the order of the indices."""
        return Points(
            self.plans[indices],
            self.communication_bytes[indices],
            self.step_time_s[indices],
            self.relative_time[indices],
        )

    @classmethod
    def joined(cls, parts: list[Points]) -> Points:
        """The points of all parts behind each other."""
        return cls(
            np.concatenate([part.plans for part in parts]),
            np.concatenate([part.communication_bytes for part in parts]),
            np.concatenate([part.step_time_s for part in parts]),
            np.concatenate([part.relative_time for part in parts]),
        )


@dataclass(frozen=True)
class Exploration:
    """What was found.

    Attributes:
        space: how many plans there are.
        costed: how many were looked at; fewer where they were drawn.
        reference: the name of the strategy whose performance is 1.
        names: of the plans that were to be placed.
        named: these plans.
        faster_than_named: int64[names], how many of the costed plans are faster.
        best: the fastest, in order; of equal ones those that come first.
        histogram: int64[bins], the costed plans by their performance; `edges` are the bins'. What lies beyond is in
            the outermost ones.
        every: all costed plans in order, where they are few enough to list.
    """

    space: int
    costed: int
    reference: str
    names: tuple[str, ...]
    named: Points
    faster_than_named: NDArray[np.int64]
    best: Points
    histogram: NDArray[np.int64]
    every: Points | None

    @property
    def edges(self) -> NDArray[np.float64]:
        """float64[bins + 1]: performance."""
        half = OCTAVES * BINS_PER_OCTAVE
        edges: NDArray[np.float64] = np.exp2(np.arange(-half, half + 1) / BINS_PER_OCTAVE)
        return edges

    def quantile(self, share: float) -> float:
        """The performance that `share` of the costed plans do not exceed, to half a per cent."""
        at = int(np.searchsorted(self.histogram.cumsum(), share * self.costed))
        return float(np.sqrt(self.edges[at] * self.edges[at + 1]))


class Explorer:
    """Takes in costed plans a chunk at a time, in memory that does not grow with their number."""

    def __init__(self, reference_time_s: float, named: CostedPlans, most_best: int, most_listed: int) -> None:
        """Prepare to find the `most_best` fastest plans, and to list all as long as they are no more than that many."""
        self._reference_time_s = reference_time_s
        self._relative_named = self._relative_time(named)
        self._most_best, self._most_listed = most_best, most_listed
        self.costed = 0
        self.faster_than_named = np.zeros(len(self._relative_named), dtype=np.int64)
        self.histogram = np.zeros(2 * OCTAVES * BINS_PER_OCTAVE, dtype=np.int64)
        self.best: Points | None = None
        self._every: list[Points] = []

    @property
    def every(self) -> Points | None:
        """All plans so far, in order; None where they are too many."""
        return Points.joined(self._every) if 0 < self.costed <= self._most_listed else None

    def add(self, plans: Choices, costs: CostedPlans) -> None:
        """Take in a chunk."""
        points = self.points(plans, costs)
        self.costed += len(points)
        if self.costed <= self._most_listed:
            self._every.append(points)
        else:
            self._every.clear()
        for at, relative_time in enumerate(self._relative_named):
            self.faster_than_named[at] += np.count_nonzero(points.relative_time < relative_time)
        octaves = -np.log2(points.relative_time)
        bins = np.floor((octaves + OCTAVES) * BINS_PER_OCTAVE).astype(np.int64).clip(0, len(self.histogram) - 1)
        self.histogram += np.bincount(bins, minlength=len(self.histogram))
        self._keep_best(points)

    def points(self, plans: Choices, costs: CostedPlans) -> Points:
        """Costed plans with their relative time."""
        return Points(plans, costs.communication_bytes, costs.step_time_s, self._relative_time(costs))

    def _relative_time(self, costs: CostedPlans) -> NDArray[np.float64]:
        return np.round(costs.step_time_s / self._reference_time_s, SAME_DIGITS)

    def _keep_best(self, points: Points) -> None:
        if self.best is not None and len(self.best) == self._most_best:
            better = np.flatnonzero(points.relative_time < self.best.relative_time[-1])
            if not len(better):
                return
            points = points.at(better)
        best = points if self.best is None else Points.joined([self.best, points])
        self.best = best.at(np.argsort(best.relative_time, kind="stable")[: self._most_best])
