"""Schedules and their times against reference values and other programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hypar_exp.simulation.list_scheduling import Durations
from hypar_exp.simulation.operations import JOINED
from hypar_exp.simulation.schedules import (
    Chimera,
    DualPipe,
    DualPipeV,
    GPipe,
    Interleaved,
    Kind,
    OneFOneB,
    Order,
    Schedule,
    VHalf,
    VMin,
    ZeroBubbleH1,
    ZeroBubbleH2,
    ZeroBubbleV,
)
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import timeline
from tests.simulation.pipelines import combined, numbers, rows, uniform

REFERENCE = rows("reference_schedules.csv")
DAPPLE = rows("oracle_dapple_length.csv")
ZERO_BUBBLE = rows("oracle_schedules_zb.csv")
PPVIZ = rows("oracle_schedules_ppviz.csv")


def schedule_of(row: dict[str, str]) -> Schedule:
    """The schedule of a row of reference_schedules.csv."""
    match row["schedule"]:
        case "gpipe":
            return GPipe()
        case "1f1b":
            return OneFOneB([int(number) for number in row["warm_up_by_device"].split()])
        case "interleaved_1f1b":
            return Interleaved(int(row["chunks_per_device"]))
        case "zb_h1":
            return ZeroBubbleH1()
        case "chimera":
            return Chimera()
    raise AssertionError(row["schedule"])


def times_of(row: dict[str, str]) -> StageTimes:
    forward, link = numbers(row["forward_s by chunk"]), numbers(row["link_s by boundary"])
    if row["input_gradient_s by chunk"]:
        error, weight = numbers(row["input_gradient_s by chunk"]), numbers(row["weight_gradient_s by chunk"])
        return StageTimes(forward, error, weight, forward_boundary_s=link, backward_boundary_s=link)
    return combined(forward, numbers(row["backward_s by chunk (input + weight gradient)"]), link)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row['id']}-{row['schedule']}")
def test_reference_schedules(row: dict[str, str]) -> None:
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


def words(order: Order) -> str:
    """`F0.1` for the forward of micro-batch 0 in chunk 1, `F1.0+B0.2` for two at the same time."""
    text = ""
    for kind, chunk, part in order.tolist():
        text += ("+" if kind & JOINED else " ") + f"{Kind(kind % JOINED).letter}{part}.{chunk}"
    return text[1:]


ZB_SCHEDULES: dict[str, Callable[[Durations], Schedule]] = {
    "zb_1p": ZeroBubbleH1,
    "zb_2p": ZeroBubbleH2,
    "zbv": ZeroBubbleV,
    "v_half": VHalf,
    "v_min": VMin,
}


@pytest.mark.parametrize("name", sorted({row["schedule"] for row in ZERO_BUBBLE}))
def test_orders_of_sail_sg_are_equal_or_no_better(name: str) -> None:
    """Its programs make an order for given times, `zb_unlimited` without a limit of activations."""
    longer = {}
    for row in rows("oracle_schedules_zb.csv", schedule=name):
        devices, micro_batches, chunks = (int(row[key]) for key in ("devices_p", "micro_batches_m", "chunks_v"))
        seconds = [float(row[key]) for key in ("t_f", "t_b_input_grad", "t_w_weight_grad", "t_comm")]
        if name in ("1f1b", "interleaved_1f1b"):
            schedule: Schedule = OneFOneB() if name == "1f1b" else Interleaved(chunks)
            if row["orders_per_device"]:
                orders = schedule.orders(devices, micro_batches)
                assert " | ".join(words(order) for order in orders).replace("B", "BW") == row["orders_per_device"]
        elif name == "zb_unlimited":
            schedule = ZeroBubbleH2(Durations(*seconds))
        else:
            schedule = ZB_SCHEDULES[name](Durations(*seconds))
        step = timeline(schedule, devices, micro_batches, uniform(devices * chunks, *seconds))
        alive = max(int(number) for number in row["peak_live_released_at_weight_grad_per_device"].split())
        assert name == "zb_2p" or step.activations_alive().max() <= alive, row
        if step.step_time_s > float(row["makespan"]) + 1e-9:
            longer[(devices, micro_batches, *seconds)] = step.step_time_s / float(row["makespan"]) - 1
    known = {(8, 32, 10.0, 12.0, 8.0, 1.0): pytest.approx(0.0073, abs=1e-4)} if name == "v_half" else {}
    assert longer == known


@pytest.mark.parametrize("row", PPVIZ, ids=lambda row: f"{row['schedule']}-{row['devices']}-{row['micro_batches']}")
def test_schedules_of_pp_schedule_visualization(row: dict[str, str]) -> None:
    """Where a forward and a backward run at the same time for less than both, what they save is exchanges."""
    devices, micro_batches, chunks = (int(row[key]) for key in ("devices", "micro_batches", "stages"))
    ones = np.ones(chunks)
    forward, whole = numbers(row["forward_by_stage"]) * ones, numbers(row["backward_by_stage"]) * ones
    error, weight = numbers(row["backward_input_by_stage"]) * ones, numbers(row["backward_weight_by_stage"]) * ones
    both = float(row["overlapped_forward_backward"] or 3.0)
    times = StageTimes(forward, error, weight, forward_exchange_s=(3.0 - both) * ones)
    if not row["schedule"].startswith(("zb", "dualpipe")):
        times = StageTimes(forward, whole, 0 * ones, forward_exchange_s=(3.0 - both) * ones)
    schedules: dict[str, Schedule] = {
        "1f1b": OneFOneB(),
        "1f1b_overlap": OneFOneB("long", together=True),
        "interleaved": Interleaved(chunks // devices),
        "interleaved_overlap": Interleaved(chunks // devices, together=True),
        "zb_1p": ZeroBubbleH1(),
        "dualpipe": DualPipe(),
        "dualpipe_v": DualPipeV(),
    }
    schedule = schedules[row["schedule"]]
    step = timeline(schedule, devices, micro_batches, times)
    assert step.step_time_s == pytest.approx(float(row["makespan"]), rel=1e-12)
    assert step.busy_s == pytest.approx(numbers(row["busy_by_device"]), rel=1e-12)
    if row["order_of_device_0"]:
        assert words(schedule.orders(devices, micro_batches)[0]) == row["order_of_device_0"].replace("D", "I")
