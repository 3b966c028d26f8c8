"""The direct writer against MLflow's client: the same runs, every row of every table, and what MLflow reads back."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import SqliteRecorder, mlflow_client
from hypar_exp.tracking.sqlite import schema
from tests.tracking.records import WRITTEN_DIRECTLY, a_run, odd_runs

Rows = dict[str, list[tuple[Any, ...]]]
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
TIMES_OF_THE_STORE = {"creation_time", "last_update_time"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two folders with the same runs: written directly, and by MLflow's client into a database that it made."""
    base = tmp_path_factory.mktemp("two stores, one with a space")
    direct, client = base / "direct", base / "client"
    recorder = SqliteRecorder(database=str(direct / "mlflow.db"), artifacts=str(direct / "artifacts"))
    runs = odd_runs()
    recorder.record(runs[0])
    recorder.record_many(runs[1:])
    client.mkdir()
    mlflow = mlflow_client.connect(f"sqlite:///{client}/mlflow.db")
    experiment = mlflow_client.experiment_id(mlflow, "hypar_exp", "", (client / "artifacts").as_uri())
    for run in runs:
        mlflow_client.write_run(mlflow, experiment, run)
    yield direct, client
    shutil.rmtree(base)


def test_every_row_of_every_table_is_the_client_s(stores: tuple[Path, Path]) -> None:
    direct, client = (_rows(folder) for folder in stores)
    assert direct.keys() == client.keys()
    assert {"runs", "params", "metrics", "latest_metrics", "tags", "experiments"} <= direct.keys()
    for table in direct:
        assert direct[table] == client[table], table


def test_mlflow_reads_the_same_back(stores: tuple[Path, Path]) -> None:
    read = []
    for folder in stores:
        client = mlflow_client.connect(f"sqlite:///{folder}/mlflow.db")
        runs = sorted(client.search_runs(["1"]), key=lambda run: run.info.run_name)
        described = []
        for run in runs:
            history = {
                key: [
                    (point.step, point.value, point.timestamp)
                    for point in client.get_metric_history(run.info.run_id, key)
                ]
                for key in list(run.data.metrics)[:40]
            }
            files = [(file.path, file.file_size) for file in client.list_artifacts(run.info.run_id)]
            facts = (
                run.info.status,
                run.info.start_time,
                run.info.end_time,
                run.info.user_id,
                run.info.lifecycle_stage,
            )
            described.append(repr((facts, run.data.params, run.data.metrics, run.data.tags, history, files)))
        read.append(described)
    assert len(read[0]) == len(odd_runs())
    assert read[0] == read[1]


def test_search_runs_gives_the_same_table(stores: tuple[Path, Path]) -> None:
    import mlflow

    tables = []
    for folder in stores:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        table = mlflow.search_runs(search_all_experiments=True).drop(columns=["run_id", "artifact_uri"])
        tables.append(table.sort_values("tags.mlflow.runName", ignore_index=True).sort_index(axis=1))
    assert tables[0].equals(tables[1])
    assert len(tables[0]) == len(odd_runs())


@pytest.mark.parametrize("folder", ["plain", "50%20 of $x?"])
def test_the_sentence_on_a_deleted_experiment_says_how_to_restore_it(tmp_path: Path, folder: str) -> None:
    database = tmp_path / folder / "mlflow.db"
    recorder = SqliteRecorder(database=str(database), artifacts=str(tmp_path / "artifacts"))
    recorded = recorder.record(a_run())
    with mlflow_client.database_uri(database) as uri:
        mlflow_client.connect(uri).delete_experiment(recorded.experiment_id)
    with pytest.raises(UserError, match=r"'hypar_exp' was deleted; set .* or restore it: ") as refused:
        recorder.record(a_run())
    advice = str(refused.value).partition("restore it: ")[2]
    subprocess.run(["bash", "-c", advice], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert recorder.record(a_run()).experiment_id == recorded.experiment_id


def test_an_untested_schema_is_left_to_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "TESTED_REVISIONS", ())
    recorder = SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(tmp_path / "artifacts"))
    recorded = recorder.record(a_run())
    assert recorded.note is not None
    assert "not one that the fast writer was tested with" in recorded.note
    assert mlflow_client.connect(recorder.uri).get_run(recorded.run_id).data.params == dict(a_run().params)


@WRITTEN_DIRECTLY
def test_the_tested_schema_is_the_installed_mlflow_s(stores: tuple[Path, Path]) -> None:
    with contextlib.closing(sqlite3.connect(stores[1] / "mlflow.db")) as connection:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert revision in schema.TESTED_REVISIONS


@WRITTEN_DIRECTLY
def test_a_batch_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    recorder = SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(tmp_path / "artifacts"))
    recorder.record(a_run("first"))
    unwritable = a_run("third", params={"value": None})  # no store takes it
    with pytest.raises(Exception, match="could not be recorded"):
        recorder.record_many([a_run("second"), unwritable])
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
        assert connection.execute("SELECT name FROM runs").fetchall() == [("first",)]
    assert len(list((tmp_path / "artifacts").iterdir())) == 1


def _rows(folder: Path) -> Rows:
    """Table -> its rows, sorted, with names for what differs by chance: run ids and folders."""
    with contextlib.closing(sqlite3.connect(folder / "mlflow.db")) as connection:
        connection.row_factory = sqlite3.Row
        tables = [row["name"] for row in connection.execute(TABLES)]
        names = {row["run_uuid"]: row["name"] for row in connection.execute("SELECT run_uuid, name FROM runs")}
        return {table: sorted(_comparable(connection, table, names, folder), key=repr) for table in tables}


def _comparable(
    connection: sqlite3.Connection, table: str, names: dict[str, str], folder: Path
) -> Iterator[tuple[Any, ...]]:
    for row in connection.execute(f'SELECT * FROM "{table}"'):
        values = {key: row[key] for key in row.keys() if key not in TIMES_OF_THE_STORE}  # noqa: SIM118 - a Row
        if table == "experiments" and values["name"] == "Default":
            del values["artifact_location"]  # MLflow puts it below the current folder, we beside our own
        for key, value in values.items():
            if isinstance(value, str):
                for run_id, name in names.items():
                    value = value.replace(run_id, f"id of {name}")
                values[key] = value.replace(folder.as_uri(), "FOLDER")
        yield tuple((key, type(value).__name__, repr(value)) for key, value in values.items())
