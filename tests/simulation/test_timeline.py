"""What a timeline says, against a replay that knows nothing of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.simulation.critical_path import critical_path, parts_s
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
    ZeroBubbleH1,
    ZeroBubbleV,
)
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import BoundaryRule, Timeline, step_times_s, timeline
from tests.simulation.pipelines import uniform

SCHEDULES: tuple[Schedule, ...] = (
    GPipe(), OneFOneB(), OneFOneB("long", together=True), Interleaved(2), ZeroBubbleH1(), ZeroBubbleV(), VHalf(),
    Chimera(), DualPipe(), DualPipeV(), Merak(), Inference(),
)  # fmt: skip
RULES: tuple[BoundaryRule, ...] = ("latency", "stage", "shared")


@st.composite
def steps(draw: st.DrawFn) -> Timeline:
    """A step of any schedule on 2 or 4 devices, all times random, some of them 0."""
    schedule, devices = draw(st.sampled_from(SCHEDULES)), draw(st.sampled_from((2, 4)))
    simple = all(len(chunks) == 1 for chunks in schedule.placement(devices)) and "together=True" not in repr(schedule)
    rule = draw(st.sampled_from(RULES if simple else ("latency", "shared")))
    chunks = 1 + max(max(held) for held in schedule.placement(devices))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def random(count: int) -> np.ndarray:
        return generator.integers(0, 4, count) * generator.random() * generator.integers(0, 2)

    forward, error, again = (random(chunks) + generator.random(chunks) for _ in range(3))
    times = StageTimes(
        forward, error, random(chunks), again, random(chunks - 1), random(chunks - 1), random(chunks),
        forward * generator.integers(0, 2, chunks) / 2, error * generator.integers(0, 2, chunks) / 3, again / 4,
    )  # fmt: skip
    micro_batches = draw(st.sampled_from((8, 12)))
    return timeline(schedule, devices, micro_batches, times, boundaries=rule, overlap_gradients=draw(st.booleans()))


@given(steps())
def test_operations_of_a_device_follow_each_other_and_nothing_comes_too_early(step: Timeline) -> None:
    graph = step.graph
    where = {
        (int(k), int(c), int(j)): n
        for n, (k, c, j) in enumerate(zip(graph.kind, graph.chunk, graph.micro_batch, strict=True))
    }
    for device in range(step.devices):
        own = np.flatnonzero((graph.device == device) & ~graph.joined)
        assert (step.start_s[own[1:]] >= step.end_s[own[:-1]] - 1e-12).all()
    last = graph.chunk_count - 1
    for (kind, chunk, part), index in where.items():
        needed = []
        if kind == Kind.FORWARD and chunk:
            needed.append((Kind.FORWARD, chunk - 1, part))
        if kind in (Kind.BACKWARD, Kind.INPUT_GRADIENT):
            needed.append((Kind.FORWARD, chunk, part))
            if chunk < last:
                both = [(Kind.BACKWARD, chunk + 1, part), (Kind.INPUT_GRADIENT, chunk + 1, part)]
                needed += [operation for operation in both if operation in where]
        if kind == Kind.WEIGHT_GRADIENT:
            needed.append((Kind.INPUT_GRADIENT, chunk, part))
        for operation in needed:
            assert step.start_s[index] >= step.end_s[where[operation]] - 1e-12
    assert (step.start_s >= step.arrived_s - 1e-12)[step.crosses].all()


@given(steps())
def test_activations_alive_are_those_of_a_replay(step: Timeline) -> None:
    """At every moment, of every device: forwards begun and not yet used by the last operation that needs them."""
    graph = step.graph
    trained = (graph.kind != Kind.FORWARD).any()
    sizes = np.arange(1.0, graph.chunk_count + 1)
    for device in range(step.devices):
        most = 0.0
        for now in step.start_s[graph.device == device]:
            begun = (graph.device == device) & (graph.kind == Kind.FORWARD) & (step.start_s <= now)
            release = (
                np.isin(graph.kind, (Kind.BACKWARD, Kind.WEIGHT_GRADIENT)) if trained else graph.kind == Kind.FORWARD
            )
            over = (graph.device == device) & release & (step.end_s <= now)
            most = max(most, sizes[graph.chunk[begun]].sum() - sizes[graph.chunk[over]].sum())
        assert step.activations_alive(sizes)[device] >= most - 1e-9


@given(steps())
def test_one_medium_never_carries_two_exchanges_at_once(step: Timeline) -> None:
    if step.media is None:
        return
    media, graph = step.media, step.graph
    spans: dict[int, list[tuple[float, float]]] = {}
    for index in np.flatnonzero(step.arrived_s > step.sent_s):
        medium = int(media.boundary[graph.boundary[index]])
        spans.setdefault(medium, []).append((step.sent_s[index], step.arrived_s[index]))
    if not (media.inside == step.devices).all():  # with boundaries as stages only these share a medium
        for index in np.flatnonzero((step.exchange_s > 0) & ~graph.joined):
            begin = step.exchange_start_s[index]
            spans.setdefault(0, []).append((begin, begin + step.exchange_s[index]))
        for begin, end in step.gradients_s[~np.isnan(step.gradients_s[:, 0])]:
            spans.setdefault(0, []).append((begin, end))
    for exchanges in spans.values():
        for (_, end), (begin, _) in itertools.pairwise(sorted(exchanges)):
            assert begin >= end - 1e-12


@given(steps())
def test_the_critical_path_is_as_long_as_the_step(step: Timeline) -> None:
    """And without a gap: each segment begins where the one before ends; nobody waits on it without a reason."""
    path = critical_path(step)
    assert sum(parts_s(path).values()) == pytest.approx(step.step_time_s)
    assert path[0].begin_s == 0
    assert path[-1].end_s == step.step_time_s
    for before, after in itertools.pairwise(path):
        assert before.end_s == pytest.approx(after.begin_s)
    assert parts_s(path)["idle"] == 0


@given(steps())
def test_busy_and_idle_time_add_up(step: Timeline) -> None:
    assert step.busy_s + step.idle_s == pytest.approx(np.full(step.devices, step.step_time_s))
    assert 0 <= step.bubble_fraction < 1
    assert (step.idle_s >= -1e-9).all()


def test_critical_path_of_two_stages() -> None:
    """By hand: F0 1, its boundary 3, F1 2, B1 2 + 2, boundary 3, B0 1 + 1, gradients 5 make 20."""
    times = StageTimes(
        np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0]), gradient_exchange_s=np.array([5.0, 1.0]),
        forward_boundary_s=np.array([3.0]), backward_boundary_s=np.array([3.0]),
    )  # fmt: skip
    step = timeline(GPipe(), 2, 1, times)
    assert step.step_time_s == 20
    assert parts_s(critical_path(step)) == {
        "compute": 9, "exchange": 0, "boundary": 6, "gradient_exchange": 5, "idle": 0,
    }  # fmt: skip
    assert step.busy_s.tolist() == [8, 7]
    assert step.bubble_fraction == 1 - 15 / 40


def test_a_shared_medium_serves_in_the_order_of_readiness() -> None:
    """Two micro-batches, F 1, boundary 4: the second waits from 2 to 5 for the medium, its forward ends at 10."""
    times = StageTimes(np.ones(2), np.ones(2), np.zeros(2), forward_boundary_s=np.array([4.0]))
    step = timeline(Inference(), 2, 2, times, boundaries="shared")
    assert step.sent_s[2:].tolist() == [1, 5]
    assert step.arrived_s[2:].tolist() == [5, 9]
    assert step.step_time_s == 10
    assert parts_s(critical_path(step)) == {
        "compute": 2, "exchange": 0, "boundary": 8, "gradient_exchange": 0, "idle": 0,
    }  # fmt: skip


def test_gradients_behind_the_backward_pass() -> None:
    """Two chunks on one device: the second one's gradients, 3, go while the first still goes backward."""

    class OnOneDevice(Interleaved):
        """Chunks as layers."""

    times = StageTimes(np.ones(2), np.ones(2), np.ones(2), gradient_exchange_s=np.array([1.0, 3.0]))
    after = timeline(OnOneDevice(2), 1, 1, times)
    behind = timeline(OnOneDevice(2), 1, 1, times, overlap_gradients=True)
    assert after.step_time_s == 6 + 4
    assert behind.step_time_s == 4 + 3 + 1  # the link is free at 7
    assert behind.gradients_s.tolist() == [[7, 8], [4, 7]]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_many_candidates_at_once_are_as_one_by_one(schedule: Schedule) -> None:
    chunks = 1 + max(max(held) for held in schedule.placement(4))
    candidates = [uniform(chunks, 1 + 0.1 * index, 1.5, 0.5, 0.2 * index) for index in range(4)]
    one_by_one = [timeline(schedule, 4, 8, times).step_time_s for times in candidates]
    assert step_times_s(schedule, 4, 8, candidates).tolist() == one_by_one


class Listed:
    """A schedule of a user's own."""

    def __init__(self, *orders: list[tuple[int, int, int]]) -> None:
        self.lists = orders

    def placement(self, devices: int) -> list[list[int]]:
        return [[device] for device in range(devices)]

    def orders(self, devices: int, micro_batches: int) -> list[np.ndarray]:
        return [np.array(order) for order in self.lists]


F, B, I, W = (int(kind) for kind in list(Kind)[:4])  # noqa: E741


@pytest.mark.parametrize(
    ("orders", "sentence"),
    [
        (([(F, 0, 0), (F, 0, 0)],), "schedule Listed: an operation appears twice"),
        (([(F, 0, 0), (B, 0, 0)],) * 1, None),
        (([(F, 0, 0), (B, 0, 1)],), "schedule Listed: the forward of micro-batch 1 in chunk 0 is missing"),
        (([(F, 0, 0), (F, 0, 1), (B, 0, 0)],), "schedule Listed: the backward of micro-batch 1 in chunk 0 is missing"),
        (([(F, 0, 0), (I, 0, 0)],), "schedule Listed: the weight gradient of micro-batch 0 in chunk 0 is missing"),
        (
            ([(B, 0, 0), (F, 0, 0)],),
            "schedule Listed: micro-batch 0 in chunk 0 has its backward before its forward, or on another device",
        ),
    ],
)
def test_a_schedule_of_a_user_s_own_is_checked(
    orders: tuple[list[tuple[int, int, int]], ...], sentence: str | None
) -> None:
    micro_batches = 1 + max(part for order in orders for _, _, part in order)
    if sentence is None:
        assert timeline(Listed(*orders), 1, micro_batches, uniform(1)).step_time_s == 3
        return
    with pytest.raises(UserError) as error:
        timeline(Listed(*orders), len(orders), micro_batches, uniform(len(orders)))
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (lambda: StageTimes(np.ones(2), np.ones(1), np.ones(2)), "input_gradient_s has 1 entries where 2 are needed"),
        (
            lambda: StageTimes(np.array([-1.0]), np.ones(1), np.ones(1)),
            "forward_s must be finite seconds of at least 0",
        ),
        (lambda: timeline(GPipe(), 3, 1, uniform(2)), "the schedule has 3 chunks where times of 2 are known"),
        (lambda: timeline(GPipe(), 0, 1, uniform(1)), "pipeline.stages must be a whole number of at least 1"),
        (
            lambda: timeline(OneFOneB(together=True), 3, 9, uniform(3), boundaries="stage"),
            "boundaries can be stages of their own only where a schedule runs one operation at a time",
        ),
        (
            lambda: timeline(Interleaved(), 2, 2, uniform(4), boundaries="stage"),
            "boundaries can be stages of their own only where a schedule has one chunk on each device",
        ),
    ],
)
def test_bad_input(times: object, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        times()  # type: ignore[operator]
