"""The pipeline of the least step time on its timeline, proven, or with the proven distance where time runs out.

Plans are built stage after stage, the most promising first. A plan whose stages so far have forward, backward and
all-reduce times f, b, g and links c takes at least, for each stage s,

    sum of (f + c) before s  +  max( M (f_s + b_s) + g_s,  M (f_s + rho b_s) + E_s )
    E_s = max( (1 - rho) b_s + g_s,  c + rho b_{s-1} + E_{s-1} )

where rho b is what the stage before waits for (all of b, or the input's gradient): s begins when the first micro-batch
reaches it, and works on M of them; when the last one has gone back from s, its weight gradients are left to do there,
and it goes back to the first stage. What is left of the network takes at least as long as if the accelerators that are
left shared it evenly. Every plan below the best time found is followed, so that when none is left the best is proven to
be the best.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from dataclasses import dataclass, field

import numpy as np

from hypar_exp.checks import require_number
from hypar_exp.errors import UserError
from hypar_exp.planning.pipelines.balanced import Balanced
from hypar_exp.planning.pipelines.dapple import Dapple
from hypar_exp.planning.pipelines.links import ClusterLinks, Devices, placements
from hypar_exp.planning.pipelines.pipedream import PipeDream
from hypar_exp.planning.pipelines.problem import PipelinePlanner, PipelineProblem
from hypar_exp.planning.stages import Stage, StagePlan

ROUNDING = 1e-9
"""A plan has to be faster by this share to be better."""


@dataclass(frozen=True)
class ProvenPlan:
    """A plan, seconds of its step, and what no plan takes less than (the same where it is proven to be the best)."""

    plan: StagePlan
    step_time_s: float
    bound_s: float

    @property
    def excess(self) -> float:
        """At most so much slower than the best, as a part of the best."""
        return max(0.0, self.step_time_s / self.bound_s - 1) if self.bound_s > 0 else 0.0


@dataclass(frozen=True)
class Optimal:
    """The least step time on the timeline: stages, replicas, placements and copies of the pipeline.

    Attributes:
        time_limit_s: after which the best plan so far is taken, with the distance that is proven.
        first: planners whose plans are tried before any other, so that none of them is better.
    """

    time_limit_s: float = 10.0
    first: tuple[PipelinePlanner, ...] = field(default=(Dapple("exact"), PipeDream(), Balanced()), repr=False)

    def __post_init__(self) -> None:
        require_number("planner", self, "time_limit_s")

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages.

        Raises:
            UserError: see `prove`.
        """
        return self.prove(problem).plan

    def prove(self, problem: PipelineProblem) -> ProvenPlan:
        """The best plan found, and a bound below which there is none.

        Raises:
            UserError: nobody says what plans take, or no plan fits in the accelerators' memory.
        """
        if problem.timeline is None:
            raise UserError("planner optimal needs the timeline of a schedule to say what a plan takes")
        search = _Search(problem, time.monotonic() + self.time_limit_s)
        for planner in self.first:
            try:
                search.offer(planner.plan(problem))
            except UserError:  # it cannot plan this problem
                continue
        search.run()
        if search.best is None:
            raise UserError(
                f"no plan was found that fits in {problem.cluster.memory_bytes / 1e9:.4g} GB an accelerator; more "
                "micro_batches or machines leave each of them less to keep"
            )
        return ProvenPlan(search.best, search.best_s, min(search.bound_s, search.best_s))


@dataclass(frozen=True, eq=False)
class _Node:
    """Stages so far.

    Attributes:
        cut: where they end.
        used: int[machines], their accelerators.
        stages: (end cut, accelerators by machine) of each.
        ahead_s: until the first micro-batch leaves the last of them.
        behind_s: E of the last of them.
        returning_s: what the stage before the next one adds to E: rho b of the last.
        bound_s: of the stages so far.
    """

    cut: int
    used: Devices
    stages: tuple[tuple[int, Devices], ...]
    ahead_s: float
    behind_s: float
    returning_s: float
    bound_s: float


class _Search:
    """Best-first over partial plans of every number of copies."""

    def __init__(self, problem: PipelineProblem, deadline: float) -> None:
        assert problem.timeline is not None
        self._problem, self._timeline, self._deadline = problem, problem.timeline, deadline
        self.best: StagePlan | None = None
        self.best_s = math.inf
        self.bound_s = math.inf
        self._spaces = [
            _Space(problem, copies, problem.micro_batches // copies)
            for copies in range(1, problem.cluster.devices + 1)
            if problem.cluster.devices % copies == 0 and copies <= problem.micro_batches
        ]

    def offer(self, plan: StagePlan) -> None:
        """A whole plan that may be the best."""
        seconds = self._timeline.step_time_s(plan)
        if seconds < self.best_s * (1 - ROUNDING):
            self.best, self.best_s = plan, seconds

    def run(self) -> None:
        """Follow every partial plan that may be better than the best, until none is left or time is out."""
        ties = itertools.count()
        queue: list[tuple[float, int, _Space, _Node]] = []
        for space in self._spaces:
            heapq.heappush(queue, (space.least_s, next(ties), space, space.root()))
        while queue:
            bound_s, _, space, node = heapq.heappop(queue)
            if bound_s >= self.best_s * (1 - ROUNDING):
                self.bound_s = self.best_s
                return
            if time.monotonic() > self._deadline:
                self.bound_s = bound_s
                return
            for child_bound_s, child in space.children(node, self.best_s * (1 - ROUNDING)):
                if child.cut == space.last:
                    self.offer(space.plan(child))
                elif child_bound_s < self.best_s * (1 - ROUNDING):
                    heapq.heappush(queue, (child_bound_s, next(ties), space, child))
        self.bound_s = self.best_s


class _Space:
    """The partial plans of one number of copies of the pipeline."""

    def __init__(self, problem: PipelineProblem, copies: int, micro_batches: int) -> None:
        costs, self._cluster = problem.costs, problem.cluster
        assert problem.timeline is not None
        self._costs, self._copies, self._micro_batches = costs, copies, micro_batches
        self._share = problem.timeline.returning_share
        self._links = ClusterLinks(problem.cluster)
        self._samples = problem.batch_size / (copies * micro_batches)
        self._cut_bytes, self._weights = costs.cut_bytes(self._samples), costs.weight_bytes()
        self._activations = costs.activation_bytes(self._samples)
        self._reach = costs.cuts.below
        self.last = len(costs.cuts) - 1
        self._problem = problem
        self._all = np.full(problem.cluster.machines, problem.cluster.devices_per_machine, np.intp)
        forward, backward = problem.passes_s(self._samples, 1)
        self._rest_s = forward[:, self.last] + backward[:, self.last]  # of what lies behind each cut, on one
        self._rest_s[self.last] = 0.0
        self.least_s = micro_batches * float(self._rest_s[0]) / (problem.cluster.devices // copies)

    def root(self) -> _Node:
        """No stage yet."""
        return _Node(0, np.zeros_like(self._all), (), 0.0, 0.0, 0.0, 0.0)

    def children(self, node: _Node, below_s: float) -> list[tuple[float, _Node]]:
        """The partial plans with one stage more, whose bounds are below a time: (bound of the whole plan, plan)."""
        free = self._all - node.used
        found = []
        for wanted in range(self._copies, int(free.sum()) + 1, self._copies):
            for chosen in placements(free, self._cluster.devices_per_machine, wanted):
                found += self._on(node, chosen, wanted // self._copies, int(free.sum()) - wanted, below_s)
        return found

    def _on(self, node: _Node, chosen: Devices, replicas: int, left: int, below_s: float) -> list[tuple[float, _Node]]:
        """Those whose next stage is on some accelerators, for all its ends at once."""
        ends = np.flatnonzero(self._reach[node.cut])
        if not left:
            ends = ends[ends == self.last]
        forward, backward = (seconds[node.cut, ends] for seconds in self._problem.passes_s(self._samples, replicas))
        kept = 2 * self._weights[node.cut, ends] + self._activations[node.cut, ends] / replicas
        link_s = 0.0
        if node.stages:
            before = node.stages[-1][1]
            link_s = float(self._links.transfer_s(before, chosen, self._cut_bytes[node.cut : node.cut + 1])[0])
        reduced = self._links.all_reduce_s(chosen, self._weights[node.cut, ends])
        arrives = node.ahead_s + link_s
        returning = self._share * backward
        back_s = link_s + node.returning_s + node.behind_s if node.stages else 0.0
        behind = np.maximum(backward - returning + reduced, back_s)
        works = np.maximum(
            self._micro_batches * (forward + backward) + reduced, self._micro_batches * (forward + returning) + behind
        )
        bound = np.maximum(node.bound_s, arrives + works)
        ahead = arrives + forward
        rest = self._rest_s[ends] * self._micro_batches * self._copies / max(left, 1)
        whole = np.where(ends == self.last, bound, np.maximum(bound, ahead + rest))
        fits = kept <= self._cluster.memory_bytes
        return [
            (
                float(whole[at]),
                _Node(
                    int(ends[at]),
                    node.used + chosen,
                    (*node.stages, (int(ends[at]), chosen)),
                    float(ahead[at]),
                    float(behind[at]),
                    float(returning[at]),
                    float(bound[at]),
                ),
            )
            for at in np.flatnonzero(fits & (whole < below_s))
        ]

    def plan(self, node: _Node) -> StagePlan:
        """The whole plan."""
        cuts = self._costs.cuts
        stages, start = [], 0
        for end, devices in node.stages:
            count = int(devices.sum()) // self._copies
            stages.append(Stage(cuts.units_between(start, end), count, count, machines=tuple(devices.tolist())))
            start = end
        return StagePlan(tuple(stages), self._micro_batches, self._copies)
