"""Stopping what a launcher leaves behind, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hypar_exp.sweeps import stopping
from hypar_exp.sweeps.stopping import stop_jobs, wait_for_orphans

SLEEP = "import sys, time; time.sleep(60)"


def test_only_processes_of_the_sweep_itself_are_killed(tmp_path: Path) -> None:
    folder = tmp_path / "sweep" / ".submitit"
    with (
        subprocess.Popen([sys.executable, "-c", SLEEP, "-m submitit.core._submit", str(folder / "7")]) as its_own,
        subprocess.Popen([sys.executable, "-c", SLEEP, str(folder / "7" / "7_0_log.out")]) as reader,
        subprocess.Popen([sys.executable, "-c", SLEEP, "-m submitit.core._submit", str(tmp_path / "other")]) as other,
    ):
        # in SLURM a job's folder is named after the job, whose number may be that of any process
        for name in ("1", str(reader.pid), "%j"):
            (folder / name).mkdir(parents=True)
        stop_jobs([0, 1], tmp_path / "sweep")
        try:
            assert its_own.wait(10) == -9
            assert (reader.poll(), other.poll()) == (None, None)
        finally:
            for process in (its_own, reader, other):
                process.kill()


def test_a_sweep_in_one_process_has_nothing_to_stop(tmp_path: Path) -> None:
    stop_jobs([0, 1, 2], tmp_path)


def test_what_slurm_still_runs_of_a_killed_sweep_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a `squeue` that has the job array in its queue twice, and then no more."""
    programs, asked = tmp_path / "bin", tmp_path / "asked"
    programs.mkdir()
    (programs / "squeue").write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\n[ $(wc -l < {asked}) -gt 2 ] && exit 1\necho 12_3\n'
    )
    (programs / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(stopping, "BETWEEN_LOOKS_S", 0.01)
    for job in ("12_3", "12_4", "log"):
        (tmp_path / "sweep" / ".submitit" / job).mkdir(parents=True)
    told: list[str] = []
    wait_for_orphans(tmp_path / "sweep", told.append)
    assert len(told) == 1
    assert "jobs of it are still at work; waiting for them" in told[0]
    assert asked.read_text().splitlines() == ["--noheader --format=%i --jobs=12"] * 3


def test_a_sweep_that_left_nothing_is_not_waited_for(tmp_path: Path) -> None:
    told: list[str] = []
    wait_for_orphans(tmp_path, told.append)
    assert not told
