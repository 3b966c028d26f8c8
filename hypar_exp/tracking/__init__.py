"""Tracking: recorders of runs; the only room that knows MLflow."""

from hypar_exp.tracking.files.recorder import FileRecorder
from hypar_exp.tracking.server.recorder import ServerRecorder
from hypar_exp.tracking.sqlite.recorder import SqliteRecorder
from hypar_exp.tracking.store import (
    BatchRecorder,
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
    store_of,
)

__all__ = [
    "BatchRecorder",
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
    "store_of",
]
