"""Balanced stages: never worse than any other way to cut."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import load_profile
from hypar_exp.planning.pipelines.balanced import Balanced, GPipe
from hypar_exp.planning.pipelines.problem import Cluster, PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import ProfileCosts
from hypar_exp.planning.stages import StagePlan
from tests.planning.pipelines.profiles import random_profile

DATA = Path(__file__).parents[2] / "data"
RATE = 4.0


@st.composite
def problems(draw: st.DrawFn) -> PipelineProblem:
    profile = random_profile(draw, chain=draw(st.booleans()))
    cluster = Cluster(1, draw(st.integers(1, 5)), inside_bytes_per_s=RATE)
    return PipelineProblem(ProfileCosts.of(profile), cluster, batch_size=8, micro_batches=2)


def partitions(problem: PipelineProblem, stages: int) -> list[tuple[int, ...]]:
    """All ways to cut into so many stages, as cuts."""
    cuts = problem.costs.cuts
    inner = itertools.permutations(range(1, len(cuts) - 1), stages - 1)
    chains = ((0, *path, len(cuts) - 1) for path in inner)
    return [path for path in chains if all(cuts.below[a, b] for a, b in itertools.pairwise(path))]


def slowest(problem: PipelineProblem, path: tuple[int, ...]) -> float:
    costs = problem.costs
    seconds = costs.forward_s(problem.samples) + costs.backward_s(problem.samples)
    links = 2 * costs.cut_bytes(problem.samples) / RATE
    return max([float(seconds[a, b]) for a, b in itertools.pairwise(path)] + [float(links[cut]) for cut in path[1:-1]])


def path_of(problem: PipelineProblem, plan: StagePlan) -> tuple[int, ...]:
    inside = problem.costs.cuts.inside
    before, path = np.zeros(inside.shape[1], np.bool_), [0]
    for stage in plan.stages:
        before[list(stage.layers)] = True
        path.append(int(np.flatnonzero((inside == before).all(axis=1))[0]))
    return tuple(path)


@given(problems())
def test_no_cut_is_better_balanced(problem: PipelineProblem) -> None:
    path = path_of(problem, Balanced().plan(problem))
    ways = [way for stages in range(1, problem.cluster.devices + 1) for way in partitions(problem, stages)]
    least = min(slowest(problem, way) for way in ways)
    assert slowest(problem, path) == pytest.approx(least)
    assert len(path) == min(len(way) for way in ways if slowest(problem, way) <= least * (1 + 1e-12))


def test_gpipe_of_vgg16_over_four_by_time_and_by_parameters() -> None:
    profile = load_profile(str(DATA / "pipedream/vgg16.graph.txt"))
    problem = PipelineProblem(ProfileCosts.of(profile), Cluster(1, 4), profile.batch_size, 4)
    by_time = GPipe("time").plan(problem)
    total_s = profile.forward_s + profile.backward_s
    assert len(by_time.stages) == 4
    largest = max(total_s[list(stage.layers)].sum() for stage in by_time.stages)
    ends = itertools.combinations(range(1, 41), 3)
    assert largest == pytest.approx(min(max(part.sum() for part in np.split(total_s, end)) for end in ends))
    by_weights = GPipe("parameters").plan(problem)
    classifier = profile.descriptions.index("Linear(in_features=4096, out_features=1000, bias=True)")
    assert any(classifier in stage.layers for stage in by_weights.stages)
    assert len(by_weights.stages) == 4


def test_more_accelerators_than_layers() -> None:
    profile = load_profile(str(DATA / "pipedream/alexnet.graph.txt"))
    problem = PipelineProblem(ProfileCosts.of(profile), Cluster(1, 32), profile.batch_size)
    with pytest.raises(UserError, match=r"a stage for each of the 32 accelerators, but there are 23 layers$"):
        GPipe().plan(problem)
