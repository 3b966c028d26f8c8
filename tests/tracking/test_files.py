"""Runs in folders: recorded, swept, resumed, compared and reproduced where there is no MLflow."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import FileRecorder, Metric, RunStatus
from tests.conftest import program_environment
from tests.tracking.records import a_run, odd_runs

WITHOUT_MLFLOW = """
import sys
for name in ("mlflow", "sqlalchemy", "alembic"):
    sys.modules[name] = None  # an import of it fails
from hypar_exp.__main__ import main
sys.argv[0] = "hypar-exp"
main()
"""


def program(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MLFLOW, *arguments],
        cwd=folder,
        env=program_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def recorder_in(folder: Path) -> FileRecorder:
    return FileRecorder(folder=str(folder / "runs"))


def test_a_run_is_a_folder_of_files(tmp_path: Path) -> None:
    recorded = recorder_in(tmp_path).record(
        a_run(description="# a plan", user="ada", metrics=(Metric("a", 1.5), Metric("b", 2, 1)))
    )
    folder = Path(recorded.url)
    assert {file.name for file in folder.iterdir()} == {"run.json", "metrics.json", "config.yaml", "plan.csv"}
    assert json.loads((folder / "metrics.json").read_text()) == {"a": 1.5, "b": {"1": 2.0}}
    fields = json.loads((folder / "run.json").read_text())
    assert (fields["status"], fields["description"], fields["user"]) == ("FINISHED", "# a plan", "ada")


def test_runs_come_back_as_recorded(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    assert recorder.results().runs() == []
    for run in odd_runs():
        recorder.record(run)
    read = {run.name: run for run in recorder.results().runs()}
    for run in odd_runs():
        assert dict(read[run.name].params) == dict(run.params)
        assert dict(read[run.name].tags) == dict(run.tags)
        assert read[run.name].status == run.status
        assert recorder.results().artifact(read[run.name], name := next(iter(run.artifacts), "run.json")) or not name
    numbers = read["numbers"].metrics
    assert math.isnan(numbers["not_a_number"])
    assert (numbers["infinite"], numbers["minus_infinite"], numbers["tiny"]) == (math.inf, -math.inf, 5e-324)
    assert (numbers["falling"], numbers["thirds"]) == (9.0, 1 / 3)
    assert [run.name for run in recorder.results().search("metrics.thirds > 0.3")] == ["numbers"]


def test_an_open_run_is_amended(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    opened = recorder.record(a_run("sweep", status=RunStatus.RUNNING, description="open"))
    recorder.record(a_run("child", parent_id=opened.run_id))
    assert recorder.results().runs()[0].end_time_ms is None
    recorder.amend(opened.run_id, a_run("sweep", params={"more": "1"}, tags={}, artifacts={"sweep.csv": "a\n"}))
    (run, _) = recorder.results().runs()
    assert (run.status, run.description, run.params["more"]) == ("FINISHED", "open", "1")
    assert run.params["batch_size"] == "256"
    assert recorder.results().artifact(run, "sweep.csv") == "a\n"
    assert [child.name for child in recorder.results().children(opened.run_id)] == ["child"]
    with pytest.raises(UserError, match=r"there is no run \.\./x"):
        recorder.amend("../x", a_run())


@pytest.mark.parametrize("experiment", ["", "..", "a/b", ".hidden"])
def test_an_experiment_is_a_folder_s_name(experiment: str) -> None:
    with pytest.raises(UserError, match=r"tracking\.experiment must be the name of a folder"):
        FileRecorder(experiment=experiment)
    with pytest.raises(UserError, match=r"tracking\.folder must be a path on this machine"):
        FileRecorder(folder="s3://bucket")


def test_sweeps_resume_compare_and_reproduce_need_no_mlflow(tmp_path: Path) -> None:
    files = "tracking=files"
    assert "Recorded in" in program(tmp_path, "network=lenet_c", files)
    swept = program(tmp_path, "-m", "network=lenet_c,sfc", "strategy=dp,hypar", files)
    assert "4 done, 0 failed, 0 left" in swept
    again = program(tmp_path, "-m", "network=lenet_c,sfc", "strategy=dp,hypar,mp", files, "resume=true")
    assert "6 done, 0 failed, 0 left" in again
    batched = program(tmp_path, "-m", "hydra/sweeper=batch", "network=sfc", "batch_size=32,64", files)
    assert "2 done" in batched
    compared = program(tmp_path, "compare", "--where", "params.batch_size = '256' and tags.network = 'sfc'", files)
    assert "sfc" in compared
    shown = program(tmp_path, "reproduce", "fig13", files)
    assert "of 14 published values" in shown
    assert "No run was left RUNNING" in program(tmp_path, "runs", "repair", files)
    runs = FileRecorder(folder=str(tmp_path / "outputs" / "runs")).results().runs()
    assert all(run.status == "FINISHED" for run in runs)
    assert not list(tmp_path.rglob("mlflow.db"))


RECORD_WITHOUT_END = """
from hypar_exp.tracking import FileRecorder
from tests.tracking.records import a_run
recorder = FileRecorder(folder="runs")
print("ready", flush=True)
while True:
    recorder.record(a_run(params={f"param{at}": "x" * 50 for at in range(200)}))
"""


def test_a_killed_writer_leaves_no_half_run(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RECORD_WITHOUT_END], cwd=tmp_path, env=program_environment(), stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while len(list((tmp_path / "runs").glob("*/*"))) < 20:
            pass
        writer.send_signal(signal.SIGKILL)
    runs = recorder_in(tmp_path).results().runs()
    assert len(runs) >= 19
    assert all(len(run.params) == 200 and set(run.metrics) == {"step_time_s", "level/time_s"} for run in runs)
