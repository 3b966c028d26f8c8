"""PipeDream's planner (Narayanan et al., SOSP 2019, section 3.1): stages and their replicas, for the best throughput.

For every level of the cluster, devices in a machine and then machines, the slowest stage of the best pipeline of the
units between two cuts on m of its parts is

    A(i, j, m) = min( T(i, j, m), min over k, r of max( A(i, k, m - r), T(k, j, r) ) )
    T(i, j, r) = ( t(i, j) + e (r - 1) / r W(i, j) / B ) / r

where t is a range's time on one part, which is the level's below on all of its devices, and the r replicas take whole
mini-batches in turn and exchange their gradients once in a round. A stage is as slow as its links as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
        costs, cluster = problem.costs, problem.cluster
        seconds = costs.forward_s(problem.samples) + costs.backward_s(problem.samples)
        kept = costs.weight_bytes() + costs.activation_bytes(problem.samples)
        flat = cluster.machines == 1 or cluster.devices_per_machine == 1
        sizes = [cluster.devices] if flat else [cluster.devices_per_machine, cluster.machines]
        levels: list[Level] = []
        for number, parts in enumerate(sizes, 1):
            across = cluster.machines > 1 and number == len(sizes)
            rate = cluster.point_to_point_bytes_per_s(across=across)
            times = replicated(seconds, costs.weight_bytes() * (self.exchanges_per_weight / rate), parts)
            links = linked(times, 2 * costs.cut_bytes(problem.samples) / rate)
            fits = _fits(kept, memory_bytes, parts)
            level = best_pipelines(links, links, fits, replicate=self.replicate, all_starts=number < len(sizes))
            levels.append(level)
            seconds = level.slowest.min(axis=0)
        return float(seconds[0, -1]), _stages(problem, levels) if np.isfinite(seconds[0, -1]) else []

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


Fits = Callable[[int, int], NDArray[np.bool_]]
"""From the devices behind a stage, and its replicas, to bool[cuts, cuts]: whether it fits."""


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


def best_pipelines(
    whole: NDArray[np.float64], last: NDArray[np.float64], fits: Fits | None, *, replicate: bool, all_starts: bool
) -> Level:
    """A(i, j, m) for exactly m = 1, 2, ... parts.

    Args:
        whole: float64[parts, cuts, cuts], seconds of a range as the only stage, by replicas.
        last: float64[parts, cuts, cuts], the same behind other stages.
        fits: which stages fit in memory; None where all do.
        replicate: whether a stage may have several replicas.
        all_starts: whether pipelines from every cut are wanted, or only those from the first.
    """
    parts, cuts = whole.shape[:2]
    starts = cuts if all_starts else 1
    slowest = np.full((parts, starts, cuts), np.inf)
    cut = np.zeros((parts, starts, cuts), np.intp)
    replicas = np.ones((parts, starts, cuts), np.intp)
    for used in range(1, parts + 1):
        best = slowest[used - 1]
        cut[used - 1] = np.arange(starts)[:, None]
        replicas[used - 1] = used
        if replicate or used == 1:
            best[:] = _that_fit(whole[used - 1], fits, parts - used, used)[:starts]
        for copies in range(1, used if replicate else min(2, used)):
            stage = _that_fit(last[copies - 1], fits, parts - used, copies)
            for start in range(starts):
                candidates = np.maximum(slowest[used - copies - 1, start, start:, None], stage[start:])
                chosen = candidates.argmin(axis=0)
                value = candidates[chosen, np.arange(cuts)]
                better = value < best[start]
                best[start, better] = value[better]
                cut[used - 1, start, better] = chosen[better] + start
                replicas[used - 1, start, better] = copies
    return Level(slowest, cut, replicas)


def _that_fit(times: Ranges, fits: Fits | None, behind: int, copies: int) -> Ranges:
    return times if fits is None else np.where(fits(behind, copies), times, np.inf)


def _fits(kept: Ranges, memory_bytes: float, parts: int) -> Fits | None:
    """Whether the versions of weights and activations that a stage keeps fit in its memory: one for its own, and one
    for every mini-batch that a replica has passed on and that has not come back.
    """
    if memory_bytes == np.inf:
        return None
    return lambda behind, copies: kept * (-(-behind // copies) + 1) <= memory_bytes


def _stages(problem: PipelineProblem, levels: list[Level]) -> list[Stage]:
    """The stages of the best pipeline of the top level, each cut further by the levels below."""
    pieces = [(0, len(problem.costs.cuts) - 1, 1)]
    for level in reversed(levels):
        finer = []
        for start, end, outer in pieces:
            parts = int(level.slowest[:, start, end].argmin()) + 1
            finer += [(first, last, outer * copies) for first, last, copies in level.stages(start, end, parts)]
        pieces = finer
    return [Stage(problem.costs.cuts.units_between(first, last), copies, copies) for first, last, copies in pieces]
