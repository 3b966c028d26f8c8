"""Runs read back from a SQLite database by a few queries that need no MLflow."""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypar_exp.errors import UserError
from hypar_exp.tracking import mlflow_tags
from hypar_exp.tracking.locations import is_local, local_folder
from hypar_exp.tracking.sentences import no_artifact
from hypar_exp.tracking.sqlite import database as database_file
from hypar_exp.tracking.sqlite import schema
from hypar_exp.tracking.store import StoredRun


@dataclass(frozen=True)
class SqliteResults:
    """Reads the MLflow experiment `experiment` in a SQLite database; nothing is ever written to it.

    A schema that was not tested is read by MLflow's client, if it is the installed MLflow's.
    """

    database: Path
    experiment: str
    artifacts: Path
    """Where runs have their artifacts whose own folder is not there: the database was moved with them."""

    def runs(self, **tags: str) -> list[StoredRun]:
        """See `Results.runs`; a fraction of the time of MLflow's search, which reads run by run."""
        return self._read(list(tags.items()))

    def children(self, parent_id: str) -> list[StoredRun]:
        """See `Results.children`."""
        return self._read([(mlflow_tags.PARENT, parent_id)])

    def search(self, where: str) -> list[StoredRun]:
        """See `Results.search`."""
        from hypar_exp.tracking import filters

        filters.parsed(where)
        return filters.selected(self.runs(), where)

    def artifact(self, run: StoredRun, name: str) -> str:
        """See `Results.artifact`."""
        if not is_local(run.artifact_uri):
            from hypar_exp.tracking import mlflow_client

            with mlflow_client.database_uri(self.database) as uri:
                return mlflow_client.download(mlflow_client.connect(uri), run, name)
        folders = (local_folder(run.artifact_uri), self.artifacts / run.run_id / "artifacts")
        file = next((folder / name for folder in folders if (folder / name).exists()), folders[0] / name)
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise no_artifact(run.run_id, run.name, name, error) from None

    def _read(self, tags: Sequence[tuple[str, str]]) -> list[StoredRun]:
        if not self.database.exists():
            return []
        try:
            with contextlib.closing(database_file.read_only(self.database)) as connection:
                schema.require_usable(connection, self.database)
                if schema.is_tested(connection):
                    return _selected(connection, self.experiment, tags)
        except sqlite3.Error as error:
            raise UserError(f"the tracking database {self.database} cannot be read: {error}") from None
        from hypar_exp.tracking import mlflow_client

        with mlflow_client.database_uri(self.database) as uri:
            return mlflow_client.runs(mlflow_client.connect(uri), self.experiment, tags)


def _selected(connection: sqlite3.Connection, experiment: str, tags: Sequence[tuple[str, str]]) -> list[StoredRun]:
    having = "".join(
        " AND EXISTS (SELECT 1 FROM tags t WHERE t.run_uuid = r.run_uuid AND t.key = ? AND t.value = ?)" for _ in tags
    )
    chosen = (
        "FROM runs r JOIN experiments e ON e.experiment_id = r.experiment_id "
        f"WHERE e.name = ? AND r.lifecycle_stage = 'active'{having}"
    )
    values = [experiment, *(part for tag in tags for part in tag)]
    columns = "r.run_uuid, r.experiment_id, r.name, r.status, r.start_time, r.end_time, r.artifact_uri"
    connection.execute("BEGIN")  # all tables as they were at one moment
    rows = connection.execute(f"SELECT {columns} {chosen} ORDER BY r.start_time, r.rowid", values).fetchall()

    def table(name: str, value: str) -> dict[str, dict[str, Any]]:
        query = f"SELECT run_uuid, key, {value} FROM {name} WHERE run_uuid IN (SELECT r.run_uuid {chosen})"
        return _by_run(connection.execute(query, values))

    params, run_tags = table("params", "value"), table("tags", "value")
    metrics = table("latest_metrics", "CASE WHEN is_nan THEN NULL ELSE value END")
    connection.execute("ROLLBACK")
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
            tags=mlflow_tags.own_tags(run_tags.get(run_id, {})),
            metrics={
                key: math.nan if value is None else float(value) for key, value in metrics.get(run_id, {}).items()
            },
            description=run_tags.get(run_id, {}).get(mlflow_tags.DESCRIPTION),
            parent_id=run_tags.get(run_id, {}).get(mlflow_tags.PARENT),
            user=run_tags.get(run_id, {}).get(mlflow_tags.USER),
        )
        for run_id, experiment_id, name, status, start_time_ms, end_time_ms, artifact_uri in rows
    ]


def _by_run(rows: Iterable[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for run_id, key, value in rows:
        table.setdefault(run_id, {})[key] = value
    return table
