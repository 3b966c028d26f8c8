"""A step of stages on a cluster: how long the stages, transfers and all-reduces of a plan take, and what they hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.planning.pipelines.links import ClusterLinks
from hypar_exp.planning.pipelines.problem import PipelineProblem
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.simulation.operations import Kind, Schedule
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import Timeline, timeline


@dataclass(frozen=True, eq=False)
class ClusterStep:
    """A plan of stages on a cluster under a schedule.

    Replicas of a stage share every micro-batch, and add up their gradients once a step, with those of the other copies
    of the pipeline. Transfers go both ways at once and wait for nobody.

    Attributes:
        problem: the costs of stages, the cluster and the batch.
        plan: the stages, as long as the schedule has chunks.
        schedule: the order of the operations.
        overlap_gradients: whether gradients are added up while other stages compute.

    Raises:
        UserError: a plan that does not fit the cluster or the schedule.
    """

    problem: PipelineProblem
    plan: StagePlan
    schedule: Schedule
    overlap_gradients: bool = False

    @property
    def samples(self) -> float:
        """Of a micro-batch of one copy of the pipeline."""
        return self.problem.batch_size / (self.plan.micro_batches * self.plan.replicas)

    @cached_property
    def cuts(self) -> list[int]:
        """Where the plan is cut, from the first cut to the last: places among the costs' cuts.

        Raises:
            UserError: stages that are not what lies between two cuts.
        """
        inside = self.problem.costs.cuts.inside
        before = np.zeros(inside.shape[1], dtype=bool)
        places = [0]
        for stage in self.plan.stages:
            before[list(stage.layers)] = True
            match = np.flatnonzero((inside == before).all(axis=1))
            if not len(match):
                raise UserError("a stage of the plan reads what a later stage writes, or leaves a layer out between")
            places.append(int(match[0]))
        if not before.all():
            raise UserError("a layer is in none of the plan's stages")
        return places

    @cached_property
    def machines(self) -> list[NDArray[np.intp]]:
        """For each stage int[machines]: its accelerators over all copies; the next free ones where it does not say.

        Raises:
            UserError: the plan has more accelerators than the cluster.
        """
        cluster = self.problem.cluster
        free = np.full(cluster.machines, cluster.devices_per_machine, dtype=np.intp)
        placed = []
        for stage in self.plan.stages:
            devices = stage.devices * self.plan.replicas
            if stage.machines:
                chosen = np.array(stage.machines, dtype=np.intp)
            else:
                taken = np.minimum(np.cumsum(free), devices)
                chosen = np.diff(taken, prepend=0)
            free = free - chosen
            if (free < 0).any() or chosen.sum() != devices:
                raise UserError(
                    f"the plan needs {sum(other.devices for other in self.plan.stages) * self.plan.replicas} "
                    f"accelerators, and {cluster.machines} machines of {cluster.devices_per_machine} have "
                    f"{cluster.devices}"
                )
            placed.append(chosen)
        return placed

    @cached_property
    def times(self) -> StageTimes:
        """Of one micro-batch, by stage."""
        costs, links = self.problem.costs, ClusterLinks(self.problem.cluster)
        ends = list(pairwise(self.cuts))
        passes_s = [self.problem.passes_s(self.samples, stage.devices) for stage in self.plan.stages]
        forward, backward = np.array(
            [[seconds[end] for seconds in both] for both, end in zip(passes_s, ends, strict=True)]
        ).T
        crossing = costs.cut_bytes(self.samples)[self.cuts[1:-1]]
        sent = np.array(
            [
                float(links.transfer_s(before, after, np.array(nbytes)))
                for (before, after), nbytes in zip(pairwise(self.machines), crossing, strict=True)
            ]
        )
        weights = costs.weight_bytes()
        reduced = [
            float(links.all_reduce_s(on, np.array(weights[end]))) for on, end in zip(self.machines, ends, strict=True)
        ]
        return StageTimes(
            forward,
            backward / 2,
            backward / 2,
            recompute_s=np.array(
                [_again(stage, seconds) for stage, seconds in zip(self.plan.stages, forward, strict=True)]
            ),
            forward_boundary_s=sent,
            backward_boundary_s=sent,
            gradient_exchange_s=np.array(reduced),
        )

    @cached_property
    def timeline(self) -> Timeline:
        """When every stage computes, exchanges and waits.

        Raises:
            UserError: the schedule has another number of chunks than the plan has stages.
        """
        return timeline(
            self.schedule,
            self.devices,
            self.plan.micro_batches,
            self.times,
            overlap_gradients=self.overlap_gradients,
        )

    @property
    def devices(self) -> int:
        """Groups of accelerators that the schedule places the stages on.

        Raises:
            UserError: no number of them gives as many chunks as the plan has stages.
        """
        stages = len(self.plan.stages)
        for devices in range(stages, 0, -1):
            placement = self.schedule.placement(devices)
            if len({int(chunk) for chunks in placement for chunk in chunks}) == stages:
                return devices
        per_device = max(len(chunks) for chunks in self.schedule.placement(2))
        raise UserError(
            f"the schedule has {per_device} stages on each device, so a plan has a multiple of {per_device} stages "
            f"(got {stages})"
        )

    @cached_property
    def memory_bytes(self) -> NDArray[np.float64]:
        """float64[devices]: what one accelerator of each holds: weights, gradients, and activations that are alive."""
        costs, ends = self.problem.costs, list(pairwise(self.cuts))
        weights, activations = costs.weight_bytes(), costs.activation_bytes(self.samples)
        kept = np.array([activations[end] / stage.devices for stage, end in zip(self.plan.stages, ends, strict=True)])
        alive = self.timeline.activations_alive(kept)
        held = [
            sum(2 * float(weights[ends[chunk]]) for chunk in chunks) for chunks in self.schedule.placement(self.devices)
        ]
        return np.array(held) + alive


@dataclass(frozen=True)
class ClusterTimeline:
    """What plans take under a schedule, for planners that ask.

    Attributes:
        problem: what is planned, without its timeline.
        schedule, overlap_gradients: as of `ClusterStep`.
    """

    problem: PipelineProblem
    schedule: Schedule
    overlap_gradients: bool = False

    @property
    def returning_share(self) -> float:
        """Half of a backward pass where the schedule has the gradients of inputs apart, else all of it."""
        kinds = {int(kind) for order in self.schedule.orders(2, 4) for kind in order[:, 0]}
        return 0.5 if Kind.INPUT_GRADIENT in kinds else 1.0

    def step_time_s(self, plan: StagePlan) -> float:
        """Seconds of a step; infinity where an accelerator has too little memory, or the schedule cannot have it."""
        step = ClusterStep(self.problem, plan, self.schedule, self.overlap_gradients)
        try:
            seconds = step.timeline.step_time_s
        except UserError:
            return math.inf
        return seconds if step.memory_bytes.max() <= self.problem.cluster.memory_bytes else math.inf


def _again(stage: Stage, forward_s: float) -> float:
    """Seconds in which a stage computes activations again."""
    return forward_s if stage.recompute == "full" else 0.0
