"""Stages of equal work, one accelerator each: the exact least slowest stage, and GPipe's parts of equal size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.planning.pipelines.problem import PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import Ranges
from hypar_exp.planning.stages import Stage, StagePlan


@dataclass(frozen=True)
class Balanced:
    """As many stages as there are accelerators, or fewer, so that the slowest stage or link is as fast as can be.

    Exact, by dynamic programming over (cut, stages). Among equals it takes the fewest stages.

    Attributes:
        links: whether a cut, forward and back over the slowest link of the cluster, counts as a stage of its own does.
    """

    links: bool = True

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages; one accelerator each."""
        costs = problem.costs
        stage_s = costs.forward_s(problem.samples) + costs.backward_s(problem.samples)
        rate = problem.cluster.point_to_point_bytes_per_s(across=problem.cluster.machines > 1)
        link_s = 2 * costs.cut_bytes(problem.samples) / rate if self.links else np.zeros(len(costs.cuts))
        slowest, cuts = least_slowest(stage_s, link_s, problem.cluster.devices)
        stages = int(np.argmin(slowest)) + 1
        return _plan(problem, cuts[stages - 1])


@dataclass(frozen=True)
class GPipe:
    """As many stages as there are accelerators, the largest as small as can be, by weights or by time.

    torchgpipe's `balance_by_size` and `balance_by_time` look for the same with a heuristic; this is exact.
    """

    by: Literal["parameters", "time"] = "time"

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages; one accelerator each.

        Raises:
            UserError: there are more accelerators than units, or `by` is neither parameters nor time.
        """
        costs = problem.costs
        if self.by not in ("parameters", "time"):
            raise UserError(f"planner.by must be parameters or time (got '{self.by}')")
        if self.by == "time":
            size = costs.forward_s(problem.samples) + costs.backward_s(problem.samples)
        else:
            size = costs.weight_bytes()
        devices, units = problem.cluster.devices, costs.cuts.inside.shape[1]
        if devices > units:
            raise UserError(f"gpipe makes a stage for each of the {devices} accelerators, but there are {units} layers")
        _, cuts = least_slowest(size, np.zeros(len(costs.cuts)), devices)
        return _plan(problem, cuts[devices - 1])


def least_slowest(
    stages: Ranges, links: NDArray[np.float64], most: int
) -> tuple[NDArray[np.float64], list[tuple[int, ...]]]:
    """The least slowest part for every number of stages, and where it is cut.

    Args:
        stages: what each stage takes.
        links: float64[cuts], what each cut takes.
        most: stages at most.

    Returns:
        float64[most]: of 1, 2, ... stages, infinity where there are not so many; and the cuts from first to last.
    """
    last = len(stages) - 1
    guarded = np.maximum(stages, np.concatenate([[0.0], links[1:]])[:, None])
    reached = stages[0]
    slowest, choices = [reached[last]], [np.zeros(last + 1, np.intp)]
    for _ in range(1, most):
        worse = np.maximum(reached[:, None], guarded)
        choices.append(worse.argmin(axis=0))
        reached = worse[choices[-1], np.arange(last + 1)]
        slowest.append(reached[last])
    paths = []
    for number in range(most):
        path = [last]
        for choice in reversed(choices[: number + 1]):
            path.append(int(choice[path[-1]]))
        paths.append(tuple(reversed(path)))
    return np.array(slowest), paths


def _plan(problem: PipelineProblem, cuts: tuple[int, ...]) -> StagePlan:
    stages = (Stage(problem.costs.cuts.units_between(*ends)) for ends in pairwise(cuts))
    return StagePlan(tuple(stages), problem.micro_batches)
