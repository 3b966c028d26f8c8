"""Inference: the forward phase alone, against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Edge, Layer, Network, Shape
from hypar_exp.planning import HyPar, PlanningProblem
from hypar_exp.simulation import Accounting, Hardware, HTree, simulate

HARDWARE = Hardware("hmc", 168, 500e6, 0.8, 1600e6, 320e9, 8e9, 4, 0.9e-12, 3.7e-12, 5e-12, 640e-12)
TRAINING = Accounting(
    "as_evaluated",
    {"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}, "op": {"input_error": 1}},
    {"dp": {"mp": {"feature": 0.5, "error": 0.5}}, "mp": {"dp": {"error": 1}}},
)
INFERENCE = TRAINING.inference()
# two fc layers: 6 -> 8 -> 4, weights 48 and 32
NETWORK = networks.build("two", [6], {"fc1": {"fc": 8}, "fc2": {"fc": 4}})


@pytest.mark.parametrize(
    ("plan", "elements"),
    [
        ([[0, 0]], 0),  # nothing but gradients, and inference has none
        ([[1, 1]], 16 * 8 + 16 * 4),  # the partial sums of both outputs
        ([[0, 1]], 0.5 * 16 * 8 + 16 * 4),  # half of the feature between, and the second output
        ([[1, 0]], 16 * 8),  # the errors between cost training only
        ([[2, 2]], 0),  # only errors are partial
        ([[0, 0], [1, 1]], 2 * (8 * 8 + 8 * 4)),
    ],
)
def test_only_features_are_exchanged(plan: list[list[int]], elements: float) -> None:
    array = np.array(plan, dtype=np.uint8)
    report = simulate(NETWORK, array, HTree(levels=len(plan)), HARDWARE, INFERENCE, batch_size=16)
    assert report.communication_bytes == 4 * elements


def test_one_phase_of_three() -> None:
    plan = np.array([[0, 1]], dtype=np.uint8)
    training, inference = (
        simulate(NETWORK, plan, HTree(levels=1), HARDWARE, accounting, 16) for accounting in (TRAINING, INFERENCE)
    )
    assert inference.mac_time_s * 3 == pytest.approx(training.mac_time_s)
    assert inference.energy.mac_j * 3 == pytest.approx(training.energy.mac_j)
    # one half: fc1 is dp: W 48, F_0 8x6, F_1 8x8; fc2 is mp: W 16, F_1 16x4, F_2 16x4; two halves, 640 pJ each
    assert inference.energy.dram_j == pytest.approx([2 * (48 + 48 + 64) * 640e-12, 2 * (16 + 64 + 64) * 640e-12])
    assert inference.energy.communication_j.sum() == pytest.approx(3 * (64 + 64) * 640e-12)


def test_memory_is_the_weights_and_what_is_alive() -> None:
    plan = np.array([[0, 1]], dtype=np.uint8)
    memory = simulate(NETWORK, plan, HTree(levels=1), HARDWARE, INFERENCE, 16).memory
    assert memory.weights_bytes == 4 * (48 + 16)
    assert memory.activations_bytes == 4 * max(8 * 6 + 8 * 8, 16 * 4 + 16 * 4)
    assert (memory.gradients_bytes, memory.errors_bytes) == (0, 0)


def test_a_tensor_that_a_later_layer_reads_stays_alive() -> None:
    layers = tuple(Layer(f"l{at}", "fc", Shape(n), Shape(n), n * n, 1) for at, n in enumerate([10, 10, 10, 10]))
    chain = Network.chain("chain", layers)
    skips = Network("skips", layers, (*chain.edges, Edge(0, 2, 10), Edge(0, 3, 10)))
    plan = np.zeros((0, 4), dtype=np.uint8)
    alive = [
        simulate(network, plan, HTree(levels=0), HARDWARE, INFERENCE, 1).memory.activations_bytes
        for network in (chain, skips)
    ]
    assert alive == [4 * 20, 4 * 30]


@pytest.mark.parametrize("name", ["sfc", "lenet_c", "alexnet", "vgg_e"])
def test_the_planner_finds_that_data_parallelism_is_free(name: str) -> None:
    network = networks.load(name)
    plan = HyPar().plan(PlanningProblem(network, 256, 4, INFERENCE.communication))
    assert not plan.choices.any()
    assert simulate(network, plan, HTree(), HARDWARE, INFERENCE).communication_bytes == 0


def test_dram_accesses_by_phase_are_checked() -> None:
    with pytest.raises(UserError, match=r"accounting.dram_accesses has no key 'forwards'; did you mean forward"):
        Accounting("mine", TRAINING.within_layer, {}, dram_accesses={"forwards": {"weights": 1}})
    with pytest.raises(UserError, match=r"accounting.dram_accesses.forward has no key 'weight'"):
        Accounting("mine", TRAINING.within_layer, {}, dram_accesses={"forward": {"weight": 1}})
