"""Stopping what a launcher leaves behind, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypar_exp.sweeps.stopping import stop_jobs

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
