"""Sweeps that are interrupted, killed, started twice or left by their server: nothing is lost, nothing made twice."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import ROOT, Command
from tests.sweeps.server import free_port, mlflow_server
from tests.sweeps.store import (
    SLOW,
    children,
    finished,
    finished_once,
    kill_outright,
    parents,
    start,
    started,
    stored_runs,
    wait_until,
)

JOBS = 8
AXES = (
    "-m", "strategy=dp", "strategy._target_=slow.Slow", "++strategy.seconds=0.3", "baseline=null",
    "network=sfc,lenet_c", "array.levels=1,2,3,4",
)  # fmt: skip


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A strategy that takes its time, importable in every process of a sweep."""
    (tmp_path / "slow.py").write_text(SLOW)
    return {"PYTHONPATH": f"{ROOT}:{tmp_path}"}


@pytest.mark.parametrize(
    ("launcher", "number", "code"),
    [
        ("basic", signal.SIGINT, 130),
        ("joblib", signal.SIGTERM, 143),
        pytest.param("basic", signal.SIGTERM, 143, marks=pytest.mark.slow),
        pytest.param("joblib", signal.SIGINT, 130, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_sweep_keeps_what_is_done_and_resumes_with_the_rest(
    command: Command, tmp_path: Path, environment: dict[str, str], launcher: str, number: int, code: int
) -> None:
    arguments = (*AXES, f"hydra/launcher={launcher}")
    with start(tmp_path, *arguments, **environment) as sweep:
        wait_until(lambda: finished(tmp_path) >= 2 and started(tmp_path) >= 4)
        if number == signal.SIGINT:
            os.killpg(sweep.pid, number)  # as a terminal does
        else:
            sweep.send_signal(number)
        output, errors = sweep.communicate(timeout=60)
    assert sweep.returncode == code, errors
    assert errors == f"hypar_exp: {'interrupted' if code == 130 else 'terminated'}\n"
    by_status = [run.status for run in children(tmp_path)]
    done = by_status.count("FINISHED")
    assert 2 <= done < JOBS
    assert 1 <= by_status.count("KILLED") <= (1 if launcher == "basic" else os.cpu_count() or 1)
    assert by_status.count("FINISHED") + by_status.count("KILLED") == len(by_status)
    (parent,) = parents(tmp_path)
    assert (parent.status, parent.tags["runs_left"]) == ("KILLED", str(JOBS - done))
    assert f"{done} of {JOBS} runs are done, {JOBS - done} are left; resume=true makes them." in output

    command(*arguments, "resume=true", **environment)
    finished_once(tmp_path, JOBS)
    (parent,) = parents(tmp_path)
    assert (parent.status, parent.metrics["runs/finished"]) == ("FINISHED", JOBS)
    assert {run.parent for run in children(tmp_path)} == {parent.run_id}
    again = command(*arguments, "resume=true", **environment)
    assert f"All {JOBS} runs are finished already." in again.stdout
    assert len(parents(tmp_path)) == 1


def test_killed_outright_again_and_again_every_configuration_is_finished_once(
    command: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    arguments = (*AXES, "++strategy.seconds=0.05", "resume=true")
    chance = random.Random(20190216)
    for _ in range(10):
        wanted = finished(tmp_path) + chance.randint(0, 1)
        with start(tmp_path, *arguments, **environment) as sweep:
            wait_until(partial(_so_far, tmp_path, wanted, sweep))
            with contextlib.suppress(subprocess.TimeoutExpired):
                sweep.wait(chance.random())
            kill_outright(sweep)
    command(*arguments, **environment)
    finished_once(tmp_path, JOBS)
    assert {run.status for run in stored_runs(tmp_path)} <= {"FINISHED", "KILLED"}, "left RUNNING by a dead process"
    assert [run.status for run in parents(tmp_path)].count("FINISHED") == 1


def _so_far(folder: Path, wanted: int, sweep: subprocess.Popen[str]) -> bool:
    return finished(folder) >= wanted or sweep.poll() is not None


def test_what_submitit_still_runs_for_a_sweep_that_was_killed_is_waited_for_and_not_run_again(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    swept = (
        *("-m", "strategy=dp", "strategy._target_=slow.Slow", "++strategy.seconds=4", "baseline=null"),
        *("network=lenet_c", "array.levels=1,2", "hydra/launcher=submitit_local"),
    )
    with start(tmp_path, *swept, **environment) as sweep:
        wait_until(lambda: started(tmp_path) == 2)
        sweep.kill()  # the head alone
        sweep.wait()
        with start(tmp_path, *swept, "resume=true", **environment) as again:
            printed, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert "was killed, but jobs of it are still at work; waiting for them" in printed
    assert "All 2 runs are finished already" in printed
    assert started(tmp_path) == 2
    finished_once(tmp_path, 2)
    assert [run.status for run in parents(tmp_path)] == ["FINISHED"]


def test_two_sweeps_at_once_both_end_complete(tmp_path: Path, environment: dict[str, str]) -> None:
    arguments = (*AXES, "++strategy.seconds=0.05")
    with (
        start(tmp_path, *arguments, "batch_size=64", **environment) as one,
        start(tmp_path, *arguments, "batch_size=128", **environment) as other,
    ):
        for sweep in (one, other):
            output, errors = sweep.communicate(timeout=120)
            assert sweep.returncode == 0, errors
            assert f"{JOBS} done, 0 failed" in output
    assert [parent.metrics["runs/finished"] for parent in parents(tmp_path)] == [JOBS, JOBS]
    for parent in parents(tmp_path):
        assert len([run for run in children(tmp_path) if run.parent == parent.run_id]) == JOBS
    finished_once(tmp_path, 2 * JOBS)


@pytest.mark.slow
def test_a_server_that_dies_in_the_middle_and_comes_back_has_every_run_once(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    database, port = tmp_path / "outputs" / "mlflow.db", free_port()
    database.parent.mkdir()
    with contextlib.ExitStack() as first:
        address = first.enter_context(mlflow_server(database, port))
        with start(tmp_path, *AXES, "tracking=server", f"tracking.uri={address}", **environment) as sweep:
            wait_until(lambda: finished(tmp_path) >= 2)
            first.close()
            time.sleep(2)
            with mlflow_server(database, port):
                output, errors = sweep.communicate(timeout=120)
    assert sweep.returncode == 0, errors
    assert f"{JOBS} done, 0 failed" in output
    assert {run.status for run in stored_runs(tmp_path)} == {"FINISHED"}
    finished_once(tmp_path, JOBS)


def test_runs_that_dead_processes_left_running_are_repaired_and_those_of_the_living_are_not(
    command: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    with start(tmp_path, *AXES, **environment):
        wait_until(lambda: finished(tmp_path) >= 1)
    with start(tmp_path, *AXES, "batch_size=512", **environment) as alive:
        wait_until(lambda: len(parents(tmp_path)) == 2)
        assert [run.status for run in parents(tmp_path)] == ["RUNNING", "RUNNING"]
        repaired = command("repair", module="hypar_exp.runs")
        assert "network x array.levels" in repaired.stdout
        assert [run.status for run in parents(tmp_path)][:1] == ["KILLED"]
        _, errors = alive.communicate(timeout=60)
        assert alive.returncode == 0, errors
    assert [run.status for run in parents(tmp_path)] == ["KILLED", "FINISHED"]
    assert "No run was left" in command("repair", module="hypar_exp.runs").stdout
