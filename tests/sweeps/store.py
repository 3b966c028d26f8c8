"""What a sweep's test needs of the store: its rows as they are, and a strategy that takes its time."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import program_environment

SLOW = """
import time
from dataclasses import dataclass
from pathlib import Path
from hypar_exp.planning import Fixed

STARTED = Path(__file__).with_name("started")


@dataclass(frozen=True)
class Slow(Fixed):
    seconds: float = 0.3

    def plan(self, problem):
        with STARTED.open("a") as marks:
            marks.write("+")
        time.sleep(self.seconds)
        return super().plan(problem)


@dataclass(frozen=True)
class Broken(Fixed):
    def plan(self, problem):
        raise RuntimeError("the planner fell over")
"""


@dataclass(frozen=True)
class Run:
    run_id: str
    name: str
    status: str
    tags: dict[str, str]
    params: dict[str, str]
    metrics: dict[str, float]

    @property
    def parent(self) -> str | None:
        return self.tags.get("mlflow.parentRunId")


def stored_runs(folder: Path) -> list[Run]:
    """Every run of the database below a folder that a test ran the program in."""
    with contextlib.closing(sqlite3.connect(folder / "outputs" / "mlflow.db", timeout=30)) as connection:

        def values(table: str, run_id: str) -> dict:  # type: ignore[type-arg]
            return dict(connection.execute(f"SELECT key, value FROM {table} WHERE run_uuid = ?", [run_id]))

        return [
            Run(one, name, status, values("tags", one), values("params", one), values("latest_metrics", one))
            for one, name, status in connection.execute(
                "SELECT run_uuid, name, status FROM runs ORDER BY start_time, rowid"
            ).fetchall()
        ]


def parents(folder: Path) -> list[Run]:
    return [run for run in stored_runs(folder) if run.tags.get("kind") == "sweep"]


def children(folder: Path) -> list[Run]:
    return [run for run in stored_runs(folder) if run.tags.get("kind") != "sweep"]


def finished_once(folder: Path, jobs: int) -> None:
    """Every configuration of a sweep has exactly one FINISHED run."""
    hashes = [run.tags["config_hash"] for run in children(folder) if run.status == "FINISHED"]
    assert len(hashes) == jobs
    assert len(set(hashes)) == jobs


def sweep_folder(folder: Path) -> Path:
    """The folder of the last sweep."""
    return sorted((folder / "outputs" / "hydra").glob("*/*"))[-1]


@contextlib.contextmanager
def start(folder: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start the program in a folder, in a process group of its own, as a terminal does; it ends with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "hypar_exp", *arguments],
        cwd=folder,
        env=program_environment(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            kill_outright(process)


def kill_outright(process: subprocess.Popen[str]) -> None:
    """Kill a program and all that it started, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something another process does."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came about"
        time.sleep(0.02)


def started(folder: Path) -> int:
    """How many runs the slow strategy has begun to plan."""
    marks = folder / "started"
    return len(marks.read_text()) if marks.exists() else 0


def finished(folder: Path) -> int:
    """How many runs are in the database as FINISHED; 0 where there is none yet."""
    database = folder / "outputs" / "mlflow.db"
    if not database.exists():
        return 0
    with contextlib.closing(sqlite3.connect(database, timeout=30)) as connection:
        count = connection.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone()[0]
    return int(count)
