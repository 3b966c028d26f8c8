"""Tracking: recorders of runs; the only room that knows MLflow.

A recorder is imported when it is first asked for: most programs need one of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from hypar_exp.tracking.files.recorder import FileRecorder
    from hypar_exp.tracking.server.recorder import ServerRecorder
    from hypar_exp.tracking.sqlite.recorder import SqliteRecorder

_ROOMS = {"FileRecorder": "files", "ServerRecorder": "server", "SqliteRecorder": "sqlite"}


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return getattr(import_module(f"hypar_exp.tracking.{_ROOMS[name]}.recorder"), name)
    raise AttributeError(f"module 'hypar_exp.tracking' has no attribute {name!r}")


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
