"""Algorithm 1 on chains and on graphs, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.networks import Edge, Layer, Network, Shape
from hypar_exp.planning import PairAmounts, partition_level


def network_of(layers: int, ends: list[tuple[int, int]]) -> Network:
    """A graph whose shapes do not matter, because the amounts are given."""
    layer = Layer("fc", "fc", Shape(1), Shape(1), weights=1, output_positions=1)
    return Network("random", (layer,) * layers, tuple(Edge(*pair, elements=1) for pair in ends))


def exchanged(network: Network, amounts: PairAmounts, plan: tuple[int, ...]) -> float:
    within = sum(amounts.within[layer, split] for layer, split in enumerate(plan))
    return float(
        within + sum(amounts.between[at, plan[e.producer], plan[e.consumer]] for at, e in enumerate(network.edges))
    )


@given(st.integers(1, 7), st.sampled_from([2, 3]), st.data())
def test_a_level_of_any_graph_exchanges_as_little_as_by_brute_force(
    layers: int, splits: int, data: st.DataObject
) -> None:
    pairs = list(itertools.combinations(range(layers), 2))
    ends = sorted(data.draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    amounts = PairAmounts(
        within=random.integers(0, 9, (layers, splits)).astype(np.float64),
        between=random.integers(0, 9, (len(ends), splits, splits)).astype(np.float64),
    )
    network = network_of(layers, ends)
    plan = tuple(partition_level(network, amounts).tolist())
    every = itertools.product(range(splits), repeat=layers)
    assert exchanged(network, amounts, plan) == min(exchanged(network, amounts, other) for other in every)


@given(st.integers(2, 12), st.sampled_from([2, 3]), st.integers(0, 2**32))
def test_a_chain_with_its_edges_in_another_order_is_planned_the_same(layers: int, splits: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    ends = [(at - 1, at) for at in range(1, layers)]
    within = random.uniform(0, 9, (layers, splits))
    between = random.uniform(0, 9, (len(ends), splits, splits))
    chain, shuffled = network_of(layers, ends), network_of(layers, ends[::-1])
    assert shuffled.is_chain == (layers == 2)
    plan = partition_level(chain, PairAmounts(within, between))
    np.testing.assert_array_equal(partition_level(shuffled, PairAmounts(within, between[::-1])), plan)
