"""Pipe-BD's schedules by hand, by brute force, and against the published speed-ups."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.systems.blockwise_distillation import BlockwiseDistillation
from hypar_exp.systems.blockwise_schedules import SCHEDULES, Blocks, hybrid
from tests.conf import hardware
from tests.systems.settings import setting, workload

SETTING = replace(setting(network="mobilenet_v2"), hardware=hardware("a100", half_efficiency_batch=200.0))


def test_two_blocks_on_two_devices_by_hand() -> None:
    """t = 1, 2 and s = 3, 4 seconds a sample, four samples, no half efficiency."""
    blocks = Blocks(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 0.0, np.array([0.5, 0.25]))
    step_s = {name: schedule(blocks, 4, 2).step_s for name, schedule in SCHEDULES.items()}
    assert step_s["dp"] == pytest.approx((2 + 6 + 0.5) + (2 + 4 + 8 + 0.25))
    assert step_s["ls"] == pytest.approx(max(4 + 12, 4 + 8 + 16))
    assert step_s["tr"] == pytest.approx(max(4 + 12, 4 + 8 + 16))
    assert step_s["tr_dpu"] == pytest.approx(max(4 + 12, 8 + 16))
    assert step_s["tr_dpu_ahd"] == pytest.approx(min(24, (2 + 6 + 0.5) + (4 + 8 + 0.25)))


def test_half_efficiency() -> None:
    """With as many samples a device has half of its rate: they take twice as long."""
    blocks = Blocks(np.array([1.0]), np.array([2.0]), 16.0, np.zeros(1))
    assert blocks.teachers(16)[0] == 2 * replace(blocks, half_efficiency_batch=0.0).teachers(16)[0]


times = st.lists(st.floats(0.1, 10.0), min_size=2, max_size=5)


@settings(max_examples=40)
@given(teacher=times, seed=st.integers(0, 99), devices=st.integers(2, 4), least=st.floats(0, 300))
def test_hybrid_is_the_best_of_all_contiguous_assignments(
    teacher: list[float], seed: int, devices: int, least: float
) -> None:
    """Brute force: every device is given a first block, in order; those of the same are a group."""
    student = np.random.default_rng(seed).uniform(0.1, 10, len(teacher))
    blocks = Blocks(np.array(teacher), student, least, student / 7)
    best = np.inf
    for firsts in itertools.combinations_with_replacement(range(len(teacher)), devices):
        if firsts[0] != 0:
            continue
        starts = sorted(set(firsts))
        stages = zip(starts, [*starts[1:], len(teacher)], strict=True)
        slowest = 0.0
        for first, last in stages:
            group = firsts.count(first)
            slowest = max(
                slowest,
                sum(
                    (blocks.teacher_s[at] + student[at]) * (32 / group + least)
                    + blocks.exchange_s[at] * 2 * (group - 1) / group
                    for at in range(first, last)
                ),
            )
        best = min(best, slowest)
    found = hybrid(blocks, 32, devices)
    assert found.step_s == pytest.approx(best)
    assert sum(found.devices) == devices


@pytest.mark.parametrize(
    ("schedule", "published"), [("ls", 1.93), ("tr", 2.41), ("tr_dpu", 3.08), ("tr_dpu_ahd", 3.08)]
)
def test_speedups_of_architecture_search_on_cifar10(schedule: str, published: float) -> None:
    made = workload("pipe_bd")
    assert isinstance(made, BlockwiseDistillation)
    found = made.run(SETTING)
    assert found.metrics[f"speedup_{schedule}"] == pytest.approx(published, rel=0.05)


def test_what_does_not_come_out_is_said() -> None:
    made = replace(workload("pipe_bd"), dataset="imagenet")  # type: ignore[type-var]
    found = made.run(SETTING)
    assert any(words.startswith("ImageNet does not come out") for words in found.words)
    assert found.metrics["largest_difference"] > 1


def test_bad_values() -> None:
    made = workload("pipe_bd")
    assert isinstance(made, BlockwiseDistillation)
    with pytest.raises(UserError, match="the network has no layer 'block3_projekt'; did you mean block3_project"):
        replace(made, block_ends=["block3_projekt"]).run(SETTING)
    with pytest.raises(UserError, match="makes 53 blocks, more than the 20"):
        replace(made, block_ends=[]).run(SETTING)
    with pytest.raises(UserError, match="student must be alike or separable"):
        replace(made, student="small")
    with pytest.raises(UserError, match=r"workload\.schedules has no 'tr_ahd'"):
        replace(made, schedules=["tr_ahd"])
