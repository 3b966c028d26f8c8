"""Databases on file systems that machines share, in folders with containers, and on file systems without hard links."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import SqliteRecorder, StoreError
from hypar_exp.tracking.locations import SHARED_FILE_SYSTEMS, file_system_of, shared_file_system
from tests.conftest import program_environment
from tests.tracking.records import WRITTEN_DIRECTLY, a_run

MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
24 23 0:22 / /home/ada/my\040disk rw - ext4 /dev/sdb1 rw
25 22 0:23 / /scratch rw - lustre 10.0.0.1@tcp:/scratch rw
26 22 0:24 / /mnt/win rw master:1 propagate_from:2 - cifs //nas/share rw
27 22 0:25 / /mnt/ssh rw - fuse.sshfs host: rw
28 22 0:26 / /mnt/stick rw - fuseblk /dev/sdc1 rw
""".strip()


@pytest.mark.parametrize(
    ("path", "kind", "shared"),
    [
        ("/tmp/outputs/mlflow.db", "ext4", False),
        ("/home/ada/outputs/mlflow.db", "nfs4", True),
        ("/home/ada/my disk/mlflow.db", "ext4", False),
        ("/homes/mlflow.db", "ext4", False),
        ("/scratch/ada/mlflow.db", "lustre", True),
        ("/mnt/win/mlflow.db", "cifs", True),
        ("/mnt/ssh/mlflow.db", "fuse.sshfs", True),
        ("/mnt/stick/mlflow.db", "fuseblk", False),
    ],
)
def test_file_systems_that_machines_share_are_known(
    path: str, kind: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", lambda self: True)
    assert file_system_of(Path(path), MOUNTS) == kind
    assert (SHARED_FILE_SYSTEMS.fullmatch(kind) is not None) == shared


def test_this_machine_s_own_is_not_shared(tmp_path: Path) -> None:
    assert shared_file_system(tmp_path / "not there yet" / "mlflow.db") is None


def recorder_in(folder: Path, **changes: str) -> SqliteRecorder:
    return SqliteRecorder(database=str(folder / "mlflow.db"), artifacts=str(folder / "artifacts"), **changes)


def journal_mode(folder: Path) -> str:
    with contextlib.closing(sqlite3.connect(folder / "mlflow.db")) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@WRITTEN_DIRECTLY
def test_the_journal_is_as_asked_for(tmp_path: Path) -> None:
    recorder_in(tmp_path / "rollback", journal="rollback").record(a_run())
    assert journal_mode(tmp_path / "rollback") == "delete"
    recorder_in(tmp_path / "wal").record(a_run())
    assert journal_mode(tmp_path / "wal") == "wal"
    recorder_in(tmp_path / "wal", journal="rollback").record(a_run())
    assert journal_mode(tmp_path / "wal") == "delete"
    with pytest.raises(UserError, match=r"tracking\.journal must be auto, wal, rollback"):
        recorder_in(tmp_path, journal="memory")


def test_a_write_ahead_log_in_use_on_a_shared_file_system_is_refused(tmp_path: Path) -> None:
    recorder_in(tmp_path).record(a_run())
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM runs").fetchall()
        recorder = recorder_in(tmp_path, journal="rollback")
        with pytest.raises(StoreError, match="write-ahead log, which only one machine may use"):
            recorder.check()


SAME_PID = """
import os, sys
os.getpid = lambda: 7  # as the first process of every container
if sys.argv[1] == "no links":
    def link(source, target):
        raise PermissionError(1, "Operation not permitted", source)
    os.link = link
from hypar_exp.tracking import SqliteRecorder
from tests.tracking.records import WRITTEN_DIRECTLY, a_run
SqliteRecorder(database="mlflow.db", artifacts="artifacts").record(a_run())
"""


@pytest.mark.parametrize("links", ["links", "no links"])
def test_processes_of_one_number_start_together_on_no_database(tmp_path: Path, links: str, new_database: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SAME_PID, links], cwd=tmp_path, env=program_environment(), stderr=subprocess.PIPE
        )
        for _ in range(6)
    ]
    for process in processes:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error.decode()
    assert len(recorder_in(tmp_path).results().runs()) == 6
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_what_killed_processes_left_is_taken_away(tmp_path: Path) -> None:
    for name, age_s in ((".mlflow.db.abc.new", 7200), (".mlflow.db.def.new-wal", 7200), (".mlflow.db.now.new", 0)):
        (tmp_path / name).touch()
        at = (tmp_path / name).stat().st_mtime - age_s
        os.utime(tmp_path / name, (at, at))
    recorder_in(tmp_path).record(a_run())
    assert {file.name for file in tmp_path.iterdir()} >= {".mlflow.db.now.new", "mlflow.db"}
    assert len([file for file in tmp_path.iterdir() if file.name.startswith(".")]) == 1
