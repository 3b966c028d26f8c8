"""A sweep from the command line: one parent, its children, the table, the files, the picture."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.sweeps.store import SLOW, children, parents, stored_runs, sweep_folder

AXES = ("network=sfc,lenet_c", "strategy=dp,hypar")


@pytest.mark.parametrize("launcher", ["basic", "joblib", "submitit_local"])
def test_a_sweep_is_one_parent_with_nested_children_whatever_launches_it(
    command: Command, tmp_path: Path, launcher: str
) -> None:
    if launcher != "basic":
        pytest.importorskip("submitit" if "submitit" in launcher else launcher)
    done = command("-m", *AXES, f"hydra/launcher={launcher}")
    (parent,) = parents(tmp_path)
    assert (parent.name, parent.status) == ("network x strategy", "FINISHED")
    assert parent.params["network"] == "sfc, lenet_c"
    assert parent.metrics["runs/finished"] == 4
    runs = children(tmp_path)
    assert [run.status for run in runs] == ["FINISHED"] * 4
    assert {run.parent for run in runs} == {parent.run_id}
    assert {(run.tags["network"], run.tags["strategy"]) for run in runs} == {
        ("sfc", "dp"), ("sfc", "hypar"), ("lenet_c", "dp"), ("lenet_c", "hypar"),
    }  # fmt: skip
    assert parent.metrics["best/step_time_s"] == min(run.metrics["step_time_s"] for run in runs)
    assert "4 done, 0 failed, 0 left" in done.stdout
    assert "layers, 16 accelerators" not in done.stdout, "a page of a job's own"
    assert done.stderr == ""


def test_the_files_of_a_sweep_hold_every_param_and_metric_of_every_run(command: Command, tmp_path: Path) -> None:
    command("-m", *AXES)
    folder = sweep_folder(tmp_path)
    with (folder / "sweep.csv").open() as file:
        rows = {row["run_id"]: row for row in csv.DictReader(file)}
    (parent,) = parents(tmp_path)
    runs = children(tmp_path)
    assert rows.keys() == {run.run_id for run in runs}
    for run in runs:
        row = rows[run.run_id]
        totals = {key: value for key, value in run.metrics.items() if not key.startswith(("level/", "layer/"))}
        assert {key: float(row[key]) for key in totals} == totals
        assert {key: row[key] for key in ("hardware.name", "network.name", "strategy.name")} == {
            key: run.params[key] for key in ("hardware.name", "network.name", "strategy.name")
        }
        assert run.params.keys() - {"Network", "Strategy"} <= row.keys()
    from pyarrow import parquet

    table = parquet.read_table(folder / "sweep.parquet").to_pylist()
    assert [row["run_id"] for row in table] == list(rows)
    assert [row["step_time_s"] for row in table] == [float(row["step_time_s"]) for row in rows.values()]
    assert (folder / "sweep.png").read_bytes()[:4] == b"\x89PNG"
    (artifacts,) = (tmp_path / "outputs" / "artifacts").glob(f"**/{parent.run_id}/artifacts")
    for name in ("sweep.csv", "sweep.parquet", "sweep.png"):
        assert (artifacts / name).read_bytes() == (folder / name).read_bytes()


def test_the_best_of_each_group_is_marked(command: Command) -> None:
    lines = command("-m", *AXES, "tracking=none").stdout.splitlines()
    marked = {line.split()[0] + " " + line.split()[1]: line.count("*") for line in lines if "*" in line}
    assert marked == {"sfc hypar": 6, "lenet_c hypar": 6, "* best": 1}, "HyPar is the better of each network in all six"


def test_nothing_recorded_still_shows_the_table_and_leaves_the_files(command: Command, tmp_path: Path) -> None:
    done = command("-m", *AXES, "tracking=none")
    assert "23.5x*" in done.stdout
    assert not (tmp_path / "outputs" / "mlflow.db").exists()
    assert {"sweep.csv", "sweep.parquet", "sweep.png"} <= {file.name for file in sweep_folder(tmp_path).iterdir()}


def test_a_preset_names_the_sweep_and_tags_its_runs(command: Command, tmp_path: Path) -> None:
    command("experiment=fig05", "network=sfc,lenet_c")
    (parent,) = parents(tmp_path)
    assert parent.name == "fig05: network"
    assert {run.tags["experiment"] for run in stored_runs(tmp_path)} == {"fig05"}
    assert len(children(tmp_path)) == 2


def test_a_failing_run_is_kept_with_its_message_and_stops_no_other(command: Command, tmp_path: Path) -> None:
    done = command("-m", "network=sfc", "batch_size=0,256", "strategy=dp,hypar", expect=2)
    assert done.stderr.splitlines() == [
        "hypar_exp: 2 of 4 runs failed",
        "  batch_size=0 strategy=dp: batch_size must be a whole number of at least 1 (got 0)",
        "  batch_size=0 strategy=hypar: batch_size must be a whole number of at least 1 (got 0)",
    ]
    (parent,) = parents(tmp_path)
    assert parent.status == "FAILED"
    assert "2 of 4 runs failed" in parent.tags["error"]
    failed = [run for run in children(tmp_path) if run.status == "FAILED"]
    assert ["batch_size must be a whole number" in run.tags["error"] for run in failed] == [True, True]
    assert [run.status for run in children(tmp_path)].count("FINISHED") == 2


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_fault_of_ours_ends_the_sweep_with_1_and_without_a_traceback(
    command: Command, tmp_path: Path, launcher: str
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    axes = ("-m", "network=sfc", "strategy._target_=slow.Broken,hypar_exp.planning.Fixed", "strategy=dp")
    done = command(*axes, f"hydra/launcher={launcher}", expect=1, PYTHONPATH=_with(tmp_path))
    assert done.stderr.splitlines() == [
        "hypar_exp: 1 of 2 runs failed",
        "  strategy._target_=slow.Broken: RuntimeError: the planner fell over",
    ]
    told = command(*axes, expect=1, PYTHONPATH=_with(tmp_path), HYDRA_FULL_ERROR="1").stderr
    assert 'raise RuntimeError("the planner fell over")' in told


def test_a_dry_run_lists_and_makes_nothing(command: Command, tmp_path: Path) -> None:
    done = command("-m", *AXES, "dry_run=true")
    assert done.stdout.splitlines() == [
        "network x strategy: 4 runs to make, 0 finished already.",
        "  network=sfc strategy=dp",
        "  network=sfc strategy=hypar",
        "  network=lenet_c strategy=dp",
        "  network=lenet_c strategy=hypar",
    ]
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "there is nothing to sweep; give a key several values, as -m network=sfc,vgg_a"),
        (("batch_size=range(1,1)",), "the axis batch_size=range(1,1) has no values"),
        (("network=glob(nothing*)",), "the axis network=glob(nothing*) has no values"),
        (
            ("batch_size=interval(1,2)",),
            "batch_size is swept over an interval, which has no end; name its values, or use range()",
        ),
        (
            ("batch_size=range(0,1000)", "array.levels=range(0,101)"),
            "this sweep has 101,000 jobs, more than 100,000; if you mean it, set hydra.sweeper.most_jobs=101000",
        ),
        (
            ("network=sfc,nosuch",),
            "there is no network 'nosuch'",
        ),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused_in_one_sentence(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = command("-m", *arguments, expect=2)
    assert done.stderr.startswith(f"hypar_exp: {sentence}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "outputs" / "mlflow.db").exists()


def test_the_knobs_of_a_sweep_mean_nothing_to_one_run(command: Command) -> None:
    for knob in ("resume", "dry_run"):
        done = command(f"{knob}=true", expect=2)
        assert done.stderr == f"hypar_exp: {knob}=true is for sweeps; add -m\n"


def test_hydras_own_folders_are_not_worked_in(command: Command, tmp_path: Path) -> None:
    for mode in ((), ("-m",), ("-m", "hydra/sweeper=batch")):
        done = command(*mode, "network=lenet_c", "hydra.job.chdir=true", expect=2)
        assert done.stderr.startswith("hypar_exp: hydra.job.chdir must be false: paths in overrides, and the store's, ")
        assert done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("mlflow.db"))


def test_values_are_shown_as_they_were_meant(command: Command, tmp_path: Path) -> None:
    command("-m", "network=lenet_c", r"network.name=http\://a,'b c'", "hydra/sweeper=batch")
    (parent,) = parents(tmp_path)
    assert parent.params["network.name"] == "http://a, 'b c'"


def _with(folder: Path) -> str:
    from tests.conftest import ROOT

    return f"{ROOT}:{folder}"
