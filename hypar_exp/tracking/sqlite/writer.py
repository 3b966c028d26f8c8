"""Runs written straight into the tables of an MLflow SQLite database: as rows that MLflow's client would have written.

MLflow's client needs seconds to import and commits nine times a run. Here a run, or a batch of runs, is one
transaction: it is in the database whole or not at all, also after a power cut. What the rows mean is the schema's
affair, so this is used only for the revisions that the tests compare with the client row by row.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypar_exp.tracking.limits import within_limits
from hypar_exp.tracking.locations import is_local, local_folder, write_files
from hypar_exp.tracking.mlflow_view import missing_tags
from hypar_exp.tracking.run_ids import new_run_id
from hypar_exp.tracking.sentences import deleted_experiment, no_such_run
from hypar_exp.tracking.store import RunRecord, RunStatus, now_ms

LARGEST_FLOAT = 1.7976931348623157e308
"""What MLflow stores for infinity."""


def experiment(connection: sqlite3.Connection, name: str, artifact_location: str, store: str) -> tuple[str, str]:
    """The id and the artifact location of an experiment, which is made if it is not there.

    Args:
        connection: from `database.connect`.
        name: the experiment's.
        artifact_location: of an experiment that is made.
        store: what a command begins with to use the store, for the sentence on a deleted experiment.

    Raises:
        UserError: the experiment was deleted.
    """
    select = (
        "SELECT experiment_id, artifact_location, lifecycle_stage FROM experiments "
        "WHERE name = ? AND workspace = 'default'"
    )
    row = connection.execute(select, [name]).fetchone()
    if row is None:
        with transaction(connection):
            now = now_ms()
            connection.execute(
                "INSERT INTO experiments (name, artifact_location, lifecycle_stage, creation_time, last_update_time, "
                "workspace) VALUES (?, ?, 'active', ?, ?, 'default') ON CONFLICT DO NOTHING",
                [name, artifact_location, now, now],
            )
        row = connection.execute(select, [name]).fetchone()
    experiment_id, location, stage = row
    if stage != "active":
        raise deleted_experiment(name, str(experiment_id), store)
    _complete_tags(connection, experiment_id)
    return str(experiment_id), str(location)


def _complete_tags(connection: sqlite3.Connection, experiment_id: int) -> None:
    """Give an experiment the description and the view that it lacks."""
    select = "SELECT key, value FROM experiment_tags WHERE experiment_id = ?"
    missing = missing_tags(dict(connection.execute(select, [experiment_id]).fetchall()))
    if missing:
        with transaction(connection):
            connection.executemany(
                "INSERT OR IGNORE INTO experiment_tags (key, value, experiment_id) VALUES (?, ?, ?)",
                [(key, value, experiment_id) for key, value in missing.items()],
            )


def has_run(connection: sqlite3.Connection, run_id: str) -> bool:
    """Whether there is a run of that id."""
    return connection.execute("SELECT 1 FROM runs WHERE run_uuid = ?", [run_id]).fetchone() is not None


def write_runs(
    connection: sqlite3.Connection, experiment_id: str, artifacts: Path, runs: Sequence[RunRecord]
) -> list[str]:
    """Write runs in one transaction and return their ids.

    Their artifacts are written before the transaction ends, so that a run in the database always has them. A process
    that dies in between leaves folders that no run refers to; they do no harm.

    Args:
        connection: from `database.connect`.
        experiment_id: of an active experiment.
        artifacts: the folder below which every run has one of its own.
        runs: the records.
    """
    run_ids = [new_run_id() for _ in runs]
    written: list[Path] = []
    try:
        for run_id, run in zip(run_ids, runs, strict=True):
            if run.artifacts:
                written.append(artifacts / run_id)
                write_files(written[-1] / "artifacts", run.artifacts)
        with transaction(connection):
            _insert(connection, experiment_id, artifacts, dict(zip(run_ids, map(within_limits, runs), strict=True)))
    except BaseException:
        for folder in written:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if len(runs) > 1:
        _count_rows(connection)
    return run_ids


def amend_run(connection: sqlite3.Connection, artifacts: Path, run_id: str, run: RunRecord) -> str:
    """Give a run another status, and add to it, in one transaction; returns the id of its experiment.

    Files are written below `artifacts` only: where a database that was moved, or is somebody else's, says that the run
    has its files elsewhere, those are copied from there and the run has them here.

    Raises:
        UserError: there is no such run.
    """
    row = connection.execute("SELECT experiment_id, artifact_uri FROM runs WHERE run_uuid = ?", [run_id]).fetchone()
    if row is None:
        raise no_such_run(run_id)
    here = artifacts / run_id / "artifacts"
    if run.artifacts:
        if row[1] != here.as_uri() and is_local(row[1]) and local_folder(row[1]).is_dir():
            shutil.copytree(local_folder(row[1]), here, dirs_exist_ok=True)
        write_files(here, run.artifacts)
    with transaction(connection):
        if run.artifacts:
            connection.execute("UPDATE runs SET artifact_uri = ? WHERE run_uuid = ?", [here.as_uri(), run_id])
        end_time_ms = None if run.status is RunStatus.RUNNING else run.end_time_ms
        connection.execute(
            "UPDATE runs SET status = ?, end_time = ? WHERE run_uuid = ?", [str(run.status), end_time_ms, run_id]
        )
        _insert_values(connection, {run_id: within_limits(run)})
    _count_rows(connection)
    return str(row[0])


def relocate_runs(connection: sqlite3.Connection, experiment_name: str, artifacts: Path) -> int:
    """Let the runs of an experiment whose files are below `artifacts` have them there, and return how many changed."""
    changed = 0
    with transaction(connection):
        row = connection.execute(
            "SELECT experiment_id FROM experiments WHERE name = ? ORDER BY experiment_id", [experiment_name]
        ).fetchone()
        if row is None:
            return 0
        connection.execute(
            "UPDATE experiments SET artifact_location = ? WHERE experiment_id = ?", [artifacts.as_uri(), row[0]]
        )
        for run_id, uri in connection.execute(
            "SELECT run_uuid, artifact_uri FROM runs WHERE experiment_id = ?", [row[0]]
        ).fetchall():
            here = artifacts / run_id / "artifacts"
            if uri != here.as_uri() and here.is_dir():
                connection.execute("UPDATE runs SET artifact_uri = ? WHERE run_uuid = ?", [here.as_uri(), run_id])
                changed += 1
    return changed


def _count_rows(connection: sqlite3.Connection) -> None:
    """Let SQLite estimate how many rows each index has a value for.

    Without that it answers the MLflow UI's sort by a metric by reading all metrics of all runs: 11 s for 10,000 runs
    and not 0.7 s. The estimate reads a thousand rows of each index and takes some 20 ms.
    """
    connection.execute("PRAGMA analysis_limit = 1000")
    connection.execute("ANALYZE")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what happens inside, or nothing; waits for other writers before it begins."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _insert(connection: sqlite3.Connection, experiment_id: str, artifacts: Path, runs: Mapping[str, RunRecord]) -> None:
    """Runs by their ids."""
    connection.executemany(
        "INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time, "
        "end_time, source_version, lifecycle_stage, artifact_uri, experiment_id) "
        "VALUES (?, ?, 'UNKNOWN', '', '', ?, ?, ?, ?, '', 'active', ?, ?)",
        [
            (
                run_id,
                run.name,
                run.tags.get("mlflow.user", "unknown"),
                str(run.status),
                run.start_time_ms,
                None if run.status is RunStatus.RUNNING else run.end_time_ms,
                (artifacts / run_id / "artifacts").as_uri(),
                experiment_id,
            )
            for run_id, run in runs.items()
        ],
    )
    _insert_values(connection, runs)


def _insert_values(connection: sqlite3.Connection, runs: Mapping[str, RunRecord]) -> None:
    """The tags, params and metrics of runs by their ids; of two values of one key the later holds."""
    tags: list[tuple[Any, ...]] = []
    params: list[tuple[Any, ...]] = []
    points: list[tuple[Any, ...]] = []
    latest: list[tuple[Any, ...]] = []
    for run_id, run in runs.items():
        tags += [(run_id, *tag) for tag in {**run.tags, "mlflow.runName": run.name}.items()]
        params += [(run_id, *param) for param in run.params.items()]
        for rows, metrics in zip((points, latest), _metric_rows(run), strict=True):
            rows += [(run_id, *metric, run.end_time_ms) for metric in metrics]
    for table, values in (("tags", tags), ("params", params)):
        connection.executemany(f"INSERT OR REPLACE INTO {table} (run_uuid, key, value) VALUES (?, ?, ?)", values)
    for table, rows in (("metrics", points), ("latest_metrics", latest)):
        connection.executemany(
            f"INSERT OR REPLACE INTO {table} (run_uuid, key, step, value, is_nan, timestamp) VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )


MetricRow = tuple[str, int, float, bool]
"""Key, step, value, and whether it is not a number (its value is 0 then)."""


def _metric_rows(run: RunRecord) -> tuple[list[MetricRow], list[MetricRow]]:
    """Every point once, and of each key the point of the last step (of equal steps the largest value)."""
    points: dict[MetricRow, None] = {}
    latest: dict[str, MetricRow] = {}
    for metric in run.metrics:
        row = (metric.key, metric.step, *_stored(metric.value))
        points[row] = None
        if metric.key not in latest or row[1:3] > latest[metric.key][1:3]:
            latest[metric.key] = row
    return list(points), list(latest.values())


def _stored(value: float) -> tuple[float, bool]:
    if math.isnan(value):
        return 0.0, True
    if math.isinf(value):
        return math.copysign(LARGEST_FLOAT, value), False
    return float(value), False
