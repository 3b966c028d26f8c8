"""Attention, lookup tables and grouped convolutions: what they keep, read and exchange, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hypar_exp import networks, planning, simulation
from hypar_exp.networks import Network, build
from hypar_exp.planning import Fixed, HyPar, PlanningProblem
from hypar_exp.simulation import HTree, StepReport

ACCOUNTING = simulation.load_accounting()


def step(network: Network, strategy: str, levels: int, batch_size: int) -> StepReport:
    problem = PlanningProblem(network, batch_size, levels, ACCOUNTING.communication)
    plan = Fixed(strategy, strategy).plan(problem)
    return simulation.simulate(network, plan, HTree(levels=levels), simulation.load_hardware(), ACCOUNTING, batch_size)


@pytest.mark.parametrize(
    ("name", "positions", "kept_of_a_block"),
    [  # in units of positions x hidden: inputs of the layers, and query, key and value; then the probabilities
        ("gpt2_small", 1024, (1 + 1 + 1 + 4) + 3),  # one matrix makes query, key and value
        ("bert_base", 512, (3 + 1 + 1 + 4) + 3),
    ],
)
def test_attention_keeps_query_key_value_and_probabilities(name: str, positions: int, kept_of_a_block: int) -> None:
    hidden, heads, blocks, ids = 768, 12, 12, positions
    block = kept_of_a_block * positions * hidden + heads * positions**2
    expected = 4 * (ids + blocks * block + positions * hidden)
    report = step(networks.load(name), "dp", 0, 1)
    assert report.memory.activations_bytes == expected
    without = 4 * (ids + blocks * (kept_of_a_block - 3) * positions * hidden + positions * hidden)
    assert expected / without > {"gpt2_small": 3.6, "bert_base": 2.0}[name]


def test_attention_is_halved_with_its_reader() -> None:
    layers: dict[str, dict[str, Any]] = {
        "qkv": {"matmul": 24},
        "a": {"attention": "qkv", "heads": 2},
        "out": {"matmul": 8},
    }
    network = build("n", [8, 16], layers)
    assert network.layers[1].extra_inputs == 3 * 8 * 16 + 2 * 16 * 16
    whole, halved = (step(network, strategy, level, 2) for strategy, level in (("dp", 0), ("mp", 1)))
    inputs, last = 8 * 16 + 8 * 16 + network.layers[1].extra_inputs, 8 * 16
    assert whole.memory.activations_bytes == 4 * 2 * (inputs + last)
    assert halved.memory.activations_bytes == 4 * 2 * (inputs / 2 + last), "mp does not halve what a layer writes"


def test_a_table_is_read_by_the_rows_that_are_looked_up() -> None:
    network = build("n", [1, 4], {"e": {"embedding": 8, "vocabulary": 1000}})
    rows = 2 * 4 * 8  # batch x tokens x channels
    ids, written = 2 * 4, 2 * 4 * 8
    report = step(network, "dp", 0, 2)
    energy = simulation.load_hardware().dram_energy_j_per_element
    assert report.energy.dram_j.sum() == pytest.approx(3 * (rows + ids + written) * energy, rel=1e-12)
    small = build("n", [1, 4], {"e": {"embedding": 8, "vocabulary": 5}})
    assert step(small, "dp", 0, 2).energy.dram_j.sum() == pytest.approx(3 * (5 * 8 + ids + written) * energy, rel=1e-12)


def test_grouped_convolutions_have_no_partial_sums() -> None:
    conv = {"kernel": 3, "padding": 1}
    network = build("n", [8, 4, 4], {"a": {"conv": 8, **conv, "groups": 8}, "b": {"conv": 6, "kernel": 1}})
    tensor = 2 * 8 * 4 * 4  # batch 2
    tables = planning.pair_amounts(network, 2, ACCOUNTING.communication, np.zeros((2, 3), dtype=np.uint8))
    weights_a, weights_b, written = 9 * 8, 8 * 6, 2 * 6 * 4 * 4
    assert tables.within.tolist() == [[2 * weights_a, 0], [2 * weights_b, 2 * written]]
    # from samples to channels and back each half fetches half of what the other has, forward and backward
    assert tables.between.tolist() == [[[0, tensor], [tensor, 0]]]


def test_groups_that_are_used_up_have_partial_sums_again() -> None:
    network = build("n", [8, 4, 4], {"a": {"conv": 8, "kernel": 1, "groups": 2}})
    above = np.array([[0, 1, 0]], dtype=np.uint8)  # one mp: a group in each half
    within = planning.pair_amounts(network, 2, ACCOUNTING.communication, above).within
    assert within[0, 1] == 2 * (2 * 4 * 4 * 4), "its half of the channels, both ways"


def test_mobilenet_is_priced_as_what_it_exchanges() -> None:
    network = networks.load("mobilenet_v2")
    plan = HyPar().plan(PlanningProblem(network, 32, 4, ACCOUNTING.communication))
    report = simulation.simulate(network, plan, HTree(levels=4), simulation.load_hardware(), ACCOUNTING, 32)
    assert report.communication_bytes == pytest.approx(203.7e6, rel=5e-4)
