"""`hardware.half_efficiency_batch`: b samples take as long as b + this many, under every plan and in every account."""

from __future__ import annotations

import numpy as np
import pytest

from hypar_exp.planning import Optimal, PlanningProblem, Split
from hypar_exp.simulation import CostModel, HTree, PlanCosts, Time, simulate
from tests.conf import accounting, hardware, network

LENET, ARRAY, ACCOUNTING = network("lenet_c"), HTree("htree", 4), accounting()
FAST, SLOW = (hardware(half_efficiency_batch=samples, dram_bandwidth_bytes_per_s=1e20) for samples in (0.0, 64.0))


@pytest.mark.parametrize(("split", "samples"), [(Split.DP, 256 / 16), (Split.MP, 256)])
def test_a_plan_s_share_of_the_batch_decides(split: Split, samples: float) -> None:
    """With as many samples as that the sustained rate is halved."""
    plan = np.full((4, len(LENET.layers)), split, dtype=np.uint8)
    before = simulate(LENET, plan, ARRAY, FAST, ACCOUNTING, 256)
    after = simulate(LENET, plan, ARRAY, SLOW, ACCOUNTING, 256)
    assert after.compute_time_s == pytest.approx(before.compute_time_s * (1 + 64 / samples))
    assert after.communication_time_s == before.communication_time_s
    assert after.step_energy_j == before.step_energy_j


def test_many_plans_cost_what_each_does() -> None:
    plans = np.random.default_rng(3).integers(0, 2, (40, 4, len(LENET.layers)), dtype=np.uint8)
    together = PlanCosts(CostModel(LENET, ARRAY, SLOW, ACCOUNTING, 256)).of(plans).step_time_s
    alone = [simulate(LENET, plan, ARRAY, SLOW, ACCOUNTING, 256).step_time_s for plan in plans]
    assert together == pytest.approx(alone)


def test_the_optimum_for_time_knows_of_it() -> None:
    """The least time of all plans of two levels, by trying them."""
    array = HTree("htree", 2)
    model = CostModel(LENET, array, SLOW, ACCOUNTING, 256)
    layers = len(LENET.layers)
    every = ((np.arange(2 ** (2 * layers))[:, None] >> np.arange(2 * layers)) & 1).astype(np.uint8)
    least = PlanCosts(model).of(every.reshape(-1, 2, layers)).step_time_s.min()
    problem = PlanningProblem(LENET, 256, 2, ACCOUNTING.communication, costs=Time().costs(model))
    found = simulate(LENET, Optimal().plan(problem), array, SLOW, ACCOUNTING, 256)
    assert found.step_time_s == pytest.approx(least)
