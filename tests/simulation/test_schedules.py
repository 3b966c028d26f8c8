"""Schedules and their times against reference values, closed formulas and other programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.simulation.schedules import GPipe, Kind, OneFOneB, Schedule
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import BoundaryRule, timeline
from tests.simulation.pipelines import combined, numbers, rows, uniform

REFERENCE = rows("reference_schedules.csv")
DAPPLE = rows("oracle_dapple_length.csv")
seconds = st.integers(1, 40).map(lambda tenths: tenths / 10)
devices_and_micro_batches = st.tuples(st.integers(1, 9), st.integers(1, 20))


def schedule_of(row: dict[str, str]) -> Schedule:
    """The schedule of a row of reference_schedules.csv."""
    match row["schedule"]:
        case "gpipe":
            return GPipe()
        case "1f1b":
            return OneFOneB([int(number) for number in row["warm_up_by_device"].split()])
    raise AssertionError(row["schedule"])


def times_of(row: dict[str, str]) -> StageTimes:
    forward, link = numbers(row["forward_s by chunk"]), numbers(row["link_s by boundary"])
    if row["input_gradient_s by chunk"]:
        error, weight = numbers(row["input_gradient_s by chunk"]), numbers(row["weight_gradient_s by chunk"])
        return StageTimes(forward, error, weight, forward_boundary_s=link, backward_boundary_s=link)
    return combined(forward, numbers(row["backward_s by chunk (input + weight gradient)"]), link)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row['id']}-{row['schedule']}")
def test_reference_schedules(row: dict[str, str]) -> None:
    if row["schedule"] not in ("gpipe", "1f1b"):
        return
    step = timeline(schedule_of(row), int(row["devices"]), int(row["micro_batches"]), times_of(row))
    assert step.step_time_s == pytest.approx(float(row["makespan_s"]), rel=1e-12, abs=1e-9)
    assert step.end_by_device_s == pytest.approx(numbers(row["end_by_device_s"]), rel=1e-12, abs=1e-9)
    assert step.activations_alive().tolist() == numbers(row["peak_live_activations_by_device"]).tolist()


@pytest.mark.parametrize("row", DAPPLE, ids=range(len(DAPPLE)))
def test_length_of_a_pipeline_as_dapple_has_it(row: dict[str, str]) -> None:
    """Its rows are stages, or (`comm`) stages with the boundaries between them as stages of their own."""
    forward, backward, gradients = (numbers(row[key]) for key in ("forward_s", "backward_s", "allreduce_s"))
    schedule = OneFOneB([int(number) for number in row["warmup_K"].split()])
    micro_batches, length = int(row["micro_batches"]), pytest.approx(float(row["pipeline_length_s"]), rel=1e-12)
    every = StageTimes(forward, backward, np.zeros(len(forward)), gradient_exchange_s=gradients)
    assert timeline(schedule, len(forward), micro_batches, every).step_time_s == length
    if row["kind"] == "comm" and len(forward) > 1 and not gradients[1::2].any():
        stages = StageTimes(
            forward[::2], backward[::2], np.zeros(len(forward[::2])), gradient_exchange_s=gradients[::2],
            forward_boundary_s=forward[1::2], backward_boundary_s=backward[1::2],
        )  # fmt: skip
        assert stages.chunks == (len(forward) + 1) // 2
        step = timeline(schedule, stages.chunks, micro_batches, stages, boundaries="stage")
        assert step.step_time_s == length


@given(devices_and_micro_batches, seconds, seconds)
def test_gpipe(size: tuple[int, int], forward_s: float, backward_s: float) -> None:
    """GPipe: (m + p - 1)(f + b), a bubble of (p - 1)/(m + p - 1), m activations alive on every stage."""
    p, m = size
    step = timeline(GPipe(), p, m, uniform(p, forward_s, backward_s, 0.0))
    assert step.step_time_s == pytest.approx((m + p - 1) * (forward_s + backward_s))
    assert step.bubble_fraction == pytest.approx((p - 1) / (m + p - 1), abs=1e-12)
    assert step.activations_alive().tolist() == [m] * p


@given(devices_and_micro_batches, seconds, seconds)
def test_1f1b(size: tuple[int, int], forward_s: float, backward_s: float) -> None:
    """1F1B: GPipe's time, min(m, p - s) activations alive on stage s."""
    p, m = size
    step = timeline(OneFOneB(), p, m, uniform(p, forward_s, backward_s, 0.0))
    assert step.step_time_s == pytest.approx((m + p - 1) * (forward_s + backward_s))
    assert step.activations_alive().tolist() == [min(m, p - s) for s in range(p)]
    long = timeline(OneFOneB("long"), p, m, uniform(p, forward_s, backward_s, 0.0))
    assert long.activations_alive().tolist() == [min(m, 2 * (p - s) - 1) for s in range(p)]


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=6), st.sampled_from((0.0, 0.3)))
def test_1f1b_without_an_end_runs_at_the_pace_of_the_slowest_stage(
    stages: list[tuple[float, float]], link: float
) -> None:
    """Seconds a micro-batch: max (f + b); with links up to 0.3 of it where the warm-up is 2(p - s) - 1."""
    forward, backward = np.array(stages).T
    pace = (forward + backward).max()
    p = len(stages)
    times = combined(forward, backward, np.full(p - 1, link * pace))
    schedule = OneFOneB("long" if link else "short")
    few, many = (timeline(schedule, p, m, times).step_time_s for m in (4 * p + 20, 4 * p + 60))
    assert (many - few) / 40 == pytest.approx(pace)


@pytest.mark.parametrize("rule", ["latency", "stage", "shared"])
@given(st.lists(seconds, min_size=3, max_size=3), seconds)
def test_one_stage_and_one_micro_batch_take_the_plain_sum(
    rule: BoundaryRule, parts: list[float], gradients: float
) -> None:
    forward, error, weight = (np.array([part]) for part in parts)
    times = StageTimes(forward, error, weight, gradient_exchange_s=np.array([gradients]))
    for schedule in (GPipe(), OneFOneB()):
        step = timeline(schedule, 1, 1, times, boundaries=rule)
        assert step.step_time_s == pytest.approx(sum(parts) + gradients, rel=1e-15)
        assert step.bubble_fraction == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (OneFOneB([2, 1]), "schedule.warm_up has 2 numbers where the pipeline has 3 devices"),
        (OneFOneB([1, 2, 3]), "schedule OneFOneB: the devices wait for each other, device 0 from its operation 1 on"),
    ],
)
def test_schedules_that_cannot_be(schedule: Schedule, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        timeline(schedule, 3, 4, uniform(3))
    assert str(error.value) == sentence


def test_kinds_have_the_letters_of_the_literature() -> None:
    assert [kind.letter for kind in Kind] == ["F", "B", "I", "W", "R"]
