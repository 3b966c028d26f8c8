"""What is known of a process that left a run open: nothing, where it is of another machine or another container."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import RunStatus, SqliteRecorder
from hypar_exp.tracking.process import PROCESS_TAG, ProcessName, is_dead, pid_here, this_process
from hypar_exp.tracking.repair import repair
from tests.conftest import program_environment
from tests.tracking.records import a_run

NAME_OF_IT = "from hypar_exp.tracking.process import this_process; print(this_process(), flush=True); "


def test_a_process_is_alive_until_it_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", NAME_OF_IT + "input()"],
        env=program_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert pid_here(name) == process.pid
        assert not is_dead(name)
        process.communicate("\n")
    assert is_dead(name)
    assert not is_dead(this_process())


def test_another_container_s_process_is_left_alone() -> None:
    if os.getuid() != 0 or subprocess.run(["unshare", "-pf", "true"], check=False).returncode != 0:
        pytest.skip("needs to make a namespace of process numbers")
    done = subprocess.run(
        ["unshare", "-pf", "--mount-proc", sys.executable, "-c", NAME_OF_IT],
        env=program_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ProcessName.read(done.stdout.strip()) is not None
    assert pid_here(done.stdout.strip()) is None
    assert not is_dead(done.stdout.strip())


def test_before_a_boot_and_on_another_machine() -> None:
    here = ProcessName.read(this_process())
    assert here is not None
    known = replace(here, machine=here.machine or "0badcafe")
    earlier = replace(known, boot="11111111")
    assert is_dead(str(earlier)) == bool(here.machine)
    assert not is_dead(str(replace(earlier, host="elsewhere")))
    assert not is_dead(str(replace(earlier, machine="22222222")))
    assert is_dead(str(replace(here, start="1")))
    assert not is_dead("host 12 of an older form")


def test_a_named_run_is_repaired_whatever_made_it(tmp_path: Path) -> None:
    recorder = SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(tmp_path / "artifacts"))
    elsewhere = a_run(status=RunStatus.RUNNING, tags={PROCESS_TAG: "container 1 5 - 12345678 4026532000"})
    run_id = recorder.record(elsewhere).run_id
    assert repair(recorder) == []
    assert [run.run_id for run in repair(recorder, [run_id])] == [run_id]
    assert recorder.results().runs()[0].status == RunStatus.KILLED
    with pytest.raises(UserError, match=r"there is no run .* that is RUNNING"):
        repair(recorder, [run_id])
