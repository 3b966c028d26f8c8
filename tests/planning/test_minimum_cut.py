"""Minimum cuts against elimination, which brute force has tested, and on a graph too entangled for it."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.planning import Elimination, HyPar, PairAmounts, PlanningProblem, pair_amounts, partition_level
from hypar_exp.planning.solvers.minimum_cut import least_cut
from tests import conf


@given(st.integers(1, 7), st.data())
def test_the_cut_is_the_least_and_has_the_fewest_of_the_second_split(layers: int, data: st.DataObject) -> None:
    pairs = list(itertools.combinations(range(layers), 2))
    ends = sorted(data.draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    within = random.integers(0, 6, (layers, 2)).astype(np.float64)
    between = random.integers(0, 4, (len(ends), 2, 2)).astype(np.float64)
    between[:, 0, 1] += np.maximum(0, between[:, 0, 0] + between[:, 1, 1] - between[:, 0, 1] - between[:, 1, 0])
    choices = least_cut(within, between, ends)
    assert choices is not None
    least = Elimination([2] * layers, [*((layer,) for layer in range(layers)), *ends]).minimise([*within, *between])
    # the least assignments of a submodular sum have a lowest one, so ties do not depend on the order of elimination
    assert choices.tolist() == least.states


def test_edges_that_prefer_unequal_choices_and_three_splits_are_no_cut() -> None:
    unequal = np.array([[[1.0, 0.0], [0.0, 0.0]]])
    assert least_cut(np.zeros((2, 2)), unequal, [(0, 1)]) is None
    assert least_cut(np.zeros((2, 3)), np.zeros((1, 3, 3)), [(0, 1)]) is None


def test_densenet_is_planned_exactly_at_every_level() -> None:
    """A warning would be an error here; no single change of a level, and no two, make it exchange less."""
    network, model = networks.load("densenet121"), conf.accounting().communication
    plan = HyPar().plan(PlanningProblem(network, 256, 8, model))
    amounts: PairAmounts = pair_amounts(network, 256, model, np.zeros((len(network.layers), 3), dtype=np.uint8))
    level = partition_level(network, amounts)
    np.testing.assert_array_equal(level, plan.choices[0])

    def exchanged(choices: np.ndarray) -> float:
        within = amounts.within[np.arange(len(choices)), choices].sum()
        edges = enumerate(network.edges)
        return float(within + sum(amounts.between[at, choices[e.producer], choices[e.consumer]] for at, e in edges))

    least = exchanged(level)
    for pair in itertools.combinations(range(0, len(level), 5), 2):
        changed = level.copy()
        changed[list(pair)] ^= 1
        assert exchanged(changed) >= least
