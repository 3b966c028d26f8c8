"""The proven best pipeline against every plan there is, on the timeline of several schedules."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import Profile
from hypar_exp.planning.pipelines import Cluster, Dapple, Optimal, PipelineProblem, ProfileCosts
from hypar_exp.planning.pipelines.links import placements
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.simulation.cluster_step import ClusterTimeline
from hypar_exp.simulation.operations import Schedule
from hypar_exp.simulation.schedules import Chimera, GPipe, OneFOneB, ZeroBubbleH1
from hypar_exp.systems.cluster import ClusterPipeline
from tests.systems.settings import setting

CLUSTERS = (Cluster(1, 3), Cluster(2, 2, 5.0, 2.0), Cluster(1, 4, 3.0))
SCHEDULES: tuple[Schedule, ...] = (GPipe(), OneFOneB(), OneFOneB("long"), ZeroBubbleH1())


@st.composite
def problems(draw: st.DrawFn) -> PipelineProblem:
    """A chain of a few units of whole seconds and bytes, timed under a schedule."""
    units = draw(st.integers(1, 4))
    numbers = st.lists(st.integers(0, 9), min_size=units, max_size=units)
    forward, backward, outputs, weights = (np.array(draw(numbers), dtype=np.float64) for _ in range(4))
    edges = tuple((unit, unit + 1) for unit in range(units - 1))
    names = tuple(f"u{unit}" for unit in range(units))
    profile = Profile("drawn", names, names, 1, forward + 1, backward + 1, outputs, weights, edges)
    cluster = draw(st.sampled_from(CLUSTERS))
    if draw(st.booleans()):
        cluster = replace(cluster, memory_bytes=float(draw(st.integers(1, 60))))
    problem = PipelineProblem(ProfileCosts.of(profile), cluster, draw(st.integers(1, 8)), draw(st.integers(1, 4)))
    return replace(problem, timeline=ClusterTimeline(problem, draw(st.sampled_from(SCHEDULES)), draw(st.booleans())))


def every_plan(problem: PipelineProblem) -> Iterator[StagePlan]:
    """All cuts, counts of accelerators, copies, and DAPPLE's placements of each stage in turn."""
    cluster, units = problem.cluster, problem.costs.cuts.inside.shape[1]
    for copies in range(1, cluster.devices + 1):
        if cluster.devices % copies or copies > problem.micro_batches:
            continue
        for count in range(1, units + 1):
            for inner in itertools.combinations(range(1, units), count - 1):
                bounds = (0, *inner, units)
                for placed in _placed(np.full(cluster.machines, cluster.devices_per_machine), count, copies, cluster):
                    stages = tuple(
                        Stage(
                            tuple(range(bounds[at], bounds[at + 1])),
                            sum(on) // copies,
                            sum(on) // copies,
                            machines=on,
                        )
                        for at, on in enumerate(placed)
                    )
                    yield StagePlan(stages, problem.micro_batches // copies, copies)


def _placed(free: np.ndarray, count: int, copies: int, cluster: Cluster) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not count:
        yield ()
        return
    for wanted in range(copies, int(free.sum()) + 1, copies):
        for chosen in placements(free, cluster.devices_per_machine, wanted):
            for others in _placed(free - chosen, count - 1, copies, cluster):
                yield (tuple(chosen.tolist()), *others)


def test_weight_gradients_may_be_left_to_do_when_the_last_micro_batch_has_gone_back() -> None:
    """With the gradients apart the stage before goes on at once: the best plan has a stage that still works then."""
    names, none = ("u0", "u1", "u2"), np.zeros(3)
    forward, backward = np.array([2.0, 1.0, 1.0]), np.array([5.0, 1.0, 6.0])
    profile = Profile("drawn", names, names, 1, forward, backward, none, np.array([1.0, 0.0, 1.0]), ((0, 1), (1, 2)))
    problem = PipelineProblem(ProfileCosts.of(profile), Cluster(2, 2, 5.0, 2.0), 1, 2)
    timed = replace(problem, timeline=ClusterTimeline(problem, ZeroBubbleH1()))
    assert timed.timeline is not None
    least = min(timed.timeline.step_time_s(plan) for plan in every_plan(timed))
    assert least == pytest.approx(4.95)
    assert Optimal(time_limit_s=60.0).prove(timed).step_time_s == pytest.approx(least)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_is_the_least_of_all_plans(problem: PipelineProblem) -> None:
    assert problem.timeline is not None
    least = min(problem.timeline.step_time_s(plan) for plan in every_plan(problem))
    if math.isinf(least):
        with pytest.raises(UserError, match="no plan was found that fits in"):
            Optimal(time_limit_s=60.0).plan(problem)
        return
    proven = Optimal(time_limit_s=60.0).prove(problem)
    assert proven.step_time_s == pytest.approx(least, rel=1e-9)
    assert proven.bound_s == pytest.approx(least, rel=1e-9)
    assert problem.timeline.step_time_s(proven.plan) == proven.step_time_s


@settings(max_examples=30, deadline=None)
@given(problems())
def test_what_is_proven_when_time_runs_out_is_below_every_plan(problem: PipelineProblem) -> None:
    assert problem.timeline is not None
    least = min(problem.timeline.step_time_s(plan) for plan in every_plan(problem))
    if math.isinf(least):
        return
    try:
        proven = Optimal(time_limit_s=1e-9).prove(problem)
    except UserError:  # none of the other planners' plans fits, and there was no time to look for another
        return
    assert proven.bound_s <= least * (1 + 1e-9)
    assert proven.step_time_s >= least * (1 - 1e-9)


def test_is_never_slower_than_the_published_planners() -> None:
    optimal, dapple = (
        ClusterPipeline(planner, Cluster(2, 2), micro_batches=8, gap=True).run(setting(network="lenet_c"))
        for planner in (Optimal(), Dapple())
    )
    assert optimal.metrics["step_time_s"] <= dapple.metrics["step_time_s"]
    assert optimal.metrics["optimality_gap"] <= dapple.metrics["optimality_gap"]
    assert any("proven" in words or "above the least" in words for words in optimal.words)


def test_schedules_with_stages_on_several_devices_are_not_proven() -> None:
    schedule: Schedule = Chimera()
    with pytest.raises(UserError, match=r"the best plan is proven for schedules with one stage on each device"):
        ClusterPipeline(Optimal(), Cluster(1, 2)).run(replace(setting(network="lenet_c"), schedule=schedule))
    costs = ProfileCosts.of(Profile("one", ("a",), ("a",), 1, np.ones(1), np.ones(1), np.ones(1), np.ones(1), ()))
    with pytest.raises(UserError, match=r"planner optimal needs the timeline of a schedule"):
        Optimal().plan(PipelineProblem(costs, Cluster(), 1))
