"""Stopping the jobs that a launcher leaves behind when a sweep is interrupted: its processes and queue outlive it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hypar_exp.sweeps.outcome import FOLDER
from hypar_exp.tracking.process import is_dead, pid_here, this_process

SUBMITIT_FOLDER = ".submitit"
"""Where submitit keeps a folder for each of its jobs, by the job's id."""
PATIENCE_S = 10.0
BETWEEN_LOOKS_S = 0.5


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


def wait_for_orphans(sweep_dir: Path, tell: Callable[[str], None]) -> None:
    """Wait until the jobs have ended that an earlier sweep in a folder left at work when it alone was killed.

    submitit's processes and SLURM's queue go on without it, and record what they make.
    """
    told = False
    while _submitit_processes(sweep_dir) or _in_slurm(sweep_dir):
        if not told:
            tell(
                f"the sweep in {sweep_dir} was killed, but jobs of it are still at work; waiting for them, so that "
                "nothing is run twice"
            )
            told = True
        time.sleep(BETWEEN_LOOKS_S)


def _in_slurm(sweep_dir: Path) -> bool:
    """Whether SLURM runs or will run any of the sweep's jobs."""
    jobs = sorted(set(_slurm_jobs(sweep_dir)))
    if not jobs or shutil.which("squeue") is None:
        return False
    asked = ["squeue", "--noheader", "--format=%i", f"--jobs={','.join(jobs)}"]
    answer = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    return bool(answer.stdout.strip())  # it knows nothing of jobs that ended long ago, and fails


def _cancel_in_slurm(sweep_dir: Path) -> None:
    jobs = sorted(set(_slurm_jobs(sweep_dir)))
    if not jobs or shutil.which("scancel") is None:
        return
    for how in (["--full", "--signal=KILL"], []):  # what runs, then what waits
        subprocess.run(["scancel", *how, *jobs], capture_output=True, timeout=60, check=False)


def _kill_submitit_processes(sweep_dir: Path) -> None:
    """Kill what submitit started on this machine."""
    for pid in _submitit_processes(sweep_dir):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _submitit_processes(sweep_dir: Path) -> list[int]:
    """The processes of this machine whose command line names submitit's folder in this sweep's.

    The names of its jobs are no help: in SLURM they are numbers of jobs, here of processes.
    """
    folder = str((sweep_dir / SUBMITIT_FOLDER).absolute())
    if not Path(folder).is_dir():
        return []
    listed = subprocess.run(["ps", "-e", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=False).stdout
    commands = [line.strip().partition(" ") for line in listed.splitlines()]
    return [
        int(pid)
        for pid, _, command in commands
        if "-m submitit." in command and folder in command and int(pid) != os.getpid()
    ]


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
