"""What a planner of pipelines may look at: the stages' costs, the cluster, and the step's batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from hypar_exp.checks import require_number, require_whole
from hypar_exp.planning.pipelines.stage_costs import Ranges, StageCosts
from hypar_exp.planning.stages import StagePlan


@dataclass(frozen=True)
class Cluster:
    """A flat array: machines with equal accelerators, one rate inside a machine and one across.

    Attributes:
        machines, devices_per_machine: how many.
        inside_bytes_per_s, across_bytes_per_s: from one accelerator to another, in a machine and between two.
        inside_all_reduce_bytes_per_s, across_all_reduce_bytes_per_s: of each accelerator in an all-reduce; the rate
            from one to another where it is 0.
        memory_bytes: of an accelerator.

    Raises:
        UserError: a count or a rate that cannot be.
    """

    machines: int = 1
    devices_per_machine: int = 1
    inside_bytes_per_s: float = 25e9
    across_bytes_per_s: float = 1e9
    inside_all_reduce_bytes_per_s: float = 0.0
    across_all_reduce_bytes_per_s: float = 0.0
    memory_bytes: float = math.inf

    def __post_init__(self) -> None:
        require_whole("array", "machines", self.machines, least=1)
        require_whole("array", "devices_per_machine", self.devices_per_machine, least=1)
        require_number("array", self, "inside_bytes_per_s", "across_bytes_per_s")
        require_number("array", self, "inside_all_reduce_bytes_per_s", "across_all_reduce_bytes_per_s", above=None)
        if self.memory_bytes != math.inf:
            require_number("array", self, "memory_bytes")

    @property
    def devices(self) -> int:
        """Accelerators of all machines."""
        return self.machines * self.devices_per_machine

    def point_to_point_bytes_per_s(self, *, across: bool) -> float:
        """From one accelerator to another, across machines or inside one."""
        return self.across_bytes_per_s if across else self.inside_bytes_per_s

    def all_reduce_bytes_per_s(self, *, across: bool) -> float:
        """Of each accelerator in an all-reduce, across machines or inside one."""
        rate = self.across_all_reduce_bytes_per_s if across else self.inside_all_reduce_bytes_per_s
        return rate or self.point_to_point_bytes_per_s(across=across)


class PlanTimeline(Protocol):
    """Costs whole plans as they run; the simulator answers."""

    @property
    def returning_share(self) -> float:
        """What part of a stage's backward pass the stage before it waits for: all, or that of the input's gradient."""

    def step_time_s(self, plan: StagePlan) -> float:
        """Seconds of a step; infinity where an accelerator has too little memory."""


@dataclass(frozen=True, eq=False)
class PipelineProblem:
    """Stages to be found.

    Attributes:
        costs: of every possible stage.
        cluster: the accelerators.
        batch_size: samples of a step.
        micro_batches: parts of the batch that pass through the pipeline one after the other.
        timeline: what a plan takes under the run's schedule; None where nobody asks.

    Raises:
        UserError: no samples, or no micro-batches.
    """

    costs: StageCosts
    cluster: Cluster
    batch_size: int
    micro_batches: int = 1
    timeline: PlanTimeline | None = None

    def __post_init__(self) -> None:
        require_whole("", "batch_size", self.batch_size, least=1)
        require_whole("workload", "micro_batches", self.micro_batches, least=1)

    @property
    def samples(self) -> float:
        """Of one micro-batch; not always whole."""
        return self.batch_size / self.micro_batches

    def passes_s(self, samples: float, devices: int) -> tuple[Ranges, Ranges]:
        """Seconds of the forward and the backward pass of every stage, made once for many plans."""
        key = samples, devices
        if key not in self._passes_s:
            self._passes_s[key] = self.costs.forward_s(samples, devices), self.costs.backward_s(samples, devices)
        return self._passes_s[key]

    @cached_property
    def _passes_s(self) -> dict[tuple[float, int], tuple[Ranges, Ranges]]:
        return {}


class PipelinePlanner(Protocol):
    """Decides the stages."""

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages.

        Raises:
            UserError: there is no such plan, or none that fits in memory.
        """


def least_sufficient(fits: Callable[[float], bool], candidates: Sequence[float]) -> float:
    """The least of ascending `candidates` that fits, where the last one does."""
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(candidates[middle]) else (middle + 1, high)
    return candidates[low]
