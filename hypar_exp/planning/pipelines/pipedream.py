"""PipeDream's planner (Narayanan et al., SOSP 2019, section 3.1): stages and their replicas, for the best throughput.

For every level of the cluster, devices in a machine and then machines, the slowest stage of the best pipeline of the
units between two cuts on m of its parts is

    A(i, j, m) = min( T(i, j, m), min over k, r of max( A(i, k, m - r), T(k, j, r) ) )
    T(i, j, r) = ( t(i, j) + e (r - 1) / r W(i, j) / B ) / r

where t is a range's time on one part, which is the level's below on all of its devices, and the r replicas take whole
mini-batches in turn and exchange their gradients once in a round. A stage is as slow as its links as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number
from hypar_exp.errors import UserError
from hypar_exp.planning.pipelines.problem import PipelineProblem, least_sufficient
from hypar_exp.planning.pipelines.stage_costs import Ranges
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.units import quantity


@dataclass(frozen=True)
class PipeDream:
    """The pipeline with the least time between two mini-batches, on all devices or fewer.

    Attributes:
        replicate: whether a stage may have several replicas.
        exchanges_per_weight: how often a weight crosses a device's link when gradients are exchanged; 2 is the paper's
            and that of a ring, 4 that of the authors' program.
    """

    replicate: bool = True
    exchanges_per_weight: float = 2.0

    def __post_init__(self) -> None:
        require_number("planner", self, "exchanges_per_weight")

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages, with replicas that take micro-batches in turn.

        Raises:
            UserError: no plan fits in the accelerators' memory; the sentence says how much would do.
        """
        slowest, stages = self.search(problem, problem.cluster.memory_bytes)
        if not np.isfinite(slowest):
            raise UserError(self._nothing_fits(problem))
        return StagePlan(tuple(stages), problem.micro_batches)

    def search(self, problem: PipelineProblem, memory_bytes: float) -> tuple[float, list[Stage]]:
        """Seconds between two mini-batches, infinity where nothing fits, and the stages."""
        cluster, limited = problem.cluster, memory_bytes < np.inf
        compute_s = problem.costs.forward_s(problem.samples) + problem.costs.backward_s(problem.samples)
        if cluster.machines == 1 or cluster.devices_per_machine == 1:
            times = self._times(problem, compute_s, cluster.devices, across=cluster.machines > 1)
            top = self._tables(cluster.devices, _fitting(times, problem, memory_bytes, 0), limited)
            return _slowest(top, 0, -1), _stages(problem, top, None)
        within = cluster.devices_per_machine
        times = self._times(problem, compute_s, within, across=False)

        @cache
        def inside(ahead: float) -> tuple[list[Level], NDArray[np.float64]]:
            """The pipelines in a machine, and times of stages of machines, with so many accelerators behind each."""
            tables = self._tables(within, _fitting(times, problem, memory_bytes, ahead), limited, all_starts=True)
            return tables, self._times(problem, _fastest(tables), cluster.machines, across=True)

        def machine(behind: int, copies: int) -> tuple[list[Level], NDArray[np.float64]]:
            return inside(behind * within / copies if limited else 0.0)

        top = self._tables(cluster.machines, lambda behind, copies: machine(behind, copies)[1][copies - 1], limited)
        return _slowest(top, 0, -1), _stages(problem, top, lambda behind, copies: machine(behind, copies)[0])

    def _times(self, problem: PipelineProblem, seconds: Ranges, parts: int, *, across: bool) -> NDArray[np.float64]:
        """float64[parts, cuts, cuts]: T, or the links of a stage where they are slower, by replicas."""
        costs, rate = problem.costs, problem.cluster.point_to_point_bytes_per_s(across=across)
        exchange_s = costs.weight_bytes() * (self.exchanges_per_weight / rate)
        return linked(replicated(seconds, exchange_s, parts), 2 * costs.cut_bytes(problem.samples) / rate)

    def _tables(self, parts: int, times: Times, limited: bool, *, all_starts: bool = False) -> list[Level]:
        """The pipelines on exactly 1, 2, ... parts: how many there are behind a stage matters to its memory alone."""
        if not limited:
            return [best_pipelines(parts, times, times, replicate=self.replicate, all_starts=all_starts)] * parts
        return [
            best_pipelines(used, times, times, replicate=self.replicate, all_starts=all_starts)
            for used in range(1, parts + 1)
        ]

    def _nothing_fits(self, problem: PipelineProblem) -> str:
        costs, memory_bytes = problem.costs, problem.cluster.memory_bytes
        kept = costs.weight_bytes() + costs.activation_bytes(problem.samples)
        needed = np.unique(np.multiply.outer(kept[np.isfinite(kept)], np.arange(1, problem.cluster.devices + 1)))
        needed = needed[needed > memory_bytes]
        least = least_sufficient(lambda memory: np.isfinite(self.search(problem, memory)[0]), needed.tolist())
        return (
            f"no pipeline fits in array.memory_bytes of {quantity(memory_bytes, 'B')}; the least that would do is "
            f"{quantity(least, 'B')}"
        )


Times = Callable[[int, int], Ranges]
"""From the parts behind a stage, and its replicas, to float64[cuts, cuts]: seconds, infinity where it does not fit."""


@dataclass(frozen=True, eq=False)
class Level:
    """The best pipelines on 1, 2, ... parts of a level of the cluster.

    Attributes:
        slowest: float64[parts, starts, cuts], seconds of the slowest stage from a start to a cut.
        cut: intp[parts, starts, cuts], where its last stage begins.
        replicas: intp[parts, starts, cuts], of its last stage.
    """

    slowest: NDArray[np.float64]
    cut: NDArray[np.intp]
    replicas: NDArray[np.intp]

    def stages(self, start: int, end: int, parts: int) -> list[tuple[int, int, int]]:
        """(first cut, last cut, replicas) of the stages of the best pipeline on exactly so many parts."""
        stages = []
        while True:
            cut, replicas = int(self.cut[parts - 1, start, end]), int(self.replicas[parts - 1, start, end])
            stages.append((cut, end, replicas))
            if cut == start:
                return stages[::-1]
            end, parts = cut, parts - replicas


def replicated(seconds: Ranges, exchange_s: Ranges, parts: int) -> NDArray[np.float64]:
    """float64[parts, cuts, cuts]: T of a range for 1, 2, ... replicas; `exchange_s` is e W / B."""
    replicas = np.arange(1, parts + 1)[:, None, None]
    exchanges = np.where(np.isfinite(exchange_s), exchange_s, 0.0) * ((replicas - 1) / replicas)
    times: NDArray[np.float64] = (seconds + exchanges) / replicas
    return times


def linked(times: NDArray[np.float64], link_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """`times` of replicated stages, or of their links in and out where they are slower; replicas share the load."""
    ends = np.concatenate([[0.0], link_s[1:-1], [0.0]])
    replicas = np.arange(1, len(times) + 1)[:, None, None]
    slower: NDArray[np.float64] = np.maximum(times, np.maximum(ends[:, None], ends) / replicas)
    return slower


def best_pipelines(parts: int, whole: Times, last: Times, *, replicate: bool, all_starts: bool) -> Level:
    """A(i, j, m) for exactly m = 1, 2, ... parts.

    Args:
        parts: of the level.
        whole: seconds of a range as the only stage.
        last: the same behind other stages.
        replicate: whether a stage may have several replicas.
        all_starts: whether pipelines from every cut are wanted, or only those from the first.
    """
    cuts = whole(parts - 1, 1).shape[0]
    starts = cuts if all_starts else 1
    slowest = np.full((parts, starts, cuts), np.inf)
    cut = np.zeros((parts, starts, cuts), np.intp)
    replicas = np.ones((parts, starts, cuts), np.intp)
    for used in range(1, parts + 1):
        best = slowest[used - 1]
        cut[used - 1] = np.arange(starts)[:, None]
        replicas[used - 1] = used
        if replicate or used == 1:
            best[:] = whole(parts - used, used)[:starts]
        for copies in range(1, used if replicate else min(2, used)):
            stage = last(parts - used, copies)
            for start in range(starts):
                candidates = np.maximum(slowest[used - copies - 1, start, start:, None], stage[start:])
                chosen = candidates.argmin(axis=0)
                value = candidates[chosen, np.arange(cuts)]
                better = value < best[start]
                best[start, better] = value[better]
                cut[used - 1, start, better] = chosen[better] + start
                replicas[used - 1, start, better] = copies
    return Level(slowest, cut, replicas)


def _fitting(times: NDArray[np.float64], problem: PipelineProblem, memory_bytes: float, ahead: float) -> Times:
    """`times` where the versions of weights and activations that a stage keeps fit in its memory: one for its own, and
    one for every mini-batch that a replica has passed on and that has not come back, to the parts behind it or to
    `ahead` more in other machines.
    """
    kept = problem.costs.weight_bytes() + problem.costs.activation_bytes(problem.samples)

    def seconds(behind: int, copies: int) -> Ranges:
        return np.where(kept * (math.ceil((behind + ahead) / copies) + 1) <= memory_bytes, times[copies - 1], np.inf)

    return seconds


def _fastest(tables: list[Level]) -> Ranges:
    """The slowest stage of the best pipeline between any two cuts."""
    fastest: Ranges = np.min([table.slowest[used] for used, table in enumerate(tables)], axis=0)
    return fastest


def _slowest(tables: list[Level], start: int, end: int) -> float:
    return min(float(table.slowest[used, start, end]) for used, table in enumerate(tables))


def _best(tables: list[Level], start: int, end: int) -> tuple[int, list[tuple[int, int, int]]]:
    """The parts of the best pipeline, the fewest of equals, and (first cut, last cut, replicas) of its stages."""
    used = int(np.argmin([table.slowest[used, start, end] for used, table in enumerate(tables)]))
    return used + 1, tables[used].stages(start, end, used + 1)


def _stages(
    problem: PipelineProblem, top: list[Level], inside: Callable[[int, int], list[Level]] | None
) -> list[Stage]:
    """The stages of the best pipeline, none where nothing fits; each cut further by the level below, if any."""
    end = len(problem.costs.cuts) - 1
    if not np.isfinite(_slowest(top, 0, end)):
        return []
    behind, stages = _best(top, 0, end)
    pieces = []
    for start, stop, copies in stages:
        behind -= copies
        below = [(start, stop, 1)] if inside is None else _best(inside(behind, copies), start, stop)[1]
        pieces += [(first, last, copies * own) for first, last, own in below]
    return [Stage(problem.costs.cuts.units_between(first, last), copies, copies) for first, last, copies in pieces]
