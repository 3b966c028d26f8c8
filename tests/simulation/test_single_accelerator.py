"""An array of no levels is one accelerator: nothing is split and nothing is exchanged."""

from __future__ import annotations

from hypar_exp import networks
from hypar_exp.planning import HyPar, PlanningProblem
from hypar_exp.simulation import Accounting, Hardware, HTree, simulate

HARDWARE = Hardware("hmc", 168, 500e6, 0.8, 1600e6, 320e9, 8e9, 4, 0.9e-12, 3.7e-12, 5e-12, 640e-12)
ACCOUNTING = Accounting("as_evaluated", {"dp": {"weight_gradient": 2.0}, "mp": {"output": 2.0}}, {})


def test_one_accelerator_exchanges_nothing() -> None:
    network = networks.load("lenet_c")
    plan = HyPar().plan(PlanningProblem(network, 256, 0, ACCOUNTING.communication))
    report = simulate(network, plan, HTree(levels=0), HARDWARE, ACCOUNTING, 256)
    assert plan.choices.shape == (0, 4)
    assert report.communication_bytes == 0
    # 2 operations x 3 phases x weights at 28x28, 12x12, 1 and 1 positions x batch, at 67.2 GOPS
    macs = 500 * 28 * 28 + 25_000 * 12 * 12 + 400_000 + 5_000
    assert abs(report.step_time_s / (2 * 3 * macs * 256 / 67.2e9) - 1) < 1e-12
