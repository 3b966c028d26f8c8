"""A tracking database of an older MLflow given the installed one's schema: a copy is migrated and takes its place."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking.sqlite import schema
from hypar_exp.tracking.sqlite.database import BUSY_TIMEOUT_S, journal_of, unfinished


def upgrade(database: Path, journal: str = "auto") -> Path | None:
    """Upgrade a database in one step, and return the copy of it as it was; None where it is up to date.

    At every moment, also after `kill -9`, the database is the old one, whole, or the new one, whole. It is refused
    while another program has it open: what that wrote during the copying would be lost.

    Raises:
        UserError: the database is in use, or cannot be upgraded.
    """
    if not database.exists():
        raise UserError(f"there is no tracking database {database}")
    try:
        with contextlib.closing(_alone(database)) as connection:
            current = schema.revision(connection)
            if current == schema.newest_revision():
                return None
            if current not in schema.known_revisions():
                schema.require_usable(connection, database)  # says why
            with unfinished(database) as fresh:
                return _replaced(database, fresh, str(current), journal)
    except (sqlite3.Error, OSError) as error:
        raise UserError(f"the tracking database {database} cannot be upgraded: {error}; it is as it was") from error


def _alone(database: Path) -> sqlite3.Connection:
    """A connection that keeps every other writer out until it is closed."""
    while True:
        inode = database.stat().st_ino
        connection = sqlite3.connect(
            f"{database.as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
        )
        try:
            connection.execute("PRAGMA busy_timeout = 2000")
            # only where no other program has the database open can its write-ahead log be given up; after that, SQLite
            # itself refuses to write to a file that has lost its name
            (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            if mode != "delete":
                raise sqlite3.OperationalError("database is locked")
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            connection.close()
            if "locked" not in str(error):
                raise
            raise UserError(
                f"the tracking database {database} is open in another program; end that (an MLflow UI, a sweep) and "
                "upgrade it then"
            ) from None
        if database.stat().st_ino == inode:
            return connection
        connection.close()  # another upgrade was first


def _replaced(database: Path, fresh: Path, current: str, journal: str) -> Path:
    """Migrate a copy, keep the original under another name, and let the copy take its place; returns the original's."""
    from hypar_exp.tracking import mlflow_client

    with (
        contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(fresh.as_uri(), uri=True)) as target,
    ):
        source.backup(target)
    kept = database.with_name(f"{database.name}.{current}.bak")
    number = 1
    while kept.exists():
        number += 1
        kept = database.with_name(f"{database.name}.{current}.{number}.bak")
    with unfinished(database) as copy:
        shutil.copyfile(fresh, copy)
        copy.rename(kept)
    try:
        mlflow_client.migrate(fresh)
        with contextlib.closing(sqlite3.connect(fresh.as_uri(), uri=True, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA journal_mode = {'WAL' if journal_of(database, journal) == 'wal' else 'DELETE'}")
        shutil.copymode(database, fresh)
        fresh.replace(database)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
    return kept
