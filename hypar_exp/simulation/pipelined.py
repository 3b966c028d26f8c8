"""A step in stages: what each takes and exchanges, put on a timeline by a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks import Edge
from hypar_exp.planning import Plan, Split
from hypar_exp.simulation.accounting import PHASES
from hypar_exp.simulation.contention import Media
from hypar_exp.simulation.cost_model import CostModel
from hypar_exp.simulation.energy import StepEnergy, step_energy
from hypar_exp.simulation.memory import LeafMemory
from hypar_exp.simulation.operations import Schedule
from hypar_exp.simulation.report import PipelineReport, StepReport
from hypar_exp.simulation.stage_memory import StageMemory, kept_by_stage, memory_of_device
from hypar_exp.simulation.stage_model import StageModel
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import BoundaryRule, Timeline, timeline


def pipelined_report(
    model: CostModel, plan: Plan, schedule: Schedule, *, overlap_gradients: bool = False
) -> StepReport:
    """One step of a plan with stages.

    Args:
        model: what the step costs.
        plan: the stages, their splits, and the micro-batches that pass through them.
        schedule: the order in which the accelerators of a stage run their operations.
        overlap_gradients: a stage exchanges its weight gradients while others still compute.

    Raises:
        UserError: a plan of another shape, an array of several kinds, a schedule that does not fit the plan or that
            needs several stages on the same accelerators.
    """
    plan = plan.checked(model.array.levels, len(model.network.layers))
    return Pipeline(model, plan, schedule, overlap_gradients).report()


@dataclass(frozen=True, eq=False)
class Boundary:
    """A cut between a stage and the one before it.

    Attributes:
        level: of the array, at which it is cut.
        pairs: groups that are cut there.
        elements: float64[layers], what each layer behind it reads across, of one micro-batch, one way.
        seconds: of sending that one way.
    """

    level: int
    pairs: int
    elements: NDArray[np.float64]
    seconds: float


@dataclass(frozen=True, eq=False)
class Pipeline:
    """The parts of such a step; see `pipelined_report`."""

    model: CostModel
    plan: Plan
    schedule: Schedule
    overlap_gradients: bool

    @cached_property
    def stages(self) -> list[StageModel]:
        return [StageModel(self.model, stage, self.plan.micro_batches) for stage in self.plan.stages()]

    @cached_property
    def boundaries(self) -> list[Boundary]:
        """One before each stage but the first; what jumps over stages is sent over the last of them."""
        of_stage = np.repeat(np.arange(len(self.stages)), [len(stage.stage.layers) for stage in self.stages])
        crossing: list[list[Edge]] = [[] for _ in self.stages]
        for edge in self.model.network.edges:
            if of_stage[edge.producer] != of_stage[edge.consumer]:
                crossing[of_stage[edge.consumer]].append(edge)
        return [
            self._boundary(place, level, edges)
            for place, (level, edges) in enumerate(zip(self.plan.cut_levels(), crossing[1:], strict=True), 1)
        ]

    def _boundary(self, place: int, level: int, edges: Sequence[Edge]) -> Boundary:
        before, after = self.stages[place - 1].stage, self.stages[place].stage
        elements = np.zeros(len(self.model.network.layers))
        for edge in edges:
            # where a consumer's output channels are split, each part reads the whole tensor
            copies = 2 ** int((self.plan.choices[:, edge.consumer] == Split.OP).sum())
            elements[edge.consumer] += self.samples * edge.elements * copies * self._activation_size
        pairs = 2 ** sum(split_level < level for split_level in after.levels)
        senders = min(before.devices, after.devices) // pairs
        sent_bytes = float(elements.sum()) * self.model.hardware.element_bytes
        links = self.model.kinds[0].links
        return Boundary(level, pairs, elements, links.boundary_s(level, sent_bytes, pairs, senders))

    @property
    def _activation_size(self) -> float:
        """Of a feature or an error, in elements of the hardware's size."""
        _, _, activation = self.model.kinds[0].sizes
        return activation / self.model.hardware.element_bytes

    @property
    def samples(self) -> float:
        """Of a micro-batch."""
        return self.model.batch_size / self.plan.micro_batches

    @cached_property
    def times(self) -> StageTimes:
        """Of one micro-batch, by stage."""
        durations = {
            phase: np.array([stage.duration_s(phase) for stage in self.stages]).T for phase in PHASES
        }  # phase -> float64[compute and exchange, stages]
        again = np.array([stage.recompute_s for stage in self.stages]).T
        sent = np.array([boundary.seconds for boundary in self.boundaries])
        _, gradient_exchange = durations["gradient"]
        return StageTimes(
            forward_s=durations["forward"].sum(axis=0),
            input_gradient_s=durations["backward"].sum(axis=0),
            weight_gradient_s=durations["gradient"][0],
            recompute_s=again.sum(axis=0),
            forward_boundary_s=sent,
            backward_boundary_s=sent * (not self.model.accounting.forward_only),
            gradient_exchange_s=gradient_exchange + self._between_copies_s,
            forward_exchange_s=durations["forward"][1],
            input_gradient_exchange_s=durations["backward"][1],
            recompute_exchange_s=again[1],
        )

    @property
    def _between_copies_s(self) -> NDArray[np.float64]:
        """float64[stages]: what adding up the gradients of weights takes that two devices hold, as in Chimera."""
        seconds = np.zeros(len(self.stages))
        for chunk, devices in self._holders.items():
            if len(devices) > 1:
                level = min(self.plan.cut_levels()[devices[0] : devices[1]])
                stage = self.stages[chunk]
                _, gradient_bytes, _ = self.model.kinds[0].sizes
                sent_bytes = 2 * float(stage.costs.model.network.weights.sum()) * gradient_bytes
                links, pairs = self.model.kinds[0].links, 2 ** sum(at < level for at in stage.stage.levels)
                seconds[chunk] = links.boundary_s(level, sent_bytes, pairs, stage.stage.devices // pairs)
        return seconds

    @cached_property
    def _holders(self) -> dict[int, list[int]]:
        """Chunk -> the devices that hold it.

        Raises:
            UserError: the schedule has more chunks than the plan has stages.
        """
        devices = len(self.stages)
        holders: dict[int, list[int]] = {}
        for device, chunks in enumerate(self.schedule.placement(devices)):
            for chunk in chunks:
                holders.setdefault(int(chunk), []).append(device)
        if len(holders) != devices:
            raise UserError(
                f"schedule {type(self.schedule).__name__} has {len(holders) // devices} stages on each device, and on "
                f"array={self.model.array.name} every stage has accelerators of its own; workload=cluster has both"
            )
        return holders

    @cached_property
    def timeline(self) -> Timeline:
        _ = self._holders
        return timeline(
            self.schedule,
            len(self.stages),
            self.plan.micro_batches,
            self.times,
            boundaries=self._media,
            overlap_gradients=self.overlap_gradients,
        )

    @property
    def _media(self) -> BoundaryRule | Media:
        stages = len(self.stages)
        medium = self.model.kinds[0].links.medium
        if medium == "stages":
            return Media(boundary=np.arange(stages, 2 * stages - 1), inside=np.arange(stages))
        return "shared" if medium == "one" else "latency"

    def report(self) -> StepReport:
        """What the step comes to."""
        memory = self._memory()
        held_bytes = np.array([device.total_bytes for device in memory])
        fullest = int(np.argmax(held_bytes))
        exchanging_s = self._communication_time_s()
        return StepReport(
            batch_size=self.model.batch_size,
            accelerators=self.model.accelerators,
            mac_time_s=self.plan.micro_batches
            * self._joined([stage.costs.arithmetic_time_s(stage.leaf) for stage in self.stages]),
            dram_time_s=self.plan.micro_batches
            * self._joined([stage.costs.dram_time_s(stage.leaf) for stage in self.stages]),
            communication_bytes_by_level_and_layer=self._communication_bytes(),
            communication_time_s_by_level=exchanging_s,
            energy=self._energy(),
            memory=memory[fullest],
            fits_in_memory=memory[fullest].total_bytes <= self.model.hardware.dram_capacity_bytes,
            pipeline=PipelineReport(
                timeline=self.timeline,
                stages=tuple(stage.stage for stage in self.stages),
                micro_batches=self.plan.micro_batches,
                memory_by_device_bytes=held_bytes,
                exchanged_s=float(exchanging_s.sum()),
            ),
        )

    @staticmethod
    def _joined(by_stage: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate(by_stage)

    def _memory(self) -> list[LeafMemory]:
        """What an accelerator of each device holds."""
        stages = [StageMemory.of(stage) for stage in self.stages]
        alive_bytes = self.timeline.activations_alive(kept_by_stage(stages))
        return [
            memory_of_device([stages[chunk] for chunk in chunks], float(alive_bytes[device]))
            for device, chunks in enumerate(self.schedule.placement(len(stages)))
        ]

    @property
    def _ways(self) -> int:
        """How often a step crosses a boundary: forward, and back again in training."""
        return self.plan.micro_batches * (1 if self.model.accounting.forward_only else 2)

    def _communication_bytes(self) -> NDArray[np.float64]:
        """float64[levels, layers], of a step."""
        elements = np.zeros((self.model.array.levels, len(self.model.network.layers)))
        for stage in self.stages:
            elements[np.ix_(stage.stage.levels, stage.stage.layers)] += stage.exchanged_in_step
        for boundary in self.boundaries:
            elements[boundary.level] += self._ways * boundary.elements
        return elements * self.model.hardware.element_bytes

    def _communication_time_s(self) -> NDArray[np.float64]:
        """float64[levels]: seconds of all exchanges of a level, whatever goes on at the same time."""
        seconds = np.zeros(self.model.array.levels)
        for stage in self.stages:
            seconds[list(stage.stage.levels)] += stage.exchange_of_step_s
        for boundary in self.boundaries:
            seconds[boundary.level] += self._ways * boundary.seconds
        return seconds

    def _energy(self) -> StepEnergy:
        of_stages = [stage.energy_of_step() for stage in self.stages]
        parts = {
            name: self._joined([getattr(energy, name) for energy in of_stages])
            for name in ("mac_j", "sram_j", "dram_j", "communication_j")
        }
        hops = self.model.kinds[0].energy_hops
        crossed = sum(
            (self._ways * hops[boundary.level] * boundary.elements for boundary in self.boundaries),
            np.zeros(len(self.model.network.layers)),
        )
        none = np.zeros_like(crossed)
        sent = step_energy(none, none, crossed, self.model.hardware, self.model.accounting)
        parts["communication_j"] = parts["communication_j"] + sent.communication_j
        return StepEnergy(**parts)
