"""Runs in an MLflow SQLite database of the user's own, with the artifacts in a folder beside it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking.locations import PLAIN_PATH, SQLITE_ADDRESS, local_path
from hypar_exp.tracking.mlflow_view import run_url, runs_url
from hypar_exp.tracking.secrets import without_passwords
from hypar_exp.tracking.sentences import mlflow_command, no_parent, shell_quoted, user_errors
from hypar_exp.tracking.sqlite import database as database_file
from hypar_exp.tracking.sqlite import schema, writer
from hypar_exp.tracking.sqlite.reader import SqliteResults
from hypar_exp.tracking.store import RecordedRun, RunRecord

UI_ADDRESS = "http://127.0.0.1:5000"
TRACKING_URI = "MLFLOW_TRACKING_URI"
"""MLflow's own environment variable."""


@dataclass(frozen=True)
class SqliteRecorder:
    """Records into `database`; relative paths are below the current folder.

    Runs are written straight into the tables where the schema is one that our tests know, by MLflow's client where not.
    """

    name: str = "sqlite"
    experiment: str = "hypar_exp"
    database: str = "outputs/mlflow.db"
    """A path, also as `sqlite:///path`."""
    artifacts: str = "outputs/artifacts"
    """A folder; the files of every run are written below it, whatever the database says."""
    journal: str = "auto"
    """`wal`, `rollback` or `auto`: see `database.journal_of`."""

    def __post_init__(self) -> None:
        if self.journal not in database_file.JOURNALS:
            raise UserError(f"tracking.journal must be {', '.join(database_file.JOURNALS)} (got {self.journal!r})")
        if ":memory:" in self.database:
            raise UserError("tracking.database must be a file (got ':memory:'); tracking=none records nothing")
        if set(self._database.name) & set("?#%"):
            raise UserError(f"the name of tracking.database must not have ? # or % in it (got {self.database!r})")
        assert self._artifacts  # raises for an address

    @property
    def _database(self) -> Path:
        path = self.database.removeprefix(SQLITE_ADDRESS)
        return local_path(
            "tracking.database", path, "a database server is used through an MLflow server: tracking=server"
        )

    @property
    def _artifacts(self) -> Path:
        return local_path("tracking.artifacts", self.artifacts, "an MLflow server can keep them there: tracking=server")

    @property
    def uri(self) -> str:
        return f"{SQLITE_ADDRESS}{self._database}"

    def check(self) -> None:
        """The database can be written as it is, or made.

        Raises:
            UserError: neither; says which and what to do.
        """
        for folder in (self._database.parent, self._artifacts):
            _require_writable_folder(folder)
        if self._database.exists():
            database_file.require_usable(self._database, self.journal)

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run, whole; see `record_many`."""
        return self.record_many([run])[0]

    def record_many(self, runs: Sequence[RunRecord]) -> list[RecordedRun]:
        """Keep runs, all of them or none (where MLflow's client must write them: each of them whole).

        Raises:
            StoreError: the database or the file system cannot be written.
            UserError: a run was refused.
        """
        with user_errors(self.uri):
            if not self._database.exists():
                for run in runs:
                    if run.parent_id is not None:
                        raise no_parent(run.parent_id, self.uri)
                database_file.create(self._database, self._artifacts, self.journal)
            experiment_id, run_ids, notes = self._write(runs)
        return [self._recorded(experiment_id, run_id, notes) for run_id in run_ids]

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """See `Store.amend`."""
        with user_errors(self.uri):
            return self._recorded(self._amend(run_id, run), run_id)

    def results(self) -> SqliteResults:
        """What reads the runs back."""
        return SqliteResults(self._database, self.experiment, self._artifacts)

    def relocate(self) -> int:
        """Let runs whose files are below `artifacts` have them there, after a move or a copy; returns how many changed.

        Raises:
            UserError: there is no database, or it cannot be written.
        """
        self.check()
        if not self._database.exists():
            raise UserError(f"there is no tracking database {self._database}")
        with user_errors(self.uri), self._connected() as connection:
            return writer.relocate_runs(connection, self.experiment, self._artifacts)

    def upgrade(self) -> Path | None:
        """Give the database the installed MLflow's schema; returns the copy that is kept, None where it is up to date.

        Raises:
            UserError: the database is in use, or cannot be upgraded.
        """
        from hypar_exp.tracking.sqlite.upgrade import upgrade

        return upgrade(self._database, self.journal)

    @property
    def _at_store(self) -> str:
        """What a command of MLflow's begins with to use this database."""
        folder, uri = self._place
        return f"{folder}{TRACKING_URI}={uri}"

    @property
    def _place(self) -> tuple[str, str]:
        """A command to go where the address that follows is understood, and the address; both as shells take them."""
        if PLAIN_PATH.fullmatch(str(self._database)):
            return "", shell_quoted(self.uri)
        return f"cd {shell_quoted(str(self._database.parent))} && ", shell_quoted(SQLITE_ADDRESS + self._database.name)

    def _recorded(self, experiment_id: str, run_id: str, notes: Sequence[str] = ()) -> RecordedRun:
        return RecordedRun(
            run_id=run_id,
            experiment_id=experiment_id,
            store=self.uri,
            ui_command=self._ui_command(),
            url=run_url(UI_ADDRESS, experiment_id, run_id),
            runs_url=runs_url(UI_ADDRESS, experiment_id),
            note="; ".join([*notes, *self._environment_notes()]) or None,
        )

    def _ui_command(self) -> str:
        """What opens the MLflow UI on the database; one worker of its four is enough for one person."""
        folder, uri = self._place
        return f"{folder}MLFLOW_DISABLE_TELEMETRY=true {mlflow_command()} ui --workers 1 --backend-store-uri {uri}"

    def _environment_notes(self) -> list[str]:
        elsewhere = os.environ.get(TRACKING_URI)
        if not elsewhere or elsewhere == self.uri:
            return []
        how = "tracking=server uses it" if elsewhere.startswith("http") else "tracking.database says where runs go"
        return [f"{TRACKING_URI} ({without_passwords(elsewhere)}) is not used here: {how}"]

    def _connected(self) -> contextlib.closing:  # type: ignore[type-arg]
        return contextlib.closing(database_file.connect(self._database, self.journal))

    def _amend(self, run_id: str, run: RunRecord) -> str:
        """Amend a run, by MLflow's client where the schema is not one that was tested, and return its experiment."""
        with self._connected() as connection:
            schema.require_usable(connection, self._database)
            if schema.is_tested(connection):
                return writer.amend_run(connection, self._artifacts, run_id, run)
        from hypar_exp.tracking import mlflow_client

        with mlflow_client.database_uri(self._database) as uri:
            return mlflow_client.amend_run(mlflow_client.connect(uri), run_id, run)

    def _write(self, runs: Sequence[RunRecord]) -> tuple[str, list[str], list[str]]:
        """The experiment's id, the runs' ids, and what the user should know of how they were written."""
        with self._connected() as connection:
            schema.require_usable(connection, self._database)
            revision = schema.revision(connection)
            if schema.is_tested(connection):
                experiment_id, location = writer.experiment(
                    connection, self.experiment, self._artifacts.as_uri(), self._at_store
                )
                for parent_id in {run.parent_id for run in runs} - {None}:
                    if not writer.has_run(connection, str(parent_id)):
                        raise no_parent(str(parent_id), self.uri)
                run_ids = writer.write_runs(connection, experiment_id, self._artifacts, runs)
                return experiment_id, run_ids, self._location_notes(location)
        note = (
            f"the schema of {self.database} ({revision}) is not one that the fast writer was tested with, so MLflow's "
            "client recorded, which takes seconds longer"
        )
        return *self._write_with_client(runs), [note]

    def _write_with_client(self, runs: Sequence[RunRecord]) -> tuple[str, list[str]]:
        from hypar_exp.tracking import mlflow_client

        location = self._artifacts.as_uri()
        with mlflow_client.database_uri(self._database) as uri:
            client = mlflow_client.connect(uri)
            experiment_id = mlflow_client.experiment_id(client, self.experiment, self._at_store, location)
            elsewhere = client.get_experiment(experiment_id).artifact_location
            if elsewhere.rstrip("/") != location:
                raise UserError(
                    f"the experiment '{self.experiment}' has its artifacts in {elsewhere}; set tracking.artifacts to "
                    f"that, or let 'hypar-exp runs relocate' have them in {self.artifacts}"
                )
            return experiment_id, [mlflow_client.write_run(client, experiment_id, run) for run in runs]

    def _location_notes(self, location: str) -> list[str]:
        if location.rstrip("/") == self._artifacts.as_uri():
            return []
        return [
            f"the experiment '{self.experiment}' says that its artifacts are in {location}; this run's are in "
            f"{self.artifacts}, and 'hypar-exp runs relocate' says so of all whose files are there"
        ]


def _require_writable_folder(folder: Path) -> None:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(
            f"runs cannot be recorded in {folder}: {existing} is no folder that can be written; "
            "set tracking.database and tracking.artifacts, or tracking=none"
        )
