"""The optimum, its gap and the objectives from the command line to the recorded run."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hypar_exp.tracking import SqliteRecorder
from tests.conftest import Command


def test_a_run_with_its_gap(command: Command, tmp_path: Path) -> None:
    shown = command("network=vgg_a", "array.levels=6", "gap=true").stdout
    gap = "1.91 % above the least communication over all levels at once, whose plan differs in 1 of 66 choices"
    assert f"Optimality gap: {gap}." in shown
    results = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results()
    (run,) = results.runs()
    assert run.metrics["optimality_gap"] == pytest.approx(0.01905, abs=1e-5)
    excess = run.metrics["communication_bytes"] / run.metrics["optimal/communication_bytes"] - 1
    assert excess == pytest.approx(run.metrics["optimality_gap"])
    assert results.artifact(run, "optimal_plan.csv").startswith("level,conv1_1,")
    assert run.description is not None
    assert gap in run.description


def test_the_preset_draws_the_gap_over_levels_and_batch_sizes(command: Command, tmp_path: Path) -> None:
    chosen = ["network=vgg_a,vgg_c", "array.levels=4,6", "batch_size=64,256", "tracking=none"]
    command("experiment=optimality_gap", *chosen, timeout=300)
    (folder,) = (tmp_path / "outputs" / "hydra").glob("*/*")
    with (folder / "sweep.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["batch_size"] == "256"]
    gaps = {f"{row['network']} {row['array.levels']}": round(float(row["optimality_gap"]), 3) for row in rows}
    assert gaps == {"vgg_a 4": 0, "vgg_a 6": 0.019, "vgg_c 4": 0, "vgg_c 6": 0}
    assert (folder / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_a_plan_for_time(command: Command) -> None:
    shown = command("strategy=optimal", "objective=time", "baseline=hypar", "gap=true", "tracking=none").stdout
    assert "vgg_e by optimal for time: 19 layers" in shown
    assert "Optimality gap: none, the plan has the least time over all levels at once." in shown


def test_a_sweep_counts_the_runs_without_a_plan_that_fits(command: Command, tmp_path: Path) -> None:
    """VGG-E at batch 256 on HMCs of 8 GB: not on one; on two in the optimum's plan, but not in hypar's; on four."""
    shown = command(
        "-m", "strategy=hypar,optimal", "array.levels=0,1,2", "memory=enforce", "baseline=null", timeout=300
    ).stdout
    assert shown.count("does not fit") == 3
    results = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results()
    (parent,) = results.runs(kind="sweep")
    children = [run for run in results.runs() if run.parent_id == parent.run_id]
    ended = {f"{run.params['strategy.name']} {run.params['array.levels']}": run for run in children}
    assert {name: run.metrics["fits_in_memory"] for name, run in ended.items()} == {
        **{"hypar 0": 0, "hypar 1": 0, "hypar 2": 1},
        **{"optimal 0": 0, "optimal 1": 1, "optimal 2": 1},
    }
    assert {run.status for run in [parent, *children]} == {"FINISHED"}
    assert parent.metrics["runs/not_fitting"] == 3
    single = ended["optimal 0"]
    assert single.tags["outcome"] == "does not fit"
    assert single.metrics["memory_per_accelerator_bytes"] == pytest.approx(15.93e9, rel=1e-3)


def test_a_single_run_without_a_plan_that_fits(command: Command, tmp_path: Path) -> None:
    enforced = ["memory=enforce", "strategy=optimal"]
    done = command("array.levels=0", *enforced, expect=2)
    assert done.stderr.startswith("hypar_exp: no plan of network vgg_e fits: each of 2^0 accelerators needs at least")
    done = command("array.levels=1", "memory=enforce", "tracking=none", expect=2)
    assert "the plan of strategy hypar does not fit: an accelerator needs 8.05 GB and has 8.00 GB" in done.stderr
    (run,) = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results().runs()
    assert (run.status, run.tags["outcome"], run.metrics["fits_in_memory"]) == ("FINISHED", "does not fit", 0)


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
