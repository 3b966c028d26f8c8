"""A step on the array: hand-computed numbers, breakdowns that sum to their totals, and what bounds a layer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.simulation import HTree, StepReport, Torus, simulate
from tests import conf
from tests.planning.random_networks import graphs

# two layers with numbers to follow by hand: 3 features -> 4 -> 2
SMALL = networks.build("small", [3], {"fc1": {"fc": 4}, "fc2": {"fc": 2}})
PLAN = np.array([[0, 1]], dtype=np.uint8)


def small_step(**changes: float) -> StepReport:
    return simulate(SMALL, PLAN, HTree(levels=1), conf.hardware(**changes), conf.accounting(), batch_size=8)


def test_communication_by_hand() -> None:
    report = small_step()
    # fc1 in dp: 2 x 12 weights; fc2 in mp: 2 x 16 outputs, and the 8 x 4 features and errors that it reads, once
    assert report.communication_bytes_by_layer.tolist() == [4 * 24, 4 * (32 + 32)]
    assert report.communication_time_s == pytest.approx(4 * 88 * 8 / 1.6e9)


def test_compute_and_energy_by_hand() -> None:
    report = small_step()
    macs = 3 * 8 * (12 + 8)
    assert report.mac_time_s.sum() == pytest.approx(2 * macs / (2 * 67.2e9))
    # at the leaves: fc1 reads 4 x 3, holds 12 and writes 4 x 4; fc2 reads 8 x 2, holds 2 x 2 and writes 8 x 2
    dram_elements = 2 * 3 * ((12 + 12 + 16) + (16 + 4 + 16))
    parts = report.energy.by_part_j
    assert parts["mac"] == pytest.approx(macs * 4.6e-12)
    assert parts["dram"] == pytest.approx(dram_elements * 640e-12)
    assert parts["communication"] == pytest.approx(3 * 640e-12 * 88)
    assert parts["sram"] == 0


def test_memory_by_hand() -> None:
    memory = small_step().memory
    assert memory.weights_bytes == memory.gradients_bytes == 4 * (12 + 4)
    assert memory.activations_bytes == 4 * (12 + 16 + 16)  # inputs of both layers, and the output of the last
    assert memory.errors_bytes == 4 * (16 + 16)  # fc2's output error and input error


def test_a_slow_dram_bounds_the_compute_time() -> None:
    report = small_step(dram_bandwidth_bytes_per_s=1.0)
    assert report.dram_bound_layers.all()
    assert report.compute_time_s == pytest.approx(3 * 4 * (40 + 36))
    assert not small_step().dram_bound_layers.all()


def test_capacity_decides_what_fits() -> None:
    need = small_step().memory_per_accelerator_bytes
    assert small_step(dram_capacity_bytes=need).fits_in_memory
    assert not small_step(dram_capacity_bytes=need - 1).fits_in_memory


@given(graphs(), st.integers(0, 5), st.integers(1, 300), st.integers(0, 2**32))
def test_breakdowns_sum_to_their_totals(network: Network, levels: int, batch: int, seed: int) -> None:
    plan = np.random.default_rng(seed).integers(0, 2, (levels, len(network.layers)), dtype=np.uint8)
    report = simulate(network, plan, Torus(levels=levels), conf.hardware(), conf.accounting(), batch)
    total = report.communication_bytes
    assert report.communication_bytes_by_level.sum() == pytest.approx(total)
    assert report.communication_bytes_by_layer.sum() == pytest.approx(total)
    assert report.energy.by_layer_j.sum() == pytest.approx(report.step_energy_j)
    assert sum(report.energy.by_part_j.values()) == pytest.approx(report.step_energy_j)
    assert report.step_time_s == pytest.approx(report.compute_time_s_by_layer.sum() + report.communication_time_s)
    assert report.samples_per_s * report.step_time_s == pytest.approx(batch)


@given(graphs(), st.integers(1, 4), st.integers(0, 2**32))
def test_energy_does_not_depend_on_the_topology(network: Network, levels: int, seed: int) -> None:
    plan = np.random.default_rng(seed).integers(0, 2, (levels, len(network.layers)), dtype=np.uint8)
    tree = simulate(network, plan, HTree(levels=levels), conf.hardware(), conf.accounting())
    torus = simulate(network, plan, Torus(levels=levels), conf.hardware(), conf.accounting())
    assert torus.step_energy_j == tree.step_energy_j
    assert torus.communication_time_s == pytest.approx(tree.communication_time_s * Torus(levels=levels).hop_factor)


def test_one_accelerator_exchanges_nothing() -> None:
    alone = np.zeros((0, 2), dtype=np.uint8)
    report = simulate(SMALL, alone, HTree(levels=0), conf.hardware(), conf.accounting(), batch_size=8)
    assert report.communication_bytes == 0
    assert report.step_time_s == report.compute_time_s > 0


@pytest.mark.parametrize(
    "plan",
    [np.zeros((2, 2), np.uint8), np.zeros((1, 3), np.uint8), np.zeros((1, 2), np.int64), np.full((1, 2), 9, np.uint8)],
)
def test_a_plan_of_another_shape_or_with_other_symbols_is_refused(plan: np.ndarray) -> None:
    with pytest.raises(UserError, match="plan"):
        simulate(SMALL, plan, HTree(levels=1), conf.hardware(), conf.accounting())


@pytest.mark.parametrize("field", ["link_bandwidth_bits_per_s", "dram_bandwidth_bytes_per_s", "utilisation"])
@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan")])
def test_hardware_numbers_are_finite_and_positive(field: str, value: float) -> None:
    with pytest.raises(UserError, match=f"hardware.{field} must be a finite number above 0"):
        conf.hardware(**{field: value})
