"""The SQLite database file that MLflow keeps runs in: whether it can be used, its schema, and how it is made."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking.locations import shared_file_system
from hypar_exp.tracking.sqlite import schema
from hypar_exp.tracking.store import StoreError, now_ms

BUSY_TIMEOUT_S = 60.0
"""How long a writer waits for another one; MLflow's own client waits for 20 s."""

CACHE_KIB = 65_536
"""What a batch of runs touches of the indexes; with SQLite's own 2 MB it takes half as long again."""
LEFTOVER_S = 3600.0
"""A file of an unfinished database that is older than this was left by a process that was killed."""
JOURNALS = ("auto", "wal", "rollback")


def connect(database: Path, journal: str = "auto", timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """A connection to an existing database that begins and ends its transactions by statement only.

    Args:
        database: absolute path.
        journal: see `journal_of`.
        timeout_s: how long a writer waits for another one.

    Raises:
        StoreError: the database has a write-ahead log where it must not have one, and another program has it open.
    """
    connection = sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=timeout_s, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            if journal_of(database, journal) == "wal":
                connection.execute("PRAGMA synchronous = NORMAL")  # with a log whole after a power cut all the same
            else:
                _leave_write_ahead_log(connection, database)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection


def read_only(database: Path) -> sqlite3.Connection:
    """A connection to an existing database that cannot write."""
    return sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)


def journal_of(database: Path, journal: str) -> str:
    """`wal` or `rollback`: what `auto` means for a database.

    With a write-ahead log readers and a writer do not wait for each other, but all of them must be on one machine: they
    share memory (sqlite.org/wal.html). On a file system that several machines have, two writers would destroy the file.
    """
    if journal != "auto":
        return journal
    return "wal" if shared_file_system(database) is None else "rollback"


def require_usable(database: Path, journal: str = "auto") -> None:
    """The database can be written as it is: its schema is one that can be written without changing it.

    Raises:
        UserError: it cannot; says why and what to do.
    """
    try:
        if database.stat().st_size == 0:
            raise UserError(
                f"the tracking database {database} is an empty file, which is no database; delete it and the next run "
                "makes one, or set tracking.database"
            )
        with contextlib.closing(connect(database, journal, timeout_s=0.2)) as connection:
            schema.require_usable(connection, database)
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except (sqlite3.Error, OSError) as error:
        if "locked" in str(error):
            return  # another writer is at work; it is waited for when the time comes
        raise UserError(
            f"the tracking database {database} cannot be written: {error}; set tracking.database, or tracking=none"
        ) from None


def create(database: Path, artifacts: Path, journal: str = "auto") -> None:
    """Make the database under another name, as a copy of MLflow's own empty one, then give it its name in one step.

    Two processes that migrate one new SQLite file corrupt it; here the first to finish wins and the other's is dropped.
    The artifacts of MLflow's default experiment, which is there from the start, go below `artifacts` too.
    """
    from hypar_exp.tracking.sqlite import template

    database.parent.mkdir(parents=True, exist_ok=True)
    with unfinished(database) as fresh:
        shutil.copyfile(template.empty_database(), fresh)
        with contextlib.closing(sqlite3.connect(fresh.as_uri(), uri=True, isolation_level=None)) as connection:
            connection.execute(
                "UPDATE experiments SET artifact_location = ?1, creation_time = ?2, last_update_time = ?2",
                [f"{artifacts.as_uri()}/0", now_ms()],
            )
            connection.execute(f"PRAGMA journal_mode = {'WAL' if journal_of(database, journal) == 'wal' else 'DELETE'}")
        give_name(fresh, database)


@contextlib.contextmanager
def unfinished(database: Path) -> Iterator[Path]:
    """The name of a file beside a database in which one is made; gone at the end, unless it was given another name.

    No other process has the name, in whatever container it is; what killed processes left is taken away.
    """
    for leftover in database.parent.glob(f".{_escaped(database.name)}.*.new*"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > LEFTOVER_S:
                leftover.unlink()
    fresh = database.with_name(f".{database.name}.{secrets.token_hex(8)}.new")
    try:
        yield fresh
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)


def give_name(fresh: Path, database: Path) -> None:
    """Give a finished file its name in one step, unless another process was first.

    A hard link cannot replace a file that is there; where the file system has none (exFAT, some mounts), a folder that
    only one process can make stands guard while the file is renamed.
    """
    try:
        os.link(fresh, database)
    except FileExistsError:
        pass
    except OSError:
        with _guarded(database):
            if not database.exists():
                fresh.rename(database)


GUARD_S = 10.0
"""A guard that is older was left by a process that was killed: a renaming takes no time."""


@contextlib.contextmanager
def _guarded(database: Path) -> Iterator[None]:
    guard = database.with_name(f".{database.name}.naming")
    while True:
        try:
            guard.mkdir()
            break
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if time.time() - guard.stat().st_mtime > GUARD_S:
                    guard.rmdir()
            time.sleep(0.02)
    try:
        yield
    finally:
        guard.rmdir()


def _leave_write_ahead_log(connection: sqlite3.Connection, database: Path) -> None:
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError:
        mode = "wal"
    if mode == "wal":
        raise StoreError(
            f"the tracking database {database} has a write-ahead log, which only one machine may use, on a file system "
            "that others share; end the other programs that have it open (an MLflow UI), or use tracking=server"
        )


def _escaped(name: str) -> str:
    """A name as a pattern that only it matches."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
