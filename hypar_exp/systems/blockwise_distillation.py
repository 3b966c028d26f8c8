"""The workload of `experiment=pipe_bd`: the schedules of blockwise distillation, and what each gains over the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Layer
from hypar_exp.systems.blockwise_schedules import SCHEDULES, Blocks, Timed
from hypar_exp.systems.published_values import published_rows
from hypar_exp.systems.workload import Cell, Findings, Setting, Table
from hypar_exp.units import significant

OPERATIONS_PER_MAC = 2
STUDENT_PHASES = 3
"""The student goes forward and backward, the teacher forward alone."""
STUDENTS = ("alike", "separable")
MOST_BLOCKS, MOST_DEVICES = 20, 8
"""All contiguous splits of more are too many to try."""


@dataclass(frozen=True)
class BlockwiseDistillation:
    """A student of a network's shape learns its blocks from the network, on some devices.

    Attributes:
        block_ends: the last layer of each block but the last one, which ends with the network; none for a block a
            layer.
        student: `alike`, with the teacher's convolutions (a supernet), or `separable`, with a depthwise and a pointwise
            convolution in place of each.
        devices: accelerators.
        schedules: see `blockwise_schedules`; speed-ups are over the first.
        charge_exchanges: whether gradients and features cross the hardware's link for a time, or are hidden.
        task, dataset: of the published speed-ups to show beside; None for none.

    Raises:
        UserError: an unknown schedule or student, a layer that is not there, or a number out of range.
    """

    block_ends: Sequence[str]
    student: str
    devices: int
    schedules: Sequence[str]
    charge_exchanges: bool
    task: str | None = None
    dataset: str | None = None
    name: str = "blockwise_distillation"
    uses: ClassVar[tuple[str, ...]] = ("network", "hardware", "batch_size")

    def __post_init__(self) -> None:
        require_whole("workload", "devices", self.devices, least=1, most=MOST_DEVICES)
        if self.student not in STUDENTS:
            raise UserError(f"workload.student must be {' or '.join(STUDENTS)} (got {self.student!r})")
        if not self.schedules:
            raise UserError("workload.schedules must name at least one, as in [dp, tr_dpu] (got an empty list)")
        for schedule in self.schedules:
            if schedule not in SCHEDULES:
                raise UserError(f"workload.schedules has no '{schedule!s}'{did_you_mean(str(schedule), SCHEDULES)}")

    def run(self, setting: Setting) -> Findings:
        ends = self._ends(setting)
        blocks = self._blocks(setting, ends)
        timed = {name: SCHEDULES[name](blocks, setting.batch_size, self.devices) for name in self.schedules}
        first = timed[self.schedules[0]].step_s
        names = [setting.network.layer_names[end] for end in ends]
        rows: list[list[Cell]] = []
        apart = []
        for schedule, found in timed.items():
            gain, published = first / found.step_s, self._published(schedule)
            difference = None if published is None else gain / published - 1
            rows.append([schedule, found.step_s, gain, published, difference, _stages(found, names)])
            if difference is not None and published != 1:
                apart.append(difference)
        metrics = {f"speedup_{name}": first / found.step_s for name, found in timed.items()}
        metrics |= {f"{name}_step_time_s": found.step_s for name, found in timed.items()}
        if apart:
            metrics["largest_difference"] = max(map(abs, apart))
        return Findings(
            title=f"{setting.network.name} teaches a student {len(ends)} blocks on {self.devices} accelerators, "
            f"batch {setting.batch_size}",
            words=self._words(timed, apart, first),
            tables=[
                Table("schedules", ["schedule", "step time (s)", "speed-up", "published", "difference", "stages"], rows)
            ],
            metrics=metrics,
            series={
                "block/teacher_time_s": blocks.teachers(setting.batch_size).tolist(),
                "block/student_time_s": blocks.students(setting.batch_size).tolist(),
            },
        )

    def _ends(self, setting: Setting) -> list[int]:
        """The last layer of each block."""
        names = setting.network.layer_names
        for name in self.block_ends:
            if name not in names:
                raise UserError(
                    f"workload.block_ends: the network has no layer '{name}'{did_you_mean(str(name), names)}"
                )
        ends = sorted({names.index(name) for name in self.block_ends} | {len(names) - 1})
        ends = ends if self.block_ends else list(range(len(names)))
        if len(ends) > MOST_BLOCKS:
            raise UserError(
                f"workload.block_ends makes {len(ends)} blocks, more than the {MOST_BLOCKS} whose splits can be tried"
            )
        return ends

    def _blocks(self, setting: Setting, ends: Sequence[int]) -> Blocks:
        layers, hardware = setting.network.layers, setting.hardware
        seconds_a_mac = OPERATIONS_PER_MAC / hardware.sustained_operations_per_s
        starts = [0, *(end + 1 for end in ends[:-1])]
        teacher = np.array([layer.macs_at_output for layer in layers], dtype=np.float64)
        shares = np.array([self._share(layer) for layer in layers])
        weights = np.array([layer.weights for layer in layers], dtype=np.float64) * shares
        gradient_s = 8 * hardware.element_bytes * weights / hardware.link_bandwidth_bits_per_s
        feature = max(layers[end].output.elements for end in ends[:-1]) if len(ends) > 1 else 0
        relay_s = 8 * hardware.element_bytes * feature / hardware.link_bandwidth_bits_per_s
        return Blocks(
            teacher_s=np.add.reduceat(teacher, starts) * seconds_a_mac,
            student_s=STUDENT_PHASES * np.add.reduceat(teacher * shares, starts) * seconds_a_mac,
            half_efficiency_batch=hardware.half_efficiency_batch,
            exchange_s=np.add.reduceat(gradient_s, starts) * self.charge_exchanges,
            relay_s=relay_s * self.charge_exchanges,
        )

    def _share(self, layer: Layer) -> float:
        """What part of a teacher's layer the student's is: k x k of one channel, and 1 x 1 of all."""
        if self.student == "alike" or layer.kind != "conv" or layer.weights == 0:
            return 1.0
        positions = layer.weights / (layer.input.channels * layer.output.channels)
        return min(1.0, 1 / layer.output.channels + 1 / positions)

    def _published(self, schedule: str) -> float | None:
        called = schedule.upper().replace("_", "+")
        for row in published_rows("pipebd_poster"):
            if (row["task"], row["dataset"], row["schedule"]) == (self.task, self.dataset, called):
                return float(row["speedup_over_dp"])
        return None

    def _words(self, timed: dict[str, Timed], apart: Sequence[float], first: float) -> list[str]:
        best = min(timed, key=lambda name: timed[name].step_s)
        words = [f"{best} is the fastest, {significant(first / timed[best].step_s)}x {self.schedules[0]}"]
        if apart:
            words.append(
                f"Beside the published speed-ups of {self.task} on {self.dataset} ours are {100 * min(apart):+.0f} to "
                f"{100 * max(apart):+.0f} % away"
            )
        if self.dataset == "imagenet":
            words.append(
                "ImageNet does not come out: there the loading of data, which is not modelled, bounds dp and ls"
            )
        return words


def _stages(found: Timed, ends: Sequence[str]) -> str:
    return " | ".join(
        f"to {ends[last - 1]}" + (f" x{devices}" if devices > 1 else "")
        for (_, last), devices in zip(found.stages, found.devices, strict=True)
    )
