"""Published closed formulas of schedules (data/pipelines/published_schedule_formulas.csv), with their conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.simulation.schedules import (
    Chimera,
    DualPipe,
    DualPipeV,
    GPipe,
    Inference,
    Interleaved,
    Kind,
    Merak,
    OneFOneB,
    Schedule,
    VHalf,
    VMin,
    ZeroBubbleH1,
    ZeroBubbleH2,
    ZeroBubbleV,
)
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import BoundaryRule, timeline
from tests.simulation.pipelines import combined, uniform

seconds = st.integers(1, 40).map(lambda tenths: tenths / 10)
few = st.integers(1, 6)
thousand = settings(max_examples=1000)


@thousand
@given(few, st.integers(1, 12), seconds, seconds)
def test_gpipe(p: int, m: int, f: float, b: float) -> None:
    """(m + p - 1)(f + b), a bubble of (p - 1)/(m + p - 1), m activations alive on every stage."""
    step = timeline(GPipe(), p, m, uniform(p, f, b, 0.0))
    assert step.step_time_s == pytest.approx((m + p - 1) * (f + b))
    assert step.bubble_fraction == pytest.approx((p - 1) / (m + p - 1), abs=1e-12)
    assert step.activations_alive().tolist() == [m] * p


@thousand
@given(few, st.integers(1, 12), seconds, seconds)
def test_1f1b(p: int, m: int, f: float, b: float) -> None:
    """GPipe's time; min(m, p - s) activations alive on stage s, min(m, 2(p - s) - 1) with the long warm-up."""
    step = timeline(OneFOneB(), p, m, uniform(p, f, b, 0.0))
    assert step.step_time_s == pytest.approx((m + p - 1) * (f + b))
    assert step.activations_alive().tolist() == [min(m, p - s) for s in range(p)]
    long = timeline(OneFOneB("long"), p, m, uniform(p, f, b, 0.0))
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
    step = timeline(schedule, p, 400, times).step_time_s
    assert 400 * pace - 1e-9 <= step <= 400 * pace + 2 * times.forward_boundary_s.sum() + forward.sum() + backward.sum()


@thousand
@given(few, st.integers(1, 3), st.integers(1, 3), seconds, seconds)
def test_interleaved(p: int, v: int, rounds: int, f: float, b: float) -> None:
    """(m v + p - 1)(f + b)/v, a bubble of (p - 1)/(v m) of the ideal, f and b of a whole device, m a multiple of p.

    Chunk activations alive: min(m v, 2(p - s - 1) + (v - 1)p + 1). Calculon's bubble, (p - 1) chunks, is the same.
    """
    m = rounds * p
    step = timeline(Interleaved(v), p, m, uniform(p * v, f / v, b / v, 0.0))
    assert step.step_time_s == pytest.approx((m * v + p - 1) * (f + b) / v)
    assert step.step_time_s / (m * (f + b)) - 1 == pytest.approx((p - 1) / (v * m))
    assert step.activations_alive().tolist() == [min(m * v, 2 * (p - s - 1) + (v - 1) * p + 1) for s in range(p)]
    if m > p:  # the first device of a network of v p blocks: p (1 + (p - 1)/(p v)) blocks of its v (Korthikanti, 2022)
        assert step.activations_alive()[0] / v == pytest.approx(p * (1 + (p - 1) / (p * v)))


@thousand
@given(few, st.integers(0, 12), seconds, seconds, st.floats(0.05, 1.0))
def test_zb_h1(p: int, more: int, f: float, i: float, share: float) -> None:
    """m(f + i + w) + (p - 1)(f + i - w) where m >= p and w <= min(f, i); min(m, p) activations alive, F to W."""
    m, w = p + more, share * min(f, i)
    step = timeline(ZeroBubbleH1(), p, m, uniform(p, f, i, w))
    assert step.step_time_s == pytest.approx(m * (f + i + w) + (p - 1) * (f + i - w))
    assert step.activations_alive().tolist() == [min(m, p)] * p


@given(few, st.integers(0, 10), seconds)
def test_zb_h2_has_no_bubble_in_a_device_s_span(p: int, more: int, t: float) -> None:
    """(p - 1)(f + i - 2w) where m >= 2p - 1, so nothing at f = i = w; the step's bubble is (p - 1) f; 2p alive."""
    m = 2 * p + more
    step = timeline(ZeroBubbleH2(), p, m, uniform(p, t, t, t))
    assert step.span_s == pytest.approx(m * 3 * t)
    assert step.step_time_s == pytest.approx(m * 3 * t + (p - 1) * t)
    assert step.activations_alive().max() <= 2 * p


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(0, 8), seconds)
def test_zb_v_has_next_to_no_bubble_in_a_device_s_span(p: int, more: int, t: float) -> None:
    """At f = i = w, with the activations of 1F1B: 2p of half a stage each; (p - 1) f in the step."""
    m = 2 * p + more
    step = timeline(ZeroBubbleV(), p, m, uniform(2 * p, t, t, t))
    assert step.span_s.max() <= (m * 6 + (p > 4)) * t + 1e-9
    assert step.step_time_s == pytest.approx(m * 6 * t + (p - 1) * t)
    assert step.activations_alive().max() == 2 * p


@pytest.mark.parametrize(("p", "half", "least"), [(2, 4, 4), (3, 4, 4), (4, 6, 4), (8, 10, 8), (16, 18, 12)])
def test_v_half_and_v_min_keep_half_and_a_third_of_the_activations(p: int, half: int, least: int) -> None:
    """Of the 2p halves of a stage that 1F1B keeps, in the bubbles of its published patterns."""
    m = 4 * p
    times, one_f_one_b = uniform(2 * p), 3 * (p - 1) * 2
    for schedule, alive, bubble in ((VHalf(), half, one_f_one_b / 2), (VMin(), least, 2 * one_f_one_b / 3)):
        step = timeline(schedule, p, m, times)
        assert step.activations_alive().max() == alive
        assert step.step_time_s - m * 6 <= bubble + m / 2 + 4


@given(st.sampled_from((2, 4, 6, 8)), st.integers(1, 4), seconds)
def test_chimera(d: int, units: int, f: float) -> None:
    """Bubble/step (D - 2)/(2N + D - 2) at b = f; (D - 2)(N/D + 1)f of bubble at b = 2f, direct concatenation.

    D/2 + 1 + min(w, D - 1 - w) activations alive on worker w; two copies of the weights.
    """
    n = units * d
    alike = timeline(Chimera(), d, n, uniform(d, f, f, 0.0))
    assert alike.bubble_fraction == pytest.approx((d - 2) / (2 * n + d - 2), abs=1e-12)
    longer = timeline(Chimera(), d, n, uniform(d, f, f, f))
    assert longer.step_time_s - longer.busy_s[0] == pytest.approx((d - 2) * (n / d + 1) * f, abs=1e-9)
    if units == 1:
        assert longer.bubble_fraction == pytest.approx((d - 2) / (1.5 * n + d - 2), abs=1e-12)
    assert alike.activations_alive().tolist() == [d / 2 + 1 + min(w, d - 1 - w) for w in range(d)]
    held = [chunk for chunks in Chimera().placement(d) for chunk in chunks]
    assert sorted(held) == sorted([*range(d)] * 2)


@given(st.integers(2, 7), st.integers(2, 12), seconds, seconds)
def test_merak_computes_activations_again_before_the_gradient_arrives(p: int, m: int, f: float, b: float) -> None:
    """Of micro-batches j with M - j + s < p; the drain no longer waits for recomputation on each stage."""
    early = [
        {part for kind, _, part in order.tolist() if kind == Kind.RECOMPUTE}
        for order in Merak("pre_recompute").orders(p, m)
    ]
    assert early == [{j for j in range(m) if m - j + s < p} for s in range(p)]
    times = StageTimes(np.full(p, f), np.full(p, b), np.zeros(p), np.full(p, f))
    plain, ahead, kept = (
        timeline(schedule, p, m, times).step_time_s
        for schedule in (OneFOneB(), Merak("pre_recompute"), Merak("last_no_recompute"))
    )
    assert plain == pytest.approx((m + p - 1) * (2 * f + b))
    assert kept <= ahead + 1e-9
    if m >= p:
        assert plain - ahead == pytest.approx((p - 1) * f)


@given(few, st.integers(1, 12), seconds)
def test_inference_keeps_no_activations(p: int, m: int, f: float) -> None:
    step = timeline(Inference(), p, m, uniform(p, f))
    assert step.step_time_s == pytest.approx((m + p - 1) * f)
    assert step.activations_alive().tolist() == [1] * p


@given(st.sampled_from((2, 4, 6)), st.integers(0, 3), seconds, seconds, seconds)
def test_dualpipe(p: int, more: int, f: float, i: float, w: float) -> None:
    """The bubble is at most (p/2 - 1)(F&B + B - 3W) at f = i = w and nothing else waits; folded, the same of 2p."""
    m = 2 * p + 2 * more
    step = timeline(DualPipe(), p, m, uniform(p, f, f, f))
    assert step.step_time_s - m * 3 * f == pytest.approx((p / 2 - 1) * (3 * f + 2 * f - 3 * f))
    folded = timeline(DualPipeV(), p, m, uniform(2 * p, f, f, f))
    assert folded.step_time_s - m * 6 * f == pytest.approx((p - 1) * (3 * f + 2 * f - 3 * f))
    assert step.activations_alive().max() <= p + 1


ALL: tuple[Schedule, ...] = (
    GPipe(), OneFOneB(), OneFOneB("long"), OneFOneB("long", together=True), Interleaved(2), ZeroBubbleH1(),
    ZeroBubbleH2(), ZeroBubbleV(), VHalf(), VMin(), Chimera(), DualPipe(), DualPipeV(), Merak(), Merak("pre_recompute"),
)  # fmt: skip


def chunks_of(schedule: Schedule, devices: int) -> int:
    return 1 + max(max(chunks) for chunks in schedule.placement(devices))


@pytest.mark.parametrize("rule", ["latency", "shared"])
@pytest.mark.parametrize("schedule", ALL, ids=repr)
def test_every_schedule_runs_everything_once(schedule: Schedule, rule: BoundaryRule) -> None:
    for devices, micro_batches in ((2, 4), (4, 8), (4, 16)):
        chunks = chunks_of(schedule, devices)
        step = timeline(schedule, devices, micro_batches, uniform(chunks), boundaries=rule)
        passes = chunks * micro_batches * 3
        assert step.busy_s.sum() == pytest.approx(passes)
        for device, order in enumerate(schedule.orders(devices, micro_batches)):
            assert set(order[:, 1].tolist()) == set(schedule.placement(devices)[device])


@pytest.mark.parametrize("rule", ["latency", "stage", "shared"])
@given(st.lists(seconds, min_size=3, max_size=3), seconds)
def test_one_stage_and_one_micro_batch_take_the_plain_sum(
    rule: BoundaryRule, parts: list[float], gradients: float
) -> None:
    forward, error, weight = (np.array([part]) for part in parts)
    times = StageTimes(forward, error, weight, gradient_exchange_s=np.array([gradients]))
    for schedule in (GPipe(), OneFOneB(), Interleaved(1), ZeroBubbleH1(), ZeroBubbleH2(), Merak()):
        step = timeline(schedule, 1, 1, times, boundaries=rule)
        assert step.step_time_s == pytest.approx(sum(parts) + gradients, rel=1e-15)
        assert step.bubble_fraction == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (OneFOneB([2, 1]), "schedule.warm_up has 2 numbers where the pipeline has 3 devices"),
        (OneFOneB([1, 2, 3]), "schedule OneFOneB: the devices wait for each other, device 0 from its operation 1 on"),
        (
            Interleaved(),
            "schedule interleaved takes a multiple of the devices as micro-batches (got 4 micro-batches on 3 devices)",
        ),
        (
            Chimera(),
            "schedule chimera takes an even number of devices and a multiple of it as micro-batches "
            "(got 4 micro-batches on 3 devices)",
        ),
        (
            DualPipe(),
            "schedule dualpipe takes an even number of devices and of micro-batches, at least two micro-batches a "
            "device (got 4 micro-batches on 3 devices)",
        ),
        (
            DualPipeV(),
            "schedule dualpipe_v takes at least two micro-batches a device (got 4 micro-batches on 3 devices)",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_schedules_that_cannot_be(schedule: Schedule, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        timeline(schedule, 3, 4, uniform(chunks_of(schedule, 3)))
    assert str(error.value) == sentence


def test_settings_that_cannot_be() -> None:
    with pytest.raises(UserError, match="schedule merak has no variant 'last'; known: full_critical_path"):
        Merak("last")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"schedule.warm_up must be short, long or a list of numbers \(got 'medium'\)"):
        OneFOneB("medium")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"schedule.chunks must be a whole number of at least 1 \(got 0\)"):
        Interleaved(0)


def test_kinds_have_the_letters_of_the_literature() -> None:
    assert [kind.letter for kind in Kind] == ["F", "B", "I", "W", "R"]
