"""Recorded runs, read back: from SQLite by a few queries that need no MLflow, from a server with MLflow's client."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hypar_exp.errors import UserError
from hypar_exp.tracking.artifact_files import is_local, local_folder

PAGE = 1000


@dataclass(frozen=True)
class StoredRun:
    """One run as the store has it; `metrics` are last values, so a series shows its last step."""

    run_id: str
    experiment_id: str
    name: str
    status: str
    start_time_ms: int
    end_time_ms: int | None
    """None while it runs."""
    artifact_uri: str
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def parent_id(self) -> str | None:
        """The run that this one is nested in."""
        return self.tags.get("mlflow.parentRunId")


class Results(Protocol):
    """Reads what a recorder kept."""

    def runs(self, **tags: str) -> list[StoredRun]:
        """The runs that have all of these tags, oldest first; deleted ones left out, [] where there is no store yet.

        Raises:
            UserError: the store cannot be read.
        """
        ...

    def search(self, where: str) -> list[StoredRun]:
        """The runs that a filter in MLflow's own grammar selects, oldest first.

        Raises:
            UserError: the filter cannot be read, or the store.
        """
        ...

    def artifact(self, run: StoredRun, name: str) -> str:
        """The text of an artifact.

        Raises:
            UserError: the run has none of that name, or it cannot be read.
        """
        ...


@dataclass(frozen=True)
class SqliteResults:
    """Reads the MLflow experiment `experiment` in a SQLite database."""

    database: Path
    experiment: str

    def runs(self, **tags: str) -> list[StoredRun]:
        """See `Results.runs`; a fraction of the time of MLflow's search, which reads run by run."""
        if not self.database.exists():
            return []
        try:
            with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True)) as connection:
                return _read(connection, self.experiment, tags)
        except sqlite3.Error as error:
            raise UserError(f"the tracking database {self.database} cannot be read: {error}") from None

    def search(self, where: str) -> list[StoredRun]:
        """See `Results.search`; MLflow's client reads the filter, which takes seconds longer."""
        return _search(f"sqlite:///{self.database}", self.experiment, where) if self.database.exists() else []

    def artifact(self, run: StoredRun, name: str) -> str:
        """See `Results.artifact`."""
        if not is_local(run.artifact_uri):
            return _download(f"sqlite:///{self.database}", run, name)
        try:
            return (local_folder(run.artifact_uri) / name).read_text(encoding="utf-8")
        except OSError as error:
            raise _no_artifact(run, name, error) from None


@dataclass(frozen=True)
class ServerResults:
    """Reads the MLflow experiment `experiment` on a tracking server."""

    uri: str
    experiment: str

    def runs(self, **tags: str) -> list[StoredRun]:
        """See `Results.runs`."""
        return self.search(" and ".join(f"tags.`{key}` = '{value}'" for key, value in tags.items()))

    def search(self, where: str) -> list[StoredRun]:
        """See `Results.search`."""
        return _search(self.uri, self.experiment, where)

    def artifact(self, run: StoredRun, name: str) -> str:
        """See `Results.artifact`."""
        return _download(self.uri, run, name)


def _read(connection: sqlite3.Connection, experiment: str, tags: Mapping[str, str]) -> list[StoredRun]:
    having = "".join(
        " AND EXISTS (SELECT 1 FROM tags t WHERE t.run_uuid = r.run_uuid AND t.key = ? AND t.value = ?)" for _ in tags
    )
    chosen = (
        "FROM runs r JOIN experiments e ON e.experiment_id = r.experiment_id "
        f"WHERE e.name = ? AND r.lifecycle_stage = 'active'{having}"
    )
    values = [experiment, *(part for tag in tags.items() for part in tag)]
    columns = "r.run_uuid, r.experiment_id, r.name, r.status, r.start_time, r.end_time, r.artifact_uri"
    rows = connection.execute(f"SELECT {columns} {chosen} ORDER BY r.start_time, r.rowid", values).fetchall()

    def table(name: str) -> dict[str, dict[str, str]]:
        query = f"SELECT run_uuid, key, value FROM {name} WHERE run_uuid IN (SELECT r.run_uuid {chosen})"
        return _by_run(connection.execute(query, values))

    params, run_tags, metrics = table("params"), table("tags"), table("latest_metrics")
    return [
        StoredRun(
            run_id=run_id,
            experiment_id=str(experiment_id),
            name=name,
            status=status,
            start_time_ms=start_time_ms,
            end_time_ms=end_time_ms,
            artifact_uri=artifact_uri,
            params=params.get(run_id, {}),
            tags=run_tags.get(run_id, {}),
            metrics={key: float(value) for key, value in metrics.get(run_id, {}).items()},
        )
        for run_id, experiment_id, name, status, start_time_ms, end_time_ms, artifact_uri in rows
    ]


def _search(uri: str, experiment: str, where: str) -> list[StoredRun]:
    """The runs of an experiment, by name, that a filter of MLflow's selects, by MLflow's client."""
    from hypar_exp.tracking import mlflow_client

    mlflow_client.prepare()
    from mlflow.exceptions import MlflowException

    try:
        client = mlflow_client.connect(uri)
        found = client.get_experiment_by_name(experiment)
        if found is None:
            return []
        runs, token = [], None
        while True:
            page = client.search_runs([found.experiment_id], where, 1, PAGE, ["start_time ASC"], token)
            runs += [_from_mlflow(run) for run in page]
            token = page.token
            if not token:
                return runs
    except Exception as error:
        reason = " ".join(str(error).split())
        if isinstance(error, MlflowException) and error.error_code == "INVALID_PARAMETER_VALUE":
            raise UserError(f"the filter {where!r} cannot be read: {reason[:300]}") from None
        raise UserError(f"the tracking store {uri} cannot be read: {reason[:300]}") from error


def _by_run(rows: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {}
    for run_id, key, value in rows:
        table.setdefault(run_id, {})[key] = value
    return table


def _from_mlflow(run: object) -> StoredRun:
    from mlflow.entities import Run

    assert isinstance(run, Run)
    return StoredRun(
        run_id=run.info.run_id,
        experiment_id=run.info.experiment_id,
        name=run.info.run_name or "",
        status=run.info.status,
        start_time_ms=run.info.start_time,
        end_time_ms=run.info.end_time,
        artifact_uri=run.info.artifact_uri or "",
        params=dict(run.data.params),
        tags=dict(run.data.tags),
        metrics=dict(run.data.metrics),
    )


def _download(uri: str, run: StoredRun, name: str) -> str:
    from hypar_exp.tracking import mlflow_client

    try:
        with tempfile.TemporaryDirectory() as folder:
            file = mlflow_client.connect(uri).download_artifacts(run.run_id, name, folder)
            return Path(file).read_text(encoding="utf-8")
    except Exception as error:
        raise _no_artifact(run, name, error) from None


def _no_artifact(run: StoredRun, name: str, error: Exception) -> UserError:
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return UserError(f"the artifact {name} of run {run.run_id} ({run.name}) cannot be read: {reason}")
