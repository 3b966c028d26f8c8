"""An empty tracking database as MLflow's migrations make it: once a user and MLflow version, as they take seconds."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import tempfile
from importlib.metadata import version
from pathlib import Path

from hypar_exp.tracking.sqlite import schema


def empty_database() -> Path:
    """The file; made by MLflow where it is not there yet, or not whole."""
    for folder in _folders():
        kept = folder / f"mlflow-{version('mlflow')}.db"
        if _is_whole(kept):
            return kept
        try:
            folder.mkdir(parents=True, exist_ok=True)
            fresh = folder / f".{kept.name}.{secrets.token_hex(8)}"
            fresh.touch(mode=0o600)
        except OSError:
            continue
        try:
            _make(fresh)
            fresh.replace(kept)
        finally:
            fresh.unlink(missing_ok=True)
        return kept
    raise OSError("no folder can be written in which to make a database")


def _folders() -> list[Path]:
    """The user's cache folder; where it cannot be written, one for this process."""
    cache = os.environ.get("XDG_CACHE_HOME")
    folders = []
    with contextlib.suppress(RuntimeError):  # a user without a home
        folders.append((Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache") / "hypar_exp")
    return [*folders, Path(tempfile.gettempdir()) / f"hypar_exp-{os.getuid()}-{secrets.token_hex(4)}"]


def _make(fresh: Path) -> None:
    from hypar_exp.tracking import mlflow_client

    fresh.unlink()  # MLflow's migrations want to make the file themselves
    mlflow_client.migrate(fresh)
    fresh.chmod(0o600)


def _is_whole(file: Path) -> bool:
    """Whether a file is a database of the installed MLflow's schema, and this user's own."""
    try:
        if file.stat().st_uid != os.getuid():
            return False
        with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return schema.revision(connection) == schema.newest_revision() and connection.execute(
                "SELECT count(*) FROM experiments"
            ).fetchone() == (1,)
    except (OSError, sqlite3.Error):
        return False
