"""The SQLite database file that MLflow keeps runs in: whether it can be used, its schema, and how it is made."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from importlib.util import find_spec
from pathlib import Path

from hypar_exp.errors import UserError

BUSY_TIMEOUT_S = 60.0
"""How long a writer waits for another one; MLflow's own client waits for 20 s."""

CACHE_KIB = 65_536
"""What a batch of runs touches of the indexes; with SQLite's own 2 MB it takes half as long again."""


def connect(database: Path, timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """A connection to an existing database that begins and ends its transactions by statement only."""
    connection = sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=timeout_s, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
        connection.execute("PRAGMA synchronous = NORMAL")  # with a write-ahead log whole after a power cut all the same
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def schema_revision(connection: sqlite3.Connection) -> str | None:
    """The name of MLflow's last migration of the database; None where it never ran."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def require_writable(database: Path) -> None:
    """The database can be written, and its schema is one that the installed MLflow knows.

    Raises:
        UserError: neither; says which and what to do.
    """
    try:
        with contextlib.closing(connect(database, timeout_s=0.2)) as connection:
            revision = schema_revision(connection)
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        if "locked" in str(error):
            return  # another writer is at work; it is waited for when the time comes
        raise UserError(
            f"the tracking database {database} cannot be written: {error}; set tracking.database, or tracking=none"
        ) from None
    if revision is not None and not _known_revision(revision):
        raise UserError(
            f"the tracking database {database} has schema {revision}, which the installed MLflow does not know: "
            "it was written by a newer MLflow; upgrade mlflow or set tracking.database to another file"
        )


def create(database: Path, artifacts: Path) -> None:
    """Make the database with MLflow's own migrations under another name, then give it its name in one step.

    Two processes that migrate one new SQLite file corrupt it; here the first to finish wins and the other's is dropped.
    The artifacts of MLflow's default experiment, which is there from the start, go below `artifacts` too.
    """
    from hypar_exp.tracking import mlflow_client

    database.parent.mkdir(parents=True, exist_ok=True)
    fresh = database.with_name(f".{database.name}.{os.getpid()}.new")
    try:
        mlflow_client.migrate(f"sqlite:///{fresh}", artifacts.as_uri())
        with contextlib.closing(connect(fresh)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # readers and a writer do not wait for each other
        with contextlib.suppress(FileExistsError):
            os.link(fresh, database)
    finally:
        fresh.unlink(missing_ok=True)


def _known_revision(revision: str) -> bool:
    """Whether the installed MLflow has a migration of that name; read from its files, as importing it takes seconds."""
    spec = find_spec("mlflow")
    if spec is None or spec.origin is None:
        return True
    versions = Path(spec.origin).parent / "store" / "db_migrations" / "versions"
    return any(versions.glob(f"{revision}_*.py"))
