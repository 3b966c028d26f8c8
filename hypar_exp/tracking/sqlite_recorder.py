"""Runs in an MLflow SQLite database of the user's own, with the artifacts in a folder beside it."""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking.recorder import RecordedRun, RunRecord

UI_ADDRESS = "http://127.0.0.1:5000"


@dataclass(frozen=True)
class SqliteRecorder:
    """Records with MLflow's client into `database`; relative paths are below the current folder."""

    name: str = "sqlite"
    experiment: str = "hypar_exp"
    database: str = "outputs/mlflow.db"
    artifacts: str = "outputs/artifacts"

    @property
    def _database(self) -> Path:
        return Path(self.database).absolute()

    @property
    def uri(self) -> str:
        return f"sqlite:///{self._database}"

    def check(self) -> None:
        """The database can be written, or made, and its schema is the installed MLflow's.

        Raises:
            UserError: neither; says which and what to do.
        """
        for folder in (self._database.parent, Path(self.artifacts).absolute()):
            _require_writable_folder(folder)
        if self._database.exists():
            _require_writable_database(self._database)

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run, whole: a run that cannot be written to its end is closed as FAILED or KILLED.

        Raises:
            UserError: MLflow or the file system refused it.
        """
        from hypar_exp.tracking import mlflow_client

        with mlflow_client.user_errors(self.uri):
            if not self._database.exists():
                _create_database(self._database)
            client = mlflow_client.connect(self.uri)
            experiment_id = mlflow_client.experiment_id(
                client, self.experiment, Path(self.artifacts).absolute().as_uri()
            )
            run_id = mlflow_client.write_run(client, experiment_id, run)
        return RecordedRun(
            run_id=run_id,
            experiment_id=experiment_id,
            store=self.uri,
            ui_command=f"mlflow ui --backend-store-uri {shlex.quote(self.uri)}",
            url=mlflow_client.run_url(UI_ADDRESS, experiment_id, run_id),
        )


def _require_writable_folder(folder: Path) -> None:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(
            f"runs cannot be recorded in {folder}: {existing} is no folder that can be written; "
            "set tracking.database and tracking.artifacts, or tracking=none"
        )


def _require_writable_database(database: Path) -> None:
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=0.2)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            revisions = (
                [row[0] for row in connection.execute("SELECT version_num FROM alembic_version")]
                if "alembic_version" in tables
                else []
            )
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        if "locked" in str(error):
            return  # another writer is at work; MLflow waits for it when the time comes
        raise UserError(
            f"the tracking database {database} cannot be written: {error}; set tracking.database, or tracking=none"
        ) from None
    if tables and revisions and not _known_revision(revisions[0]):
        raise UserError(
            f"the tracking database {database} has schema {revisions[0]}, which the installed MLflow does not know: "
            "it was written by a newer MLflow; upgrade mlflow or set tracking.database to another file"
        )


def _known_revision(revision: str) -> bool:
    """Whether the installed MLflow has a migration of that name; read from its files, as importing it takes seconds."""
    spec = find_spec("mlflow")
    if spec is None or spec.origin is None:
        return True
    versions = Path(spec.origin).parent / "store" / "db_migrations" / "versions"
    return any(versions.glob(f"{revision}_*.py"))


def _create_database(database: Path) -> None:
    """Make the database with MLflow's own migrations under another name, then give it its name in one step.

    Two processes that migrate one new SQLite file corrupt it; here the first to finish wins and the other's is dropped.
    """
    from hypar_exp.tracking import mlflow_client

    mlflow_client.prepare()
    from mlflow.store.db.utils import _safe_initialize_tables, create_sqlalchemy_engine

    database.parent.mkdir(parents=True, exist_ok=True)
    fresh = database.with_name(f".{database.name}.{os.getpid()}.new")
    try:
        engine = create_sqlalchemy_engine(f"sqlite:///{fresh}")
        _safe_initialize_tables(engine)
        engine.dispose()
        with contextlib.closing(sqlite3.connect(fresh)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # readers and a writer do not wait for each other
        with contextlib.suppress(FileExistsError):
            os.link(fresh, database)
    finally:
        fresh.unlink(missing_ok=True)
