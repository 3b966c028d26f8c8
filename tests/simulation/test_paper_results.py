"""Figures 6, 7 and 8: the printed bars of the paper's ten networks at four levels."""

from __future__ import annotations

import pytest

from hypar_exp.paper.published import published_values
from hypar_exp.planning import Fixed, HyPar, PlanningProblem, Strategy
from hypar_exp.simulation import Comparison, HTree, StepReport, simulate
from tests import conf

# the model's values where the printed ones disagree among themselves (design notes: figure 8's label of vgg_b against
# figure 6's bar, and alexnet, whose printed 2.00 GB is 1.995 GB)
NAMED_EXCEPTIONS = {
    ("fig06", "alexnet"): 3.28,
    ("fig06", "vgg_b"): 4.065,  # printed 4.06, where rounding would print 4.07
    ("fig08", "vgg_b"): 1.49,
    ("fig08 dp", "alexnet"): 1.995,
}


def step(name: str, strategy: Strategy) -> StepReport:
    network, accounting = conf.network(name), conf.accounting()
    plan = strategy.plan(PlanningProblem(network, 256, 4, accounting.communication))
    return simulate(network, plan, HTree(levels=4), conf.hardware(), accounting, batch_size=256)


def printed(figure: str, name: str, bar: str) -> str:
    return published_values(figure)[name, bar].text


def agrees(ours: float, published: str) -> bool:
    """Whether ours rounds to the printed digits."""
    digits = len(published.replace(".", "").strip("0"))
    return float(f"{ours:.{max(digits, 3)}g}") == pytest.approx(float(published), rel=1e-9)


@pytest.mark.parametrize("name", conf.PAPER_NETWORKS)
def test_bars_come_out_as_printed(name: str) -> None:
    hypar, dp = step(name, HyPar()), step(name, Fixed("dp", "dp"))
    comparison = Comparison.of(hypar, dp)
    for figure, bar, ours in (
        ("fig06", "hypar", comparison.speedup),
        ("fig08", "hypar", hypar.communication_bytes / 1e9),
        ("fig08", "dp", dp.communication_bytes / 1e9),
    ):
        key = (figure if bar == "hypar" else f"{figure} {bar}", name)
        if key in NAMED_EXCEPTIONS:
            assert ours == pytest.approx(NAMED_EXCEPTIONS[key], abs=0.005), key
        else:
            assert agrees(ours, printed(figure, name, bar)), (key, ours)
    efficiency = float(printed("fig07", name, "hypar"))
    assert comparison.energy_efficiency == pytest.approx(efficiency, rel=0.025)
