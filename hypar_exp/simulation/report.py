"""What a simulated step comes to: every number with its unit, totals as sums of their parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning import Stage
from hypar_exp.simulation.energy import StepEnergy
from hypar_exp.simulation.memory import LeafMemory
from hypar_exp.simulation.time import compute_time_s

if TYPE_CHECKING:
    from hypar_exp.simulation.timeline import Timeline


@dataclass(frozen=True)
class StepReport:
    """One step of one network under one plan on one array.

    Attributes:
        batch_size: samples a step.
        accelerators: N = 2^levels.
        mac_time_s: float64[layers], all phases, the array's processing elements at their sustained rate.
        dram_time_s: float64[layers], all phases, one accelerator's DRAM traffic.
        communication_bytes_by_level_and_layer: float64[levels, layers], all pairs of a level together; what an edge
            carries counts for its consumer.
        communication_time_s_by_level: float64[levels].
        energy: joules by part and layer.
        memory: bytes that one accelerator holds.
        fits_in_memory: whether that is at most its DRAM's capacity.
        pipeline: what happens when, where the step has a timeline; its time is the step's then.
    """

    batch_size: float
    accelerators: int
    mac_time_s: NDArray[np.float64]
    dram_time_s: NDArray[np.float64]
    communication_bytes_by_level_and_layer: NDArray[np.float64]
    communication_time_s_by_level: NDArray[np.float64]
    energy: StepEnergy
    memory: LeafMemory
    fits_in_memory: bool
    pipeline: PipelineReport | None = None

    @property
    def compute_time_s_by_layer(self) -> NDArray[np.float64]:
        """float64[layers], under the DRAM roofline."""
        return compute_time_s(self.mac_time_s, self.dram_time_s)

    @property
    def dram_bound_layers(self) -> NDArray[np.bool_]:
        """bool[layers]: whether DRAM, not arithmetic, sets the layer's compute time."""
        return self.dram_time_s > self.mac_time_s

    @property
    def compute_time_s(self) -> float:
        """Of all layers, one after the other; with a timeline of those on the critical path."""
        if self.pipeline is not None:
            return self.pipeline.critical_s["compute"]
        return float(self.compute_time_s_by_layer.sum())

    @property
    def communication_time_s(self) -> float:
        """Of all levels, one after the other; with a timeline what is on the critical path besides compute."""
        if self.pipeline is not None:
            return sum(seconds for part, seconds in self.pipeline.critical_s.items() if part != "compute")
        return float(self.communication_time_s_by_level.sum())

    @property
    def step_time_s(self) -> float:
        if self.pipeline is not None:
            return self.pipeline.timeline.step_time_s
        return self.compute_time_s + self.communication_time_s

    @property
    def samples_per_s(self) -> float:
        return self.batch_size / self.step_time_s

    @property
    def communication_bytes_by_level(self) -> NDArray[np.float64]:
        by_level: NDArray[np.float64] = self.communication_bytes_by_level_and_layer.sum(axis=1)
        return by_level

    @property
    def communication_bytes_by_layer(self) -> NDArray[np.float64]:
        by_layer: NDArray[np.float64] = self.communication_bytes_by_level_and_layer.sum(axis=0)
        return by_layer

    @property
    def communication_bytes(self) -> float:
        return float(self.communication_bytes_by_level_and_layer.sum())

    @property
    def step_energy_j(self) -> float:
        return sum(self.energy.by_part_j.values())

    @property
    def memory_per_accelerator_bytes(self) -> float:
        return self.memory.total_bytes


@dataclass(frozen=True, eq=False)
class PipelineReport:
    """A step over time.

    Attributes:
        timeline: when every device computes, exchanges and waits; a device is the accelerators of a stage.
        stages: of the plan, one for each chunk of the timeline's schedule.
        micro_batches: of a step.
        memory_by_device_bytes: float64[devices], what one accelerator of each holds.
        exchanged_s: seconds of all exchanges, hidden under compute or not.
    """

    timeline: Timeline
    stages: tuple[Stage, ...]
    micro_batches: int
    memory_by_device_bytes: NDArray[np.float64]
    exchanged_s: float

    @cached_property
    def critical_s(self) -> dict[str, float]:
        """Part -> seconds of the critical path; their sum is the step time."""
        from hypar_exp.simulation.critical_path import critical_path, parts_s

        return {str(part): seconds for part, seconds in parts_s(critical_path(self.timeline)).items()}


@dataclass(frozen=True)
class Comparison:
    """A step against a baseline's step; above 1 is better than the baseline."""

    speedup: float
    energy_efficiency: float

    @classmethod
    def of(cls, report: StepReport, baseline: StepReport) -> Comparison:
        return cls(
            speedup=baseline.step_time_s / report.step_time_s,
            energy_efficiency=baseline.step_energy_j / report.step_energy_j,
        )
