"""Runs read back from a SQLite store: what was recorded, and only what was asked for."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.tracking import Metric, NoRecorder, RunRecord, RunStatus, SqliteRecorder, store_of

COUNTER = itertools.count()


def record(name: str, **tags: str) -> RunRecord:
    return RunRecord(
        name=name,
        status=RunStatus.FINISHED,
        start_time_ms=1_000_000 + next(COUNTER),
        end_time_ms=1_000_100,
        params={"network.name": "vgg_e", "batch_size": "256"},
        tags=tags,
        metrics=(Metric("step_time_s", 1.25), Metric("level/bytes", 3.0, 1), Metric("level/bytes", 5.0, 2)),
        artifacts={"plan.csv": "level,fc1\nH1,1\n"},
    )


def test_runs_come_back_as_recorded(tmp_path: Path) -> None:
    recorder = SqliteRecorder(database=str(tmp_path / "runs.db"), artifacts=str(tmp_path / "artifacts"))
    assert recorder.results().runs() == []
    recorder.record(record("first", experiment="fig06", network="vgg_e"))
    recorder.record(record("second", experiment="fig06", network="sfc"))
    recorder.record(record("third", experiment="fig07", network="vgg_e"))
    assert [run.name for run in recorder.results().runs(experiment="fig06")] == ["first", "second"]
    (run,) = recorder.results().runs(experiment="fig06", network="vgg_e")
    assert run.status == "FINISHED"
    assert run.params == {"network.name": "vgg_e", "batch_size": "256"}
    assert run.metrics == {"step_time_s": 1.25, "level/bytes": 5.0}
    assert run.tags["network"] == "vgg_e"
    assert recorder.results().artifact(run, "plan.csv") == "level,fc1\nH1,1\n"
    with pytest.raises(UserError, match=r"the artifact plan.svg of run .* cannot be read: No such file"):
        recorder.results().artifact(run, "plan.svg")


def test_stores_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("this is no database, whatever its name says" * 20)
    with pytest.raises(UserError, match="cannot be read: file is not a database"):
        SqliteRecorder(database=str(tmp_path / "runs.db")).results().runs()
    with pytest.raises(UserError, match="tracking=none keeps no runs to read"):
        store_of(NoRecorder())
