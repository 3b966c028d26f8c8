"""Explorations on the command line: what they show and leave behind, and what they refuse."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import Command


def test_the_plan_space_of_lenet_c(command: Command, tmp_path: Path) -> None:
    shown = command("experiment=plan_space").stdout
    assert "65,536 plans" in shown
    rows = {line.split()[0]: line.split() for line in shown.split("65,536 plans")[1].splitlines() if line.strip()}
    assert rows["hypar"][1] == "3.05"  # as figure 9 prints it, the peak
    assert rows["hypar"][-3:] == ["0", "0.00", "%"]
    assert rows["mp"][1] == "0.407"
    with next(tmp_path.rglob("plan_space.csv")).open() as file:
        plans = list(csv.DictReader(file))
    assert len({(plan["H1"], plan["H2"], plan["H3"], plan["H4"]) for plan in plans}) == 65_536
    performance = [float(plan["performance"]) for plan in plans]
    assert max(performance) == pytest.approx(3.05, abs=0.005)
    with next(tmp_path.rglob("best_plans.csv")).open() as file:
        best = [row["H1"] for row in csv.DictReader(file)]
    assert len(best) == 10
    ElementTree.parse(next(tmp_path.rglob("plan_space.svg")))


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["network=vgg_a"], "17,592,186,044,416 plans are free and strategy.most_plans is 100,000,000"),
        (["network=vgg_a", "strategy.layers=[conv9]"], "strategy.layers: network vgg_a has no layer 'conv9'"),
        (["strategy.compare=[hypr]"], "there is no strategy 'hypr' for strategy.compare; did you mean hypar?"),
        (["strategy.base=hypr"], "there is no strategy 'hypr' for strategy.base; did you mean hypar?"),
        (["strategy.samples=many"], "strategy.samples must be a whole number or null (got 'many')"),
    ],
)
def test_what_is_refused(command: Command, overrides: list[str], sentence: str) -> None:
    error = command("strategy=explore", "tracking=none", *overrides, expect=2).stderr
    assert error.startswith(f"hypar_exp: {sentence}")
    assert error.count("\n") == 1
