"""The communication model and Algorithm 1 as mathematics: against loops and brute force written from the definition."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import (
    Choices,
    CommunicationModel,
    HyPar,
    PlanningProblem,
    Split,
    level_communication,
    pair_amounts,
    partition_level,
)
from tests import conf
from tests.planning.random_networks import graphs

MODELS = [conf.accounting(name).communication for name in ("as_evaluated", "as_tabulated")]
batches = st.integers(1, 64)


def exchanged_by_definition(network: Network, batch: int, plan: Choices, level: int, tabulated: bool) -> Fraction:
    """Elements at one level, all pairs, from the rules of the paper for one plan: exact, one layer after the other."""
    total = Fraction(0)
    for at, layer in enumerate(network.layers):
        halvings = [int(choice) for choice in plan[:level, at]]
        weights = Fraction(layer.weights, 2 ** halvings.count(1))
        outputs = Fraction(batch * layer.output.elements, 2 ** halvings.count(0))
        total += 2 * outputs if plan[level, at] else 2 * weights
    for edge in network.edges:
        boundary = Fraction(batch * edge.elements, 2**level)  # either choice halves what the consumer reads
        if plan[level, edge.producer] == 0:
            total += boundary if plan[level, edge.consumer] == 1 else 0
        else:
            total += boundary if tabulated else 0
    return total * Fraction(2**level)


@st.composite
def planned(draw: st.DrawFn, most_levels: int = 4, plans: int = 5) -> tuple[Network, int, Choices]:
    network = draw(graphs())
    levels = draw(st.integers(1, most_levels))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return network, draw(batches), random.integers(0, 2, (plans, levels, len(network.layers)), dtype=np.uint8)


@given(planned(), st.booleans())
def test_the_vectorised_cost_is_the_plain_loop_s(case: tuple[Network, int, Choices], tabulated: bool) -> None:
    network, batch, plans = case
    found = level_communication(network, batch, MODELS[tabulated], plans)
    for plan, row in zip(plans, found, strict=True):
        expected = [exchanged_by_definition(network, batch, plan, level, tabulated) for level in range(len(plan))]
        np.testing.assert_allclose(row, [float(value) for value in expected], rtol=1e-12)
    assert (found >= 0).all()


@given(planned(plans=7), st.integers(1, 6))
def test_a_plan_costs_the_same_however_it_is_batched(case: tuple[Network, int, Choices], cut: int) -> None:
    network, batch, plans = case
    together = level_communication(network, batch, MODELS[0], plans)
    apart = [level_communication(network, batch, MODELS[0], part) for part in (plans[:cut], plans[cut:])]
    np.testing.assert_array_equal(np.concatenate(apart), together)


@given(graphs(), batches, st.integers(1, 6))
def test_dp_exchanges_in_proportion_to_the_weights_alone(network: Network, batch: int, levels: int) -> None:
    plan = np.zeros((1, levels, len(network.layers)), dtype=np.uint8)
    total = level_communication(network, batch, MODELS[0], plan).sum()
    assert total == pytest.approx(2 * (2**levels - 1) * network.weights.sum())


@given(graphs(), batches)
def test_algorithm_1_is_as_good_as_every_choice(network: Network, batch: int) -> None:
    counts = np.zeros((len(network.layers), len(Split)), dtype=np.uint8)
    plan = partition_level(network, pair_amounts(network, batch, MODELS[0], counts))
    every = np.array(list(itertools.product((0, 1), repeat=len(network.layers))), dtype=np.uint8)[:, None]
    costs = level_communication(network, batch, MODELS[0], every)[:, 0]
    assert level_communication(network, batch, MODELS[0], plan[None, None])[0, 0] == costs.min()


def test_ties_go_to_data_parallelism() -> None:
    # one layer whose gradient is as large as its output: 6 x 4 weights, 6 samples of 4
    tied = networks.build("tied", [6], {"fc1": {"fc": 4}})
    plan = HyPar().plan(PlanningProblem(tied, batch_size=6, levels=1, communication=MODELS[0]))
    assert plan.choices.tolist() == [[0]]


@pytest.mark.parametrize(
    ("within", "between", "sentence"),
    [
        ({"dpp": {}}, {}, "accounting.within_layer has no split 'dpp'; did you mean dp"),
        ({"dp": {"gradient": 2}}, {}, "accounting.within_layer.dp has no key 'gradient'; did you mean weight_gradient"),
        ({"dp": {"weight_gradient": -2}}, {}, "accounting.within_layer.dp.weight_gradient must be a finite number"),
        ({"dp": {"weight_gradient": float("nan")}}, {}, "must be a finite number of at least 0"),
        ({"dp": {}, "mp": {}}, {"dp": {"mp": {"features": 1}}}, "between_layers.dp.mp has no key 'features'"),
    ],
)
def test_a_coefficient_that_is_not_understood_is_refused(
    within: dict[str, dict[str, float]], between: dict[str, dict[str, dict[str, float]]], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        CommunicationModel(within, between)
