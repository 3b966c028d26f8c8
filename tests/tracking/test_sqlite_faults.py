"""Recording when the machine is unkind: killed in the middle, locked out, no room left, and many starting at once."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import SqliteRecorder
from tests.conftest import Command, program_environment
from tests.tracking.records import WRITTEN_DIRECTLY, a_run

RECORD_WITHOUT_END = """
import sys
from hypar_exp.tracking import SqliteRecorder
from tests.tracking.records import WRITTEN_DIRECTLY, a_run
recorder = SqliteRecorder(database="mlflow.db", artifacts="artifacts")
print("ready", flush=True)
while True:
    recorder.record_many([a_run(params={f"param{at}": "x" * 50 for at in range(200)}) for _ in range(20)])
"""


def recorder_in(folder: Path) -> SqliteRecorder:
    return SqliteRecorder(database=str(folder / "mlflow.db"), artifacts=str(folder / "artifacts"))


@WRITTEN_DIRECTLY
def test_a_killed_writer_leaves_no_half_run(tmp_path: Path) -> None:
    recorder_in(tmp_path).record(a_run("first"))
    seen = 1
    for _ in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", RECORD_WITHOUT_END], cwd=tmp_path, env=program_environment(), stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(random.uniform(0.05, 0.6))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
            runs = connection.execute(
                "SELECT name, artifact_uri, status, (SELECT count(*) FROM params p WHERE p.run_uuid = r.run_uuid), "
                "(SELECT count(*) FROM metrics m WHERE m.run_uuid = r.run_uuid), "
                "(SELECT count(*) FROM latest_metrics l WHERE l.run_uuid = r.run_uuid), "
                "(SELECT count(*) FROM tags t WHERE t.run_uuid = r.run_uuid) FROM runs r"
            ).fetchall()
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for name, artifact_uri, *rows in runs:
            assert rows == ["FINISHED", 2 if name == "first" else 200, 3, 2, 4]
            folder = Path(artifact_uri.removeprefix("file://"))
            assert {file.name: file.read_text() for file in folder.iterdir()} == a_run().artifacts
        assert len(runs) % 20 == 1  # whole batches only
        assert len(runs) >= seen
        seen = len(runs)
    assert seen > 1


@pytest.mark.parametrize("seconds", [1.5, pytest.param(22.0, marks=pytest.mark.slow)])
def test_a_locked_database_is_waited_for(tmp_path: Path, seconds: float) -> None:
    recorder = recorder_in(tmp_path)
    recorder.record(a_run("first"))
    other = sqlite3.connect(tmp_path / "mlflow.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE experiments SET name = name")
    release = threading.Timer(seconds, lambda: other.execute("COMMIT"))
    release.start()
    begun = time.monotonic()
    recorder.check()
    recorder.record_many([a_run("second"), a_run("third")])
    assert time.monotonic() - begun > seconds - 0.5
    release.join()
    names = other.execute("SELECT name FROM runs ORDER BY name").fetchall()
    other.close()
    assert names == [("first",), ("second",), ("third",)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "hypar_exp_test", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@WRITTEN_DIRECTLY
def test_a_full_disk_leaves_no_run_without_its_artifacts(tmp_path: Path, small_disk: Path) -> None:
    recorder = SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(small_disk / "artifacts"))
    recorder.record(a_run("fits"))
    with pytest.raises(UserError, match=r"could not be recorded in .*No space left on device"):
        recorder.record_many([a_run("too"), a_run("large", artifacts={"config.yaml": "x" * 1_000_000})])
    recorder.record(a_run("fits again"))
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM runs ORDER BY start_time, name")]
    assert names == ["fits", "fits again"]
    assert len(list((small_disk / "artifacts").iterdir())) == 2


@pytest.mark.slow
def test_eight_processes_start_together_on_no_database(tmp_path: Path, command: Command) -> None:
    program = [sys.executable, "-m", "hypar_exp", "network=lenet_c"]
    jobs = [
        subprocess.Popen(
            [*program, f"batch_size={16 * (at + 1)}"],
            cwd=tmp_path,
            env=program_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for at in range(8)
    ]
    printed = [job.communicate(timeout=180)[0] for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 8, "\n".join(printed)
    with contextlib.closing(sqlite3.connect(tmp_path / "outputs" / "mlflow.db")) as connection:
        rows = connection.execute(
            "SELECT status, count(*) FROM runs JOIN experiments USING (experiment_id) "
            "WHERE experiments.name = 'hypar_exp' GROUP BY status"
        ).fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert rows == [("FINISHED", 8)]
    assert [path.name for path in (tmp_path / "outputs").glob("mlflow.db*")] == ["mlflow.db"]
    assert not list((tmp_path / "outputs").glob(".mlflow*"))
