"""`hydra/sweeper=batch` killed in the middle and resumed, and two sweeps into one database at once."""

from __future__ import annotations

import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Command, NewStore, program_environment

SWEEP = ["-m", "hydra/sweeper=batch", "network=lenet_c", "strategy=dp,hypar", "array.levels=range(0,5)"]
BATCHES = "batch_size=range(1,81)"
RUNS = 2 * 5 * 80


@pytest.mark.slow
def test_a_killed_sweep_is_resumed_to_each_run_once(tmp_path: Path, command: Command, new_store: NewStore) -> None:
    new_store(tmp_path)
    for _ in range(3):
        before = _finished(tmp_path)
        sweep = _started(tmp_path, *SWEEP, BATCHES, "resume=true")
        while _finished(tmp_path) == before and sweep.poll() is None:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.2))
        sweep.send_signal(signal.SIGKILL)
        sweep.communicate()
        assert _finished(tmp_path) > before
    done = command(*SWEEP, BATCHES, "resume=true")
    assert f"{RUNS} done, 0 failed, 0 left" in done.stdout
    _each_once(tmp_path, RUNS)


def test_two_sweeps_at_once_both_end_complete(tmp_path: Path, new_store: NewStore) -> None:
    new_store(tmp_path)
    sweeps = [_started(tmp_path, *SWEEP, axis) for axis in ("batch_size=range(1,41)", "batch_size=range(41,81)")]
    for sweep in sweeps:
        printed, _ = sweep.communicate(timeout=300)
        assert sweep.returncode == 0, printed
        assert f"{RUNS // 2} done, 0 failed, 0 left" in printed
    _each_once(tmp_path, RUNS)


def _started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hypar_exp", *arguments],
        cwd=folder,
        env=program_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _finished(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "outputs" / "mlflow.db", timeout=60)) as database:
        (count,) = database.execute(
            "SELECT count(*) FROM runs JOIN tags USING (run_uuid) WHERE status = 'FINISHED' AND key = 'config_hash'"
        ).fetchone()
    return int(count)


def _each_once(folder: Path, runs: int) -> None:
    """Every configuration has one FINISHED run, with all its artifacts, and no run is left open."""
    with contextlib.closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as database:
        rows = database.execute(
            "SELECT status, value, artifact_uri FROM runs JOIN tags USING (run_uuid) WHERE key = 'config_hash'"
        ).fetchall()
        (running,) = database.execute("SELECT count(*) FROM runs WHERE status = 'RUNNING'").fetchone()
    assert len(rows) == len({config_hash for _, config_hash, _ in rows}) == runs
    assert {status for status, _, _ in rows} == {"FINISHED"}
    assert running == 0
    for _, _, uri in rows:
        names = {file.name for file in Path(uri.removeprefix("file://")).iterdir()}
        assert names >= {"config.yaml", "plan.csv", "plan.svg", "layers.csv"}
