"""A database of an older MLflow, an empty one, a half upgraded one: never changed by the way, upgraded in one step."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import SqliteRecorder
from hypar_exp.tracking.sqlite import schema
from tests.conftest import Command, program_environment
from tests.tracking.records import a_run

OLDER = "bf29a5ff90ea"
"""The schema of an older MLflow 3."""


@pytest.fixture(scope="module")
def older_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as MLflow's own migrations had made it by then, with a run in it."""
    from alembic import command as alembic_command
    from mlflow.store.db import utils
    from mlflow.store.tracking.dbmodels.initial_models import Base as InitialBase

    file = tmp_path_factory.mktemp("older") / "mlflow.db"
    engine = utils.create_sqlalchemy_engine_with_retry(f"sqlite:///{file}")
    InitialBase.metadata.create_all(engine)
    config = utils._get_alembic_config(f"sqlite:///{file}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        alembic_command.upgrade(config, OLDER)
    engine.dispose()
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "INSERT INTO experiments (name, artifact_location, lifecycle_stage) VALUES ('hypar_exp', 'a', 'active')"
        )
        database.execute(
            "INSERT INTO runs (run_uuid, name, user_id, status, start_time, end_time, lifecycle_stage, artifact_uri, "
            "experiment_id) "
            "VALUES ('0123', 'old run', 'ada', 'FINISHED', 1, 2, 'active', 'a/0123', 1)"
        )
        database.execute("INSERT INTO params (key, value, run_uuid) VALUES ('batch_size', '256', '0123')")
    return file


@pytest.fixture
def recorder(older_database: Path, tmp_path: Path) -> SqliteRecorder:
    shutil.copy(older_database, tmp_path / "mlflow.db")
    return SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(tmp_path / "artifacts"))


def revision(file: Path) -> str | None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return schema.revision(connection)


def test_nothing_that_records_or_reads_changes_it(
    recorder: SqliteRecorder, older_database: Path, tmp_path: Path
) -> None:
    for act in (
        recorder.check,
        lambda: recorder.record(a_run()),
        lambda: recorder.amend("0123", a_run()),
        recorder.results().runs,
        lambda: recorder.results().search("params.batch_size = '256'"),
    ):
        with pytest.raises(
            UserError, match=f"older MLflow .{OLDER}., and nothing changes it unasked; 'hypar-exp runs up"
        ):
            act()
    assert (tmp_path / "mlflow.db").read_bytes() == older_database.read_bytes()


def test_it_is_upgraded_when_asked_and_kept_beside(older_database: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    database = Path(shutil.copy(older_database, tmp_path / "outputs" / "mlflow.db"))
    kept = tmp_path / "outputs" / f"mlflow.db.{OLDER}.bak"
    assert f"as it was it is in {kept}" in command("runs", "upgrade").stdout
    assert (revision(database), revision(kept)) == (schema.newest_revision(), OLDER)
    assert "up to date" in command("runs", "upgrade").stdout
    recorder = SqliteRecorder(database=str(database), artifacts=str(tmp_path / "outputs" / "artifacts"))
    recorder.relocate()  # the older database has its artifacts nowhere that is known
    recorder.record(a_run())
    assert [(run.name, run.params["batch_size"]) for run in recorder.results().runs()] == [
        ("old run", "256"),
        ("lenet_c hypar", "256"),
    ]
    assert sorted(file.name for file in database.parent.glob("*mlflow*")) == ["mlflow.db", kept.name]


@pytest.mark.slow
def test_an_upgrade_that_is_killed_leaves_the_old_or_the_new(recorder: SqliteRecorder, older_database: Path) -> None:
    database = Path(recorder.database)
    code = "from hypar_exp.tracking import SqliteRecorder as S; import mlflow, sys; print('ready', flush=True); "
    for _ in range(5):
        shutil.copy(older_database, database)
        with upgrading(database, code) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0.1, 1.5))
            process.kill()
        assert revision(database) in (OLDER, schema.newest_revision())
    shutil.copy(older_database, database)
    assert recorder.upgrade() is not None
    assert revision(database) == schema.newest_revision()


@pytest.mark.slow
def test_four_upgrades_at_once_are_one(recorder: SqliteRecorder) -> None:
    database = Path(recorder.database)
    with contextlib.ExitStack() as stack:
        for process in [stack.enter_context(upgrading(database)) for _ in range(4)]:
            _, error = process.communicate(timeout=120)
            assert process.returncode == 0 or "is open in another program" in error
    assert revision(database) == schema.newest_revision()
    assert len(list(database.parent.glob("mlflow.db*.bak"))) == 1
    assert not list(database.parent.glob(".mlflow*"))


def test_it_is_not_upgraded_under_a_program_that_has_it_open(recorder: SqliteRecorder, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("SELECT * FROM runs").fetchall()
        with pytest.raises(UserError, match="is open in another program; end that"):
            recorder.upgrade()
    assert revision(tmp_path / "mlflow.db") == OLDER


def test_files_that_are_no_database_say_what_they_are(tmp_path: Path, new_database: Path) -> None:
    recorder = SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(tmp_path / "artifacts"))
    (tmp_path / "mlflow.db").touch()
    with pytest.raises(UserError, match="is an empty file, which is no database; delete it"):
        recorder.check()
    (tmp_path / "mlflow.db").unlink()
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as other, other:
        other.execute("CREATE TABLE songs (title TEXT)")
    with pytest.raises(UserError, match="is no tracking database of MLflow"):
        recorder.check()
    shutil.copy(new_database, tmp_path / "mlflow.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as other, other:
        other.execute("CREATE TABLE _alembic_tmp_runs (run_uuid TEXT)")  # where a migration was killed
    for act in (recorder.check, recorder.results().runs, lambda: recorder.record(a_run())):
        with pytest.raises(UserError, match=r"an upgrade of the tracking database .* was interrupted"):
            act()


@contextlib.contextmanager
def upgrading(
    database: Path, first: str = "from hypar_exp.tracking import SqliteRecorder as S; "
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", f"{first}S(database={str(database)!r}).upgrade()"],
        cwd=database.parent,
        env=program_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
