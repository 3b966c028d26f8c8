"""Stopping the jobs that a launcher leaves behind when a sweep is interrupted: its processes and queue outlive it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from hypar_exp.sweeps.outcome import FOLDER
from hypar_exp.tracking.process import is_dead, pid_here, this_process

SUBMITIT_FOLDER = ".submitit"
"""Where submitit keeps a folder for each of its jobs, by the job's id."""
PATIENCE_S = 10.0


def mark_begun(number: int, sweep_dir: Path) -> None:
    """Leave word in the sweep's folder of the process that runs a job."""
    folder = sweep_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    _mark(folder, number).write_text(this_process(), encoding="utf-8")


def stop_jobs(numbers: Iterable[int], sweep_dir: Path) -> None:
    """Kill the processes of this machine that still run one of the jobs, and take the sweep's jobs out of SLURM.

    Neither heeds a gentler signal: submitit passes SIGTERM over.
    """
    _cancel_in_slurm(sweep_dir)
    _kill_local_controllers(sweep_dir)
    marks = [_mark(sweep_dir / FOLDER, number) for number in numbers]
    processes = [mark.read_text(encoding="utf-8") for mark in marks if mark.exists()]
    for process in processes:
        pid = pid_here(process)
        if pid is not None and _lives_here(process):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and any(_lives_here(process) for process in processes):
        time.sleep(0.05)


def _cancel_in_slurm(sweep_dir: Path) -> None:
    jobs = sorted({job for job, separator, _ in _submitit_jobs(sweep_dir) if separator})
    if not jobs or shutil.which("scancel") is None:
        return
    for how in (["--full", "--signal=KILL"], []):  # what runs, then what waits
        subprocess.run(["scancel", *how, *jobs], capture_output=True, timeout=60, check=False)


def _kill_local_controllers(sweep_dir: Path) -> None:
    """Kill what submitit's local mode started; there a job's id is the number of the process that controls it."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    children: dict[str, list[str]] = {}
    for pid, parent in map(str.split, listed.splitlines()):
        children.setdefault(parent, []).append(pid)
    left = [job for job, separator, _ in _submitit_jobs(sweep_dir) if not separator]
    while left:
        pid = left.pop()
        left += children.get(pid, [])
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(int(pid), signal.SIGKILL)


def _submitit_jobs(sweep_dir: Path) -> Iterator[tuple[str, str, str]]:
    """The jobs of a sweep: `12` is one of the local mode, `12_3` one of a job array in SLURM."""
    for folder in (sweep_dir / SUBMITIT_FOLDER).glob("*"):
        job, separator, task = folder.name.partition("_")
        if job.isdigit():
            yield job, separator, task


def _lives_here(process: str) -> bool:
    pid = pid_here(process)
    return pid is not None and pid != os.getpid() and not is_dead(process)


def _mark(folder: Path, number: int) -> Path:
    return folder / f".{number}.begun"
