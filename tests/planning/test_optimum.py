"""The optimum over all levels: against brute force over whole plans, and its known distance from HyPar's plans."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import (
    Choices,
    CommunicationModel,
    HyPar,
    Optimal,
    PlanningProblem,
    level_communication,
)
from tests.planning.random_networks import graphs
from tests.planning.test_paper_plans import AS_EVALUATED, NETWORKS
from tests.planning.test_three_splits import models

MOST_PLANS = 2**15
"""5 layers x 3 levels of two splits; three splits go as far as this allows."""
TYPES = (("dp", "mp"), ("dp", "mp", "op"), ("dp", "op"))
NUMBERS = {"dp": 0, "mp": 1, "op": 2}


def exchanged(problem: PlanningProblem, plans: Choices) -> NDArray[np.float64]:
    totals: NDArray[np.float64] = level_communication(
        problem.network, problem.batch_size, problem.communication, plans
    ).sum(axis=1)
    return totals


def every_plan(levels: int, layers: int, types: tuple[str, ...]) -> Choices:
    """Every plan there is, uint8[plans, levels, layers]."""
    cells = levels * layers
    digits = np.arange(len(types) ** cells)[:, None] // len(types) ** np.arange(cells) % len(types)
    numbers = np.array([NUMBERS[label] for label in types], dtype=np.uint8)
    return numbers[digits].reshape(len(digits), levels, layers)


@st.composite
def problems(draw: st.DrawFn, splits: int) -> PlanningProblem:
    network, model = draw(graphs()), draw(models())
    most_levels = 3
    while splits ** (most_levels * len(network.layers)) > MOST_PLANS:
        most_levels -= 1
    return PlanningProblem(network, draw(st.integers(1, 64)), draw(st.integers(0, most_levels)), model)


@given(st.data(), st.sampled_from(TYPES))
def test_optimal_is_the_least_of_all_plans_and_the_closest_to_hypars(data: st.DataObject, types: tuple[str]) -> None:
    problem = data.draw(problems(len(types)))
    plan, level_by_level = Optimal(types=types).plan(problem).choices, HyPar(types=types).plan(problem).choices
    every = every_plan(problem.levels, len(problem.network.layers), types)
    costs = exchanged(problem, every)
    assert exchanged(problem, plan[None])[0] == costs.min()
    distances = (every != level_by_level).sum(axis=(1, 2))
    assert (plan != level_by_level).sum() == distances[costs == costs.min()].min()


@settings(max_examples=50)
@given(graphs(most_layers=4), st.integers(4, 7), st.integers(1, 4096))
@pytest.mark.filterwarnings("ignore::hypar_exp.planning.PlanningWarning")  # the densest graphs are not planned exactly
def test_optimal_is_never_above_hypar_and_no_single_change_helps(network: Network, levels: int, batch: int) -> None:
    problem = PlanningProblem(network, batch, levels, AS_EVALUATED)
    plan, level_by_level = Optimal().plan(problem).choices, HyPar().plan(problem).choices
    changed = np.tile(plan, (plan.size, 1, 1))
    for at, (level, layer) in enumerate(itertools.product(*map(range, plan.shape))):
        changed[at, level, layer] ^= 1
    least, hypar, *others = exchanged(problem, np.stack([plan, level_by_level, *changed]))
    assert least <= min(hypar, *others)


@pytest.mark.parametrize("name", NETWORKS)
def test_hypar_is_optimal_at_four_levels(name: str) -> None:
    problem = PlanningProblem(networks.load(name), 256, 4, AS_EVALUATED)
    assert np.array_equal(Optimal().plan(problem), HyPar().plan(problem))


@pytest.mark.parametrize(("name", "gap"), [("vgg_a", 0.019), ("vgg_c", 0.0)])
def test_known_gaps_at_six_levels(name: str, gap: float) -> None:
    problem = PlanningProblem(networks.load(name), 256, 6, AS_EVALUATED)
    hypar, least = exchanged(problem, np.stack([HyPar().plan(problem), Optimal().plan(problem)]))
    assert hypar / least - 1 == pytest.approx(gap, abs=5e-4)


def test_more_states_than_can_be_looked_at() -> None:
    wide = CommunicationModel({"dp": {"weight_gradient": 1}, "mp": {"output": 1}, "op": {"input_error": 1}})
    problem = PlanningProblem(networks.load("vgg_e"), 256, 14, wide)
    sentence = "optimum over 14 levels of 3 splits has 4,782,969 states a layer, too many for 19 layers"
    with pytest.raises(UserError, match=sentence):
        Optimal(types=("dp", "mp", "op")).plan(problem)
