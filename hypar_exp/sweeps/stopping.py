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
    _kill_submitit_processes(sweep_dir)
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
    jobs = sorted(set(_slurm_jobs(sweep_dir)))
    if not jobs or shutil.which("scancel") is None:
        return
    for how in (["--full", "--signal=KILL"], []):  # what runs, then what waits
        subprocess.run(["scancel", *how, *jobs], capture_output=True, timeout=60, check=False)


def _kill_submitit_processes(sweep_dir: Path) -> None:
    """Kill what submitit started on this machine: the processes whose command line names its folder in this sweep's.

    The names of its jobs are no help: in SLURM they are numbers of jobs, here of processes.
    """
    folder = str((sweep_dir / SUBMITIT_FOLDER).absolute())
    if not Path(folder).is_dir():
        return
    listed = subprocess.run(["ps", "-e", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        pid, _, command = line.strip().partition(" ")
        if "-m submitit." in command and folder in command and int(pid) != os.getpid():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(pid), signal.SIGKILL)


def _slurm_jobs(sweep_dir: Path) -> Iterator[str]:
    """The ids of the sweep's job arrays: submitit has a folder `12_3` for the third job of the array 12."""
    for folder in (sweep_dir / SUBMITIT_FOLDER).glob("*_*"):
        job = folder.name.partition("_")[0]
        if job.isdigit():
            yield job


def _lives_here(process: str) -> bool:
    pid = pid_here(process)
    return pid is not None and pid != os.getpid() and not is_dead(process)


def _mark(folder: Path, number: int) -> Path:
    return folder / f".{number}.begun"
