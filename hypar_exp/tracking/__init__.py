"""Tracking: recorders of runs; the only room that knows MLflow."""

from hypar_exp.tracking.files.recorder import FileRecorder
from hypar_exp.tracking.server.recorder import ServerRecorder
from hypar_exp.tracking.sqlite.recorder import SqliteRecorder
from hypar_exp.tracking.store import (
    Metric,
    NoRecorder,
    RecordedRun,
    Recorder,
    Results,
    RunRecord,
    RunStatus,
    Store,
    StoredRun,
    StoreError,
    record_all,
    store_of,
)

__all__ = [
    "FileRecorder",
    "Metric",
    "NoRecorder",
    "RecordedRun",
    "Recorder",
    "Results",
    "RunRecord",
    "RunStatus",
    "ServerRecorder",
    "SqliteRecorder",
    "Store",
    "StoreError",
    "StoredRun",
    "record_all",
    "store_of",
]
