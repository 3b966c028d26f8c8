"""How a run ends when it does not finish: FAILED or KILLED, said in the record and by the exit code, never RUNNING."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from tests.conftest import ROOT, program_environment

STRATEGY = """
import time
from dataclasses import dataclass
from pathlib import Path

@dataclass(frozen=True)
class Mine:
    name: str
    fails: bool = False

    def plan(self, problem):
        Path("planning").touch()
        if self.fails:
            raise RuntimeError("no plan today")
        time.sleep(60)
"""


@pytest.fixture
def strategy(tmp_path: Path) -> Path:
    """A user's strategy that fails or takes a minute, as files below the test's folder."""
    (tmp_path / "mine.py").write_text(STRATEGY)
    group = tmp_path / "own" / "strategy"
    group.mkdir(parents=True)
    (group / "mine.yaml").write_text("_target_: mine.Mine\nname: mine\nfails: false\n")
    return tmp_path


def start(folder: Path, *overrides: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hypar_exp", "--config-dir", "own", "network=lenet_c", "strategy=mine", *overrides],
        cwd=folder,
        env=program_environment(PYTHONPATH=f"{ROOT}:{folder}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def only_run(folder: Path) -> Run:
    client = MlflowClient(f"sqlite:///{folder}/outputs/mlflow.db")
    (run,) = client.search_runs(["1"])
    return run


@pytest.mark.usefixtures("database")
def test_a_fault_ends_failed_with_its_traceback_and_message(strategy: Path) -> None:
    with start(strategy, "strategy.fails=true") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "RuntimeError: no plan today" in errors
    run = only_run(strategy)
    assert run.info.status == "FAILED"
    assert run.data.tags["error"] == "RuntimeError: no plan today"
    assert run.data.params["strategy.name"] == "mine"


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_ends_killed(strategy: Path, sent: signal.Signals, code: int) -> None:
    with start(strategy) as process:
        while not (strategy / "planning").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert only_run(strategy).info.status == "KILLED"


def test_two_first_runs_at_the_same_moment_both_end_well(strategy: Path) -> None:
    command = [sys.executable, "-m", "hypar_exp", "network=lenet_c"]
    together = [
        subprocess.Popen(command, cwd=strategy, env=program_environment(), stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [process.wait(timeout=120) for process in together] == [0, 0]
    runs = MlflowClient(f"sqlite:///{strategy}/outputs/mlflow.db").search_runs(["1"])
    assert [run.info.status for run in runs] == ["FINISHED", "FINISHED"]
    assert len({run.info.run_id for run in runs}) == 2
