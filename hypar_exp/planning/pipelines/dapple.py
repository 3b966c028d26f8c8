"""DAPPLE's planner (Fan et al., PPoPP 2021, section 4): stages, replicas that share each micro-batch, and machines.

The first units are cut into stages one after the other; the rest is one last stage on all accelerators that are left.
Of all ways to cut the first k units onto the same accelerators only the best whole plan is followed (the paper's
T_PL(j, m, g)). All plans of two stages are looked at, as is every number of copies of the whole pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.planning.pipelines.links import ClusterLinks, Devices, Links, placements
from hypar_exp.planning.pipelines.problem import Cluster, PipelineProblem
from hypar_exp.planning.pipelines.synchronous import Latency, exact_length, pivot_latency
from hypar_exp.planning.stages import Stage, StagePlan

WORTH_KEEPING = 1.25
"""Plans that the estimate finds longer than the best by more than this are forgotten."""
RESCORED = 32
"""Plans whose exact length is looked at: the best by the pivot's latency."""


@dataclass(frozen=True)
class PlacedStage:
    """A stage of a plan: its cuts, and how many of its accelerators each machine has (over all copies)."""

    start: int
    end: int
    devices: tuple[int, ...]

    def on_machines(self, order: list[int]) -> PlacedStage:
        """The same stage where the machines are counted in another order."""
        return PlacedStage(self.start, self.end, tuple(self.devices[machine] for machine in order))


@dataclass(frozen=True, eq=False)
class PlacedPlan:
    """Stages on machines.

    Attributes:
        stages: in order.
        copies: of the whole pipeline.
        micro_batches: of one copy.
        latency_s: of a step, as it was scored.
        forward_s, backward_s, all_reduce_s: float64[2 stages - 1], of the stages and the links between them.
    """

    stages: tuple[PlacedStage, ...]
    copies: int
    micro_batches: int
    latency_s: float
    forward_s: NDArray[np.float64]
    backward_s: NDArray[np.float64]
    all_reduce_s: NDArray[np.float64]

    def exact_length_s(self) -> float:
        """Seconds of a step, exactly."""
        parts = (self.forward_s.tolist(), self.backward_s.tolist(), self.all_reduce_s.tolist())
        return exact_length(*parts, self.micro_batches)


@dataclass(frozen=True)
class Dapple:
    """The synchronous pipeline of the least latency.

    Attributes:
        score: `pivot`, the paper's estimate, or `exact`, the exact length of the best few by that estimate.
        latency: the estimate that the search goes by.
        links: what exchanges take on a cluster.
    """

    score: Literal["pivot", "exact"] = "pivot"
    latency: Latency = field(default=pivot_latency, repr=False)
    links: Callable[[Cluster], Links] = field(default=ClusterLinks, repr=False)

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages; replicas share each micro-batch.

        Raises:
            UserError: `score` is neither pivot nor exact.
        """
        if self.score not in ("pivot", "exact"):
            raise UserError(f"planner.score must be pivot or exact (got '{self.score}')")
        plans = self.search(problem)
        best = min(plans[:RESCORED], key=PlacedPlan.exact_length_s) if self.score == "exact" else plans[0]
        devices = [sum(stage.devices) // best.copies for stage in best.stages]
        units = [problem.costs.cuts.units_between(stage.start, stage.end) for stage in best.stages]
        stages = (
            Stage(layers, count, count, machines=placed.devices)
            for layers, count, placed in zip(units, devices, best.stages, strict=True)
        )
        return StagePlan(tuple(stages), best.micro_batches, best.copies)

    def search(self, problem: PipelineProblem) -> list[PlacedPlan]:
        """The best plans found for every number of copies and every first part, the best first."""
        devices = problem.cluster.devices
        copies = [count for count in range(1, devices + 1) if devices % count == 0]
        plans = [
            plan
            for count in copies
            if count <= problem.micro_batches
            for plan in _Search(problem, count, self.latency, self.links(problem.cluster)).plans()
        ]
        return sorted(plans, key=lambda plan: (plan.latency_s, len(plan.stages)))


@dataclass(eq=False)
class _Front:
    """The best plan of the first units up to every cut on the same accelerators.

    Attributes:
        latency_s: float64[cuts], of the whole plan, infinity where there is none.
        forward_s, backward_s, all_reduce_s: float64[cuts, parts], of stages and links so far.
        last: int[cuts, machines], accelerators of the last stage so far.
        stages: the stages so far.
    """

    latency_s: NDArray[np.float64]
    forward_s: NDArray[np.float64]
    backward_s: NDArray[np.float64]
    all_reduce_s: NDArray[np.float64]
    last: Devices
    stages: list[tuple[PlacedStage, ...]]


class _Search:
    """All plans of one number of copies."""

    def __init__(self, problem: PipelineProblem, copies: int, latency: Latency, links: Links) -> None:
        costs, cluster = problem.costs, problem.cluster
        self._copies, self._latency, self._links = copies, latency, links
        self._micro_batches = problem.micro_batches // copies
        samples = problem.batch_size / (copies * self._micro_batches)
        self._forward_s, self._backward_s = costs.forward_s(samples), costs.backward_s(samples)
        self._weight_bytes, self._cut_bytes = costs.weight_bytes(), costs.cut_bytes(samples)
        self._reach = costs.cuts.below
        self._cuts = len(costs.cuts)
        self._per_machine = cluster.devices_per_machine
        self._all = np.full(cluster.machines, cluster.devices_per_machine, np.intp)
        self._fronts: dict[tuple[int, ...], _Front] = {}
        self._plans: list[PlacedPlan] = []
        self._least_s = np.inf

    def plans(self) -> list[PlacedPlan]:
        """The best whole plan through every first part, and that of one stage."""
        self._one_stage()
        machines = len(self._all)
        self._front_of((0,) * machines).latency_s[0] = 0.0
        while self._fronts:
            used = min(self._fronts, key=sum)
            self._extend(np.array(used), self._fronts.pop(used))
        return self._plans

    def _one_stage(self) -> None:
        stage_s = [times[0, -1:] / (self._all.sum() // self._copies) for times in (self._forward_s, self._backward_s)]
        exchange_s = self._links.all_reduce_s(self._all, self._weight_bytes[0, -1:])
        latency_s = float(self._latency(stage_s[0], stage_s[1], exchange_s, self._micro_batches))
        self._least_s = latency_s
        stages = (PlacedStage(0, self._cuts - 1, tuple(self._all.tolist())),)
        self._plans.append(
            PlacedPlan(stages, self._copies, self._micro_batches, latency_s, stage_s[0], stage_s[1], exchange_s)
        )

    def _extend(self, used: Devices, front: _Front) -> None:
        """One more stage behind the plans of a front, on every number and placement of its accelerators."""
        starts = np.flatnonzero(np.isfinite(front.latency_s))
        free = self._all - used
        for wanted in range(self._copies, int(free.sum()), self._copies):
            for chosen in placements(free, self._per_machine, wanted):
                self._stage_on(chosen, free - chosen, front, starts)

    def _stage_on(self, chosen: Devices, rest: Devices, front: _Front, starts: NDArray[np.intp]) -> None:
        """The next stage on `chosen`, and the last on `rest`, for all starts and ends of it at once."""
        cuts, links = self._cuts, self._links
        pairs = self._reach[starts, : cuts - 1]
        rows, ends = np.nonzero(pairs)
        if not len(rows):
            return
        begins = starts[rows]
        arriving = links.transfer_s(front.last[begins], chosen, self._cut_bytes[begins])
        leaving = links.transfer_s(chosen, rest, self._cut_bytes[ends])
        replicas, last_replicas = int(chosen.sum()) // self._copies, int(rest.sum()) // self._copies
        zeros = np.zeros_like(arriving)

        def parts(so_far: NDArray[np.float64], *more: NDArray[np.float64]) -> NDArray[np.float64]:
            behind = list(more) if so_far.shape[1] else list(more[1:])
            return np.column_stack([so_far[begins], *behind])

        def stage_parts(so_far: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
            return parts(so_far, arriving, times[begins, ends] / replicas, leaving, times[ends, -1] / last_replicas)

        forward_s = stage_parts(front.forward_s, self._forward_s)
        backward_s = stage_parts(front.backward_s, self._backward_s)
        exchange_s = links.all_reduce_s(chosen, self._weight_bytes[begins, ends])
        last_exchange_s = links.all_reduce_s(rest, self._weight_bytes[ends, -1])
        all_reduce_s = parts(front.all_reduce_s, zeros, exchange_s, zeros, last_exchange_s)
        latency_s = self._latency(forward_s, backward_s, all_reduce_s, self._micro_batches)
        order = np.lexsort((latency_s, ends))
        best = order[np.flatnonzero(np.diff(ends[order], prepend=-1))]
        self._keep(best, begins, ends, (forward_s, backward_s, all_reduce_s, latency_s), chosen, rest, front)

    def _keep(
        self,
        best: NDArray[np.intp],
        begins: NDArray[np.intp],
        ends: NDArray[np.intp],
        times: tuple[NDArray[np.float64], ...],
        chosen: Devices,
        rest: Devices,
        front: _Front,
    ) -> None:
        """Put the best plan to each cut into the front of its accelerators, where it is better than those there."""
        forward_s, backward_s, all_reduce_s, latency_s = times
        fullest_first = np.argsort(rest, kind="stable")  # machines are alike: only how full they are makes a front
        rest = rest[fullest_first]
        target = self._front_of(tuple((self._all - rest).tolist()))
        width = forward_s.shape[1] - 2
        for index in best[latency_s[best] < target.latency_s[ends[best]]]:
            end = ends[index]
            _widen(target, width)
            target.latency_s[end] = latency_s[index]
            for rows, values in zip(
                (target.forward_s, target.backward_s, target.all_reduce_s),
                (forward_s, backward_s, all_reduce_s),
                strict=True,
            ):
                rows[end] = 0.0
                rows[end, rows.shape[1] - width :] = values[index, :width]
            target.last[end] = chosen[fullest_first]
            stages = (*front.stages[begins[index]], PlacedStage(int(begins[index]), int(end), tuple(chosen.tolist())))
            target.stages[end] = tuple(stage.on_machines(fullest_first.tolist()) for stage in stages)
            if latency_s[index] < WORTH_KEEPING * self._least_s:
                self._least_s = min(self._least_s, float(latency_s[index]))
                self._plans.append(self._whole(target.stages[end], rest, times, int(index)))

    def _whole(
        self, stages: tuple[PlacedStage, ...], rest: Devices, times: tuple[NDArray[np.float64], ...], index: int
    ) -> PlacedPlan:
        whole = (*stages, PlacedStage(stages[-1].end, self._cuts - 1, tuple(rest.tolist())))
        parts = 2 * len(whole) - 1
        forward_s, backward_s, all_reduce_s = (values[index, -parts:] for values in times[:3])
        latency_s = float(times[3][index])
        return PlacedPlan(whole, self._copies, self._micro_batches, latency_s, forward_s, backward_s, all_reduce_s)

    def _front_of(self, used: tuple[int, ...]) -> _Front:
        if used not in self._fronts:
            cuts, rows = self._cuts, np.zeros((self._cuts, 0))
            last = np.zeros((cuts, len(used)), np.intp)
            self._fronts[used] = _Front(np.full(cuts, np.inf), rows, rows, rows, last, [()] * cuts)
        return self._fronts[used]


def _widen(front: _Front, width: int) -> None:
    """Make room for plans of more stages: those of fewer begin with stages that take no time."""
    missing = width - front.forward_s.shape[1]
    if missing > 0:
        for name in ("forward_s", "backward_s", "all_reduce_s"):
            setattr(front, name, np.pad(getattr(front, name), ((0, 0), (missing, 0))))
