"""Where runs go: folders of any name, folders that were moved or copied, and addresses that are no paths."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import ServerRecorder, SqliteRecorder, mlflow_client
from hypar_exp.tracking.sentences import shell_quoted
from tests.tracking.records import WRITTEN_DIRECTLY, a_run

ODD_NAMES = [
    *(
        "?",
        "a?b=c",
        "%20",
        "50%",
        "#1",
        "[x]",
        "[/red]",
        "$x",
        "${x}",
        "$(id)",
        "`id`",
        "&",
        ";",
        "'",
        '"',
        "\\",
        "a b",
        " ",
    ),
    *("*", "(a)", "{a}", "!", "~", "^", "é", "\N{HAMMER}", "\N{RIGHT-TO-LEFT OVERRIDE}x", "a\nb", "a\tb", "\x1b[31m"),
    *("-rf", "=1", "a,b", "file:x", "a:b@c", "x" * 200, "\udcff"),
]


def recorder_in(folder: Path) -> SqliteRecorder:
    return SqliteRecorder(database=str(folder / "mlflow.db"), artifacts=str(folder / "artifacts"))


@pytest.fixture(scope="module")
def mlflow_that_says_where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program `mlflow` that says which file its last argument, an address, is: the real one is slow."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "mlflow").write_text('#!/bin/sh\nfor last; do :; done\nrealpath -z "${last#sqlite:///}" | tr -d "\\0"\n')
    (folder / "mlflow").chmod(0o755)
    return folder


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_folder_that_the_system_allows(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, mlflow_that_says_where: Path
) -> None:
    monkeypatch.setenv("PATH", f"{mlflow_that_says_where}:{os.environ['PATH']}")
    folder = tmp_path / name
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    recorder = SqliteRecorder(database="outputs/mlflow.db", artifacts="outputs/artifacts")
    recorder.check()
    recorded = recorder.record(a_run("first"))
    recorder.amend(recorded.run_id, a_run("first", params={}, tags={"amended": "yes"}, artifacts={"more.txt": "more"}))
    (run,) = recorder.results().runs()
    assert run.tags["amended"] == "yes"
    assert recorder.results().artifact(run, "plan.csv").startswith("level,conv1")
    assert recorder.results().artifact(run, "more.txt") == "more"
    assert sorted(file.name for file in folder.iterdir()) == ["outputs"]
    assert [file.name for file in tmp_path.iterdir()] == [name.partition("/")[0]]
    assert recorded.ui_command is not None
    assert "\n" not in recorded.ui_command
    shown = subprocess.run(["bash", "-c", recorded.ui_command], capture_output=True, check=True, cwd="/").stdout
    assert os.fsdecode(shown) == f"{folder}/outputs/mlflow.db"


@pytest.mark.parametrize("name", ["a?b %20#", "plain", "a\n[x] $y"])
def test_mlflow_s_client_reads_from_any_folder(tmp_path: Path, name: str) -> None:
    recorded = recorder_in(tmp_path / name).record(a_run())
    with mlflow_client.database_uri(tmp_path / name / "mlflow.db") as uri:
        client = mlflow_client.connect(uri)
        assert client.get_run(recorded.run_id).data.params == dict(a_run().params)
        assert {file.path for file in client.list_artifacts(recorded.run_id)} == {"config.yaml", "plan.csv"}
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_quoted_words_are_what_a_shell_takes() -> None:
    for name in ODD_NAMES:
        done = subprocess.run(["bash", "-c", f"printf %s {shell_quoted(name)}"], capture_output=True, check=True)
        assert os.fsdecode(done.stdout) == name


@WRITTEN_DIRECTLY
def test_a_copied_folder_is_a_store_of_its_own(tmp_path: Path) -> None:
    recorded = recorder_in(tmp_path / "old").record(a_run("first"))
    shutil.copytree(tmp_path / "old", tmp_path / "copy")
    recorder = recorder_in(tmp_path / "copy")
    new = recorder.record(a_run("second"))
    assert new.note is not None
    assert "'hypar-exp runs relocate' says so of all" in new.note
    recorder.amend(recorded.run_id, a_run("first", params={}, artifacts={"more.txt": "more"}))
    assert not (tmp_path / "old" / "artifacts" / new.run_id).exists()
    assert not list((tmp_path / "old").rglob("more.txt"))
    assert recorder.relocate() == 0  # both have their files here already
    assert recorder.record(a_run("third")).note is None


def test_a_moved_folder_keeps_its_artifacts(tmp_path: Path) -> None:
    recorder_in(tmp_path / "old").record_many([a_run("first"), a_run("second")])
    (tmp_path / "old").rename(tmp_path / "new")
    recorder = recorder_in(tmp_path / "new")
    run = recorder.results().runs()[0]
    assert recorder.results().artifact(run, "plan.csv").startswith("level,")
    assert recorder.relocate() == 2
    client = mlflow_client.connect(recorder.uri)
    assert {file.path for file in client.list_artifacts(run.run_id)} == {"config.yaml", "plan.csv"}
    assert not (tmp_path / "old").exists()


@WRITTEN_DIRECTLY
def test_somebody_else_s_database_does_not_say_where_files_are_written(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorded = recorder.record(a_run("first", artifacts={}))
    target = tmp_path / "home" / ".ssh"
    target.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection, connection:
        connection.execute("UPDATE experiments SET artifact_location = ?", [target.as_uri()])
        connection.execute("UPDATE runs SET artifact_uri = ?", [target.as_uri()])
    recorder.record(a_run("second"))
    recorder.amend(recorded.run_id, a_run("first", params={}))
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"database": "postgresql://ada:secret@host/runs"},
            r"tracking.database must be a path .*got .postgresql://host/runs.*tracking=server",
        ),
        ({"database": "sqlite:///:memory:"}, "tracking.database must be a file .got ':memory:'."),
        ({"database": ":memory:"}, "tracking.database must be a file .got ':memory:'."),
        ({"database": ""}, "tracking.database must be a path"),
        ({"database": "what?.db"}, r"the name of tracking.database must not have \? # or % in it"),
        ({"artifacts": "s3://bucket/runs"}, "tracking.artifacts must be a path .* tracking=server"),
    ],
)
def test_addresses_are_no_paths(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as refused:
        SqliteRecorder(**changes)
    assert "secret" not in str(refused.value)


@WRITTEN_DIRECTLY
def test_addresses_of_files_are_paths(tmp_path: Path) -> None:
    recorder = SqliteRecorder(database=f"sqlite:///{tmp_path}/mlflow.db", artifacts=(tmp_path / "a b").as_uri())
    recorder.record(a_run())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a b", "mlflow.db"]


@WRITTEN_DIRECTLY
def test_mlflow_s_own_variables_are_used_or_spoken_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://ada:secret@mlflow.example")
    note = recorder_in(tmp_path).record(a_run()).note
    assert note == "MLFLOW_TRACKING_URI (https://mlflow.example) is not used here: tracking=server uses it"
    assert "secret" not in repr(ServerRecorder(uri="https://ada:secret@mlflow.example"))
