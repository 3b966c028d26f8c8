"""Processes by a name that no other process has, on whatever machine, in whatever container, before or after a boot."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROCESS_TAG = "hypar_exp.process"


@dataclass(frozen=True)
class ProcessName:
    """What tells a process from all others; its text is `host pid start machine boot namespace`."""

    host: str
    pid: int
    start: str
    machine: str
    """A digest of the machine's own id; '' where it has none."""
    boot: str
    """The start of the machine's system; '' where it does not say."""
    namespace: str
    """Within which the number is the process's: a container has one of its own."""

    def __str__(self) -> str:
        return " ".join(
            [self.host, str(self.pid), *(part or "-" for part in (self.start, self.machine, self.boot, self.namespace))]
        )

    @classmethod
    def read(cls, text: str) -> ProcessName | None:
        """A name from its text; None for anything else."""
        words = text.split(" ")
        if len(words) != 6 or not words[1].isdigit():
            return None
        start, machine, boot, namespace = ("" if word == "-" else word for word in words[2:])
        return cls(words[0], int(words[1]), start, machine, boot, namespace)

    @property
    def is_of_here(self) -> bool:
        """Whether its number means a process that this one can see."""
        here = _here()
        return (self.host, self.boot, self.namespace) == (here.host, here.boot, here.namespace)

    @property
    def is_of_an_earlier_boot(self) -> bool:
        """Whether this machine, told by its own id, was started again since."""
        here = _here()
        return bool(self.machine) and (self.host, self.machine) == (here.host, here.machine) and self.boot != here.boot


def this_process() -> str:
    """The name of this process."""
    return str(_named(os.getpid()))


def pid_here(process: str) -> int | None:
    """The number of a process that `this_process` named; None where this process cannot see it."""
    name = ProcessName.read(process)
    return name.pid if name is not None and name.is_of_here else None


def is_dead(process: str) -> bool:
    """Whether a process that `this_process` named has ended.

    Of another machine's and another container's nothing is known, so False.
    """
    name = ProcessName.read(process)
    if name is None:
        return False
    if name.is_of_here:
        return name.start != _start(name.pid)
    return name.is_of_an_earlier_boot


@cache
def _named(pid: int) -> ProcessName:
    here = _here()
    return ProcessName(here.host, pid, _start(pid), here.machine, here.boot, here.namespace)


@cache
def _here() -> ProcessName:
    """The machine and the namespace of this process; the number says nothing."""
    machine = _line("/etc/machine-id")
    digest = hashlib.sha256(f"hypar_exp {machine}".encode()).hexdigest()[:8] if machine else ""
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        namespace = ""
    host = socket.gethostname().replace(" ", "_")
    return ProcessName(host, 0, "", digest, _line("/proc/sys/kernel/random/boot_id")[:8], namespace)


def _line(file: str) -> str:
    try:
        return Path(file).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _start(pid: int) -> str:
    """When a process started: no two processes of one number have the same; '' where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/stat").exists():
            return ""
    else:
        return "" if fields[0] == "Z" else fields[19]
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "-".join(answer.stdout.split())
