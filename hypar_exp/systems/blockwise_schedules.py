"""Blockwise distillation on several devices: a student learns block by block from a teacher's features.

Jang et al., Pipe-BD (DATE 2023). Student block i needs the teacher's blocks up to i. Schedules, each with the time of a
step of one batch over all blocks:

- dp: data parallelism, one block after the other, each with the teacher from the start;
- ls: layerwise scheduling, whole blocks with their teachers as tasks, packed into devices;
- tr: teacher relaying, contiguous stages of which each hands the teacher's features on; all update together;
- tr_dpu: decoupled update, so that no stage waits for the next batch;
- tr_dpu_ahd: hybrid distribution, where stages have several devices and share their batch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Stages = tuple[tuple[int, int], ...]
"""First block and the one after the last, of each stage."""


@dataclass(frozen=True)
class Blocks:
    """What the blocks cost on one device.

    Attributes:
        teacher_s, student_s: float64[blocks], seconds a sample: the teacher's forward pass, and the student's step.
        half_efficiency_batch: samples with which a device reaches half of its rate; b samples take as long as this many
            more would at the full rate.
        exchange_s: float64[blocks], seconds in which all devices exchange a student block's gradients, for two devices;
            g devices take 2 (g - 1) / g times as long.
        relay_s: seconds a sample to hand features on; 0 where that is hidden.
    """

    teacher_s: NDArray[np.float64]
    student_s: NDArray[np.float64]
    half_efficiency_batch: float
    exchange_s: NDArray[np.float64]
    relay_s: float = 0.0

    def teachers(self, samples: float) -> NDArray[np.float64]:
        """float64[blocks]: t_i(b)."""
        return self.teacher_s * (samples + self.half_efficiency_batch)

    def students(self, samples: float) -> NDArray[np.float64]:
        """float64[blocks]: s_i(b)."""
        return self.student_s * (samples + self.half_efficiency_batch)

    def exchanges(self, devices: int) -> NDArray[np.float64]:
        """float64[blocks]: a_i(g)."""
        return self.exchange_s * (2 * (devices - 1) / devices)


@dataclass(frozen=True)
class Timed:
    """A schedule's step."""

    step_s: float
    stages: Stages = ()
    devices: tuple[int, ...] = ()
    """Of each stage."""


def data_parallel(blocks: Blocks, batch: int, devices: int) -> Timed:
    """sum_i [sum_{j <= i} t_j(B/N) + s_i(B/N) + a_i(N)]."""
    share = batch / devices
    per_block = np.cumsum(blocks.teachers(share)) + blocks.students(share) + blocks.exchanges(devices)
    return Timed(float(per_block.sum()))


def layerwise(blocks: Blocks, batch: int, devices: int) -> Timed:
    """The most loaded device, tasks given longest first to the least loaded."""
    loads = np.zeros(devices)
    for task in sorted(np.cumsum(blocks.teachers(batch)) + blocks.students(batch), reverse=True):
        loads[loads.argmin()] += task
    return Timed(float(loads.max()))


def relayed(blocks: Blocks, batch: int, devices: int) -> Timed:
    """The least over splits of the longest way: the teacher's blocks up to a stage's end, and its own students."""
    teachers, students = np.cumsum(blocks.teachers(batch)), blocks.students(batch)

    def step_s(stages: Stages) -> float:
        return max(float(teachers[last - 1] + students[first:last].sum()) for first, last in stages)

    ways = [(step_s(stages), stages) for stages in _splits(len(students), min(devices, len(students)))]
    least, stages = min(ways)
    return Timed(least + blocks.relay_s * batch, stages, (1,) * len(stages))


def decoupled(blocks: Blocks, batch: int, devices: int) -> Timed:
    """The least over splits, a device a stage, of the slowest stage."""
    one_each = (1,) * min(devices, len(blocks.teacher_s))
    return min(
        (_slowest(blocks, batch, stages, one_each) for stages in _splits(len(blocks.teacher_s), len(one_each))),
        key=lambda timed: timed.step_s,
    )


def hybrid(blocks: Blocks, batch: int, devices: int) -> Timed:
    """The least over splits and devices of each stage of the slowest stage."""
    count = len(blocks.teacher_s)
    return min(
        (
            _slowest(blocks, batch, stages, shared)
            for groups in range(1, min(devices, count) + 1)
            for shared in _compositions(devices, groups)
            for stages in _splits(count, groups)
        ),
        key=lambda timed: timed.step_s,
    )


SCHEDULES = {
    "dp": data_parallel,
    "ls": layerwise,
    "tr": relayed,
    "tr_dpu": decoupled,
    "tr_dpu_ahd": hybrid,
}


def _slowest(blocks: Blocks, batch: int, stages: Stages, devices: tuple[int, ...]) -> Timed:
    """max_k sum_{i in k} [t_i(B/g_k) + s_i(B/g_k) + a_i(g_k)] + c."""
    seconds = [
        (blocks.teachers(batch / group) + blocks.students(batch / group) + blocks.exchanges(group))[first:last].sum()
        for (first, last), group in zip(stages, devices, strict=True)
    ]
    return Timed(float(max(seconds)) + blocks.relay_s * batch, stages, devices)


def _splits(blocks: int, groups: int) -> Iterator[Stages]:
    for cuts in itertools.combinations(range(1, blocks), groups - 1):
        yield tuple(zip((0, *cuts), (*cuts, blocks), strict=True))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    for cuts in itertools.combinations(range(1, total), parts - 1):
        yield tuple(last - first for first, last in zip((0, *cuts), (*cuts, total), strict=True))
