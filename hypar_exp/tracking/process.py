"""Processes by a name that no later process can have: host, number and start."""

from __future__ import annotations

import os
import socket
import subprocess
from functools import cache
from pathlib import Path

PROCESS_TAG = "hypar_exp.process"


def this_process() -> str:
    """`host pid start` of this process."""
    return _named(os.getpid())


def pid_here(process: str) -> int | None:
    """The number of a process that `this_process` named; None where it is another machine's."""
    host, _, rest = process.partition(" ")
    pid = rest.partition(" ")[0]
    return int(pid) if host == socket.gethostname() and pid.isdigit() else None


def is_dead(process: str) -> bool:
    """Whether a process that `this_process` named has ended; of another machine's nothing is known, so False."""
    pid = pid_here(process)
    return pid is not None and process != _fresh_name(pid)


@cache
def _named(pid: int) -> str:
    return _fresh_name(pid)


def _fresh_name(pid: int) -> str:
    return f"{socket.gethostname()} {pid} {_start(pid)}"


def _start(pid: int) -> str:
    """When a process started: no two processes of one number have the same; '' where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
    else:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        return "" if fields[0] == "Z" else f"{boot}-{fields[19]}"
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "-".join(answer.stdout.split())
