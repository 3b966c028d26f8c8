"""The optimum, its gap and the objectives from the command line to the recorded run."""

from __future__ import annotations

from pathlib import Path

import pytest

from hypar_exp.tracking.results import SqliteResults
from tests.conftest import Command


def test_a_run_with_its_gap(command: Command, tmp_path: Path) -> None:
    shown = command("network=vgg_a", "array.levels=6", "gap=true").stdout
    gap = "1.91 % above the least communication over all levels at once, whose plan differs in 1 of 66 choices"
    assert f"Optimality gap: {gap}." in shown
    results = SqliteResults(tmp_path / "outputs" / "mlflow.db", "hypar_exp")
    (run,) = results.runs()
    assert run.metrics["optimality_gap"] == pytest.approx(0.01905, abs=1e-5)
    excess = run.metrics["communication_bytes"] / run.metrics["optimal/communication_bytes"] - 1
    assert excess == pytest.approx(run.metrics["optimality_gap"])
    assert results.artifact(run, "optimal_plan.csv").startswith("level,conv1_1,")
    assert gap in run.tags["mlflow.note.content"]


def test_a_plan_for_time(command: Command) -> None:
    shown = command("strategy=optimal", "objective=time", "baseline=hypar", "gap=true", "tracking=none").stdout
    assert "vgg_e by optimal for time: 19 layers" in shown
    assert "Optimality gap: none, the plan has the least time over all levels at once." in shown


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["objective=time"], "hypar plans for the least communication only (got objective=time)"),
        (["strategy=optimal", "array.levels=16", "network=resnet152"], "has 65,536 states a layer, too many for 156"),
        (["strategy=optimal", "strategy.types=[dp,op]"], "uses op, which accounting.within_layer does not price"),
        (["strategy=optimal", "strategy.types=[dp,xp]"], "strategy.types must be dp, mp or op (got 'xp')"),
        (["gap=maybe"], "gap"),
    ],
)
def test_what_cannot_be_planned(command: Command, overrides: list[str], sentence: str) -> None:
    done = command(*overrides, "tracking=none", expect=2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
