"""Figures 6, 7 and 8: the printed bars of the paper's ten networks at four levels."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hypar_exp.planning import Fixed, HyPar, PlanningProblem, Strategy
from hypar_exp.simulation import Comparison, HTree, StepReport, simulate
from tests import conf

# the model's values where the printed ones disagree among themselves (design notes: figure 8's label of vgg_b against
# figure 6's bar, and alexnet, whose printed 2.00 GB is 1.995 GB)
NAMED_EXCEPTIONS = {
    ("fig06_performance", "alexnet"): 3.28,
    ("fig06_performance", "vgg_b"): 4.065,  # printed 4.06, where rounding would print 4.07
    ("fig08_communication_gb", "vgg_b"): 1.49,
    ("fig08_communication_gb dp", "alexnet"): 1.995,
}


def step(name: str, strategy: Strategy) -> StepReport:
    network, accounting = conf.network(name), conf.accounting()
    plan = strategy.plan(PlanningProblem(network, 256, 4, accounting.communication))
    return simulate(network, plan, HTree(levels=4), conf.hardware(), accounting, batch_size=256)


def printed(shared: Path, figure: str, name: str, bar: str) -> str:
    with (shared / "paper" / f"{figure}.csv").open() as file:
        return next(row[bar] for row in csv.DictReader(file) if row["network"] == name)


def agrees(ours: float, published: str) -> bool:
    """Whether ours rounds to the printed digits."""
    digits = len(published.replace(".", "").strip("0"))
    return float(f"{ours:.{max(digits, 3)}g}") == pytest.approx(float(published), rel=1e-9)


@pytest.mark.parametrize("name", conf.PAPER_NETWORKS)
def test_bars_come_out_as_printed(name: str, shared: Path) -> None:
    hypar, dp = step(name, HyPar()), step(name, Fixed("dp", "dp"))
    comparison = Comparison.of(hypar, dp)
    for figure, bar, ours in (
        ("fig06_performance", "hypar", comparison.speedup),
        ("fig08_communication_gb", "hypar", hypar.communication_bytes / 1e9),
        ("fig08_communication_gb", "dp", dp.communication_bytes / 1e9),
    ):
        key = (figure if bar == "hypar" else f"{figure} {bar}", name)
        if key in NAMED_EXCEPTIONS:
            assert ours == pytest.approx(NAMED_EXCEPTIONS[key], abs=0.005), key
        else:
            assert agrees(ours, printed(shared, figure, name, bar)), (key, ours)
    efficiency = float(printed(shared, "fig07_energy_efficiency", name, "hypar"))
    assert comparison.energy_efficiency == pytest.approx(efficiency, rel=0.025)
