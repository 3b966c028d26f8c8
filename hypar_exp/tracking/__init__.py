"""Tracking: recorders of runs; the only room that knows MLflow."""

from hypar_exp.tracking.recorder import (
    Metric,
    NoRecorder,
    RecordedRun,
    Recorder,
    RunRecord,
    RunStatus,
)
from hypar_exp.tracking.results import Results, StoredRun
from hypar_exp.tracking.server_recorder import ServerRecorder
from hypar_exp.tracking.sqlite_recorder import SqliteRecorder

__all__ = [
    "Metric",
    "NoRecorder",
    "RecordedRun",
    "Recorder",
    "Results",
    "RunRecord",
    "RunStatus",
    "ServerRecorder",
    "SqliteRecorder",
    "StoredRun",
]
