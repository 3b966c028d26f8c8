"""Explorations against a list of all plans, each simulated on its own."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import Exploration, Explore, Fixed, HyPar, PlanningProblem, StepCosts
from hypar_exp.simulation import Accounting, CostModel, Hardware, HTree, PlanCosts, simulate

# memory slow enough to bound some layers under some plans
HARDWARE = Hardware("hmc", 168, 500e6, 0.8, 1600e6, 2e9, 8e9, 4, 0.9e-12, 3.7e-12, 5e-12, 640e-12)
ACCOUNTING = Accounting(
    "three",
    {"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}, "op": {"input_error": 2}},
    {"dp": {"mp": {"feature": 0.5, "error": 0.5}, "op": {"feature": 1}}, "op": {"op": {"feature": 1}}},
)
DP, MP = Fixed("dp", "dp"), Fixed("mp", "mp")
TYPES = st.sampled_from([("dp", "mp"), ("dp", "mp", "op")])


def problem_of(network: Network, levels: int, batch: int = 64) -> PlanningProblem:
    costs = PlanCosts(CostModel(network, HTree(levels=levels), HARDWARE, ACCOUNTING, batch))
    return PlanningProblem(network, batch, levels, ACCOUNTING.communication, simulator=costs)


def found(explore: Explore, problem: PlanningProblem) -> Exploration:
    exploration = explore.explore(problem).exploration
    assert exploration is not None
    return exploration


@st.composite
def fc_chains(draw: st.DrawFn) -> Network:
    sizes = draw(st.lists(st.integers(1, 2000), min_size=2, max_size=4))
    return networks.build("random", sizes[:1], {f"fc{at}": {"fc": size} for at, size in enumerate(sizes[1:])})


@settings(max_examples=30)
@given(fc_chains(), st.integers(0, 2), TYPES, st.integers(1, 20), st.data())
def test_an_exploration_is_the_list_of_all_plans(
    network: Network, levels: int, types: tuple[str, ...], best: int, data: st.DataObject
) -> None:
    problem = problem_of(network, levels)
    free_layers = data.draw(st.none() | st.lists(st.sampled_from(network.layer_names), min_size=1))
    free_levels = data.draw(st.none() | st.lists(st.integers(1, levels), min_size=1)) if levels else None
    explore = Explore(HyPar(), DP, [MP, HyPar()], types=types, layers=free_layers, levels=free_levels, best=best)
    exploration = found(explore, problem)

    base = HyPar().plan(problem).choices
    entries = [
        (level, layer)
        for level in range(levels)
        for layer in range(len(network.layers))
        if (free_levels is None or level + 1 in free_levels)
        and (free_layers is None or network.layer_names[layer] in free_layers)
    ]
    plans, times = [], []
    for choices in itertools.product(range(len(types)), repeat=len(entries)):
        plan = base.copy()
        for entry, choice in zip(entries, choices, strict=True):
            plan[entry] = choice
        plans.append(plan)
        times.append(simulate(network, plan, HTree(levels=levels), HARDWARE, ACCOUNTING, 64).step_time_s)
    reference = simulate(network, DP.plan(problem), HTree(levels=levels), HARDWARE, ACCOUNTING, 64).step_time_s
    relative = np.array(times) / reference

    assert exploration.space == exploration.costed == exploration.histogram.sum() == len(plans)
    assert exploration.every is not None
    assert np.array_equal(exploration.every.plans, np.array(plans))
    assert exploration.every.performance == pytest.approx(1 / relative, rel=1e-9)
    assert exploration.best.relative_time == pytest.approx(np.sort(relative)[:best], rel=1e-9)
    assert exploration.names == ("dp", "mp", "hypar")
    for at, plan in enumerate((DP.plan(problem).choices, MP.plan(problem).choices, base)):
        time = simulate(network, plan, HTree(levels=levels), HARDWARE, ACCOUNTING, 64).step_time_s
        assert exploration.faster_than_named[at] == (relative < time / reference * (1 - 1e-9)).sum()
    middle = np.quantile(1 / relative, 0.5, method="inverted_cdf")
    assert exploration.quantile(0.5) == pytest.approx(middle, rel=0.006)


def test_equal_plans_stand_in_the_order_of_the_space() -> None:
    exploration = found(Explore(HyPar(), DP, best=50), problem_of(networks.load("lenet_c"), 3))
    for earlier, later in itertools.pairwise(range(50)):
        if exploration.best.relative_time[earlier] == exploration.best.relative_time[later]:
            plans = ["".join(map(str, exploration.best.plans[at].ravel())) for at in (earlier, later)]
            assert plans[0] < plans[1]


def test_samples_where_the_space_is_larger() -> None:
    problem = problem_of(networks.load("vgg_a"), 4)
    told: list[tuple[int, int]] = []
    problem = replace(problem, progress=lambda done, total: told.append((done, total)))
    explore = Explore(HyPar(), DP, samples=20_000, seed=3, best=5)
    one, two = found(explore, problem), found(explore, problem)
    assert (one.space, one.costed) == (2**44, 20_000)
    assert np.array_equal(one.histogram, two.histogram)
    assert np.array_equal(one.best.plans, two.best.plans)
    assert told[-1] == (20_000, 20_000)
    other = found(replace(explore, seed=4), problem)
    assert not np.array_equal(one.histogram, other.histogram)
    small = found(replace(explore, layers=["fc1", "fc2"]), problem)
    assert (small.space, small.costed) == (256, 256)


def test_a_large_exploration_keeps_no_list() -> None:
    exploration = found(Explore(HyPar(), DP, samples=150_000), problem_of(networks.load("alexnet"), 4))
    assert exploration.every is None
    assert len(exploration.best) == 10


LENET, VGG = problem_of(networks.load("lenet_c"), 4), problem_of(networks.load("vgg_a"), 4)


@pytest.mark.parametrize(
    ("fields", "problem", "sentence"),
    [
        (
            {},
            VGG,
            r"17,592,186,044,416 plans are free and strategy.most_plans is 100,000,000; .*strategy.samples=",
        ),
        ({"most_plans": 1000}, LENET, r"65,536 plans are free and strategy.most_plans is 1,000"),
        ({"levels": [5]}, LENET, r"strategy.levels must be a whole number from 1 to 4 \(got 5\)"),
        ({"levels": 1}, LENET, r"strategy.levels must be a list, as in \[1,4\]"),
        ({"layers": ["fc3"]}, LENET, r"strategy.layers: network lenet_c has no layer 'fc3'; did you mean fc"),
        ({"layers": []}, LENET, r"strategy.layers must be a list, as in \[conv5_2,fc1\]"),
        (
            {},
            replace(LENET, costs=StepCosts("energy")),
            r"simulated step time \(got objective=energy\)",
        ),
        ({}, replace(LENET, simulator=None), r"ranks plans by the simulated step time"),
    ],
)
def test_what_cannot_be_explored(fields: dict[str, object], problem: PlanningProblem, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Explore(HyPar(), DP, **fields).explore(problem)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", [{"samples": 0}, {"seed": -1}, {"best": 0}, {"most_plans": 0}, {"types": ["xp"]}])
def test_fields_out_of_range(field: dict[str, object]) -> None:
    with pytest.raises(UserError, match=f"strategy.{next(iter(field))} must be"):
        Explore(HyPar(), DP, **field)  # type: ignore[arg-type]
