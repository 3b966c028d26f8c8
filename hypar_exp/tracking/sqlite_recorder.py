"""Runs in an MLflow SQLite database of the user's own, with the artifacts in a folder beside it."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking import sqlite_database, sqlite_writer
from hypar_exp.tracking.artifact_files import is_local
from hypar_exp.tracking.recorder import RecordedRun, RunRecord
from hypar_exp.tracking.results import SqliteResults
from hypar_exp.tracking.sentences import run_url, user_errors

UI_ADDRESS = "http://127.0.0.1:5000"


@dataclass(frozen=True)
class SqliteRecorder:
    """Records into `database`; relative paths are below the current folder.

    Runs are written straight into the tables where the schema is one that our tests know, by MLflow's client where not.
    """

    name: str = "sqlite"
    experiment: str = "hypar_exp"
    database: str = "outputs/mlflow.db"
    artifacts: str = "outputs/artifacts"

    @property
    def _database(self) -> Path:
        return Path(self.database).absolute()

    @property
    def _artifacts(self) -> Path:
        return Path(self.artifacts).absolute()

    @property
    def uri(self) -> str:
        return f"sqlite:///{self._database}"

    def check(self) -> None:
        """The database can be written, or made, and its schema is the installed MLflow's.

        Raises:
            UserError: neither; says which and what to do.
        """
        for folder in (self._database.parent, self._artifacts):
            _require_writable_folder(folder)
        if self._database.exists():
            sqlite_database.require_writable(self._database)

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run, whole; see `record_many`."""
        return self.record_many([run])[0]

    def record_many(self, runs: Sequence[RunRecord]) -> list[RecordedRun]:
        """Keep runs, all of them or none (where MLflow's client must write them: each of them whole).

        Raises:
            UserError: the database or the file system refused them.
        """
        with user_errors(self.uri):
            if not self._database.exists():
                sqlite_database.create(self._database, self._artifacts)
            experiment_id, run_ids, note = self._write(runs)
        return [self._recorded(experiment_id, run_id, note) for run_id in run_ids]

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """See `Recorder.amend`."""
        with user_errors(self.uri):
            return self._recorded(self._amend(run_id, run), run_id)

    def _recorded(self, experiment_id: str, run_id: str, note: str | None = None) -> RecordedRun:
        return RecordedRun(
            run_id=run_id,
            experiment_id=experiment_id,
            store=self.uri,
            ui_command=_ui_command(self.uri),
            url=run_url(UI_ADDRESS, experiment_id, run_id),
            note=note,
        )

    def _amend(self, run_id: str, run: RunRecord) -> str:
        """Amend a run, by MLflow's client where the schema is not one that was tested, and return its experiment."""
        with contextlib.closing(sqlite_database.connect(self._database)) as connection:
            if sqlite_database.schema_revision(connection) in sqlite_writer.TESTED_REVISIONS:
                return sqlite_writer.amend_run(connection, run_id, run)
        from hypar_exp.tracking import mlflow_client

        return mlflow_client.amend_run(mlflow_client.connect(self.uri), run_id, run)

    def _write(self, runs: Sequence[RunRecord]) -> tuple[str, list[str], str | None]:
        """The experiment's id, the runs' ids, and a note where MLflow's client had to write them."""
        with contextlib.closing(sqlite_database.connect(self._database)) as connection:
            revision = sqlite_database.schema_revision(connection)
            if revision in sqlite_writer.TESTED_REVISIONS:
                experiment_id, location = sqlite_writer.experiment(
                    connection, self.experiment, self._artifacts.as_uri()
                )
                if is_local(location):
                    return experiment_id, sqlite_writer.write_runs(connection, experiment_id, location, runs), None
                note = f"the artifacts of the experiment '{self.experiment}' are not on this machine"
            else:
                note = f"the schema of {self.database} ({revision}) is not one that the fast writer was tested with"
        return *self._write_with_client(runs), f"{note}, so MLflow's client recorded, which takes seconds longer"

    def _write_with_client(self, runs: Sequence[RunRecord]) -> tuple[str, list[str]]:
        from hypar_exp.tracking import mlflow_client

        client = mlflow_client.connect(self.uri)
        experiment_id = mlflow_client.experiment_id(client, self.experiment, self._artifacts.as_uri())
        return experiment_id, [mlflow_client.write_run(client, experiment_id, run) for run in runs]

    def results(self) -> SqliteResults:
        """What reads the runs back."""
        return SqliteResults(self._database, self.experiment)


def _ui_command(uri: str) -> str:
    """What opens the MLflow UI on a store, wherever `mlflow` is; one worker of its four is enough for one person."""
    mlflow = "mlflow" if shutil.which("mlflow") else f"{shlex.quote(sys.executable)} -m mlflow"
    return f"MLFLOW_DISABLE_TELEMETRY=true {mlflow} ui --workers 1 --backend-store-uri {shlex.quote(uri)}"


def _require_writable_folder(folder: Path) -> None:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(
            f"runs cannot be recorded in {folder}: {existing} is no folder that can be written; "
            "set tracking.database and tracking.artifacts, or tracking=none"
        )
