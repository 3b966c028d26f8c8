"""The schema of a tracking database: whether it can be read and written as it is. Nothing here changes one."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from hypar_exp.errors import UserError

TESTED_REVISIONS = ("dc11669786a5",)
"""The schemas whose rows were compared with those of MLflow's client, row by row; the one of MLflow 3.17."""
COLUMNS_WRITTEN = {
    "experiments": {
        *("experiment_id", "name", "artifact_location", "lifecycle_stage", "creation_time", "last_update_time"),
        "workspace",
    },
    "runs": {
        *("run_uuid", "name", "source_type", "source_name", "entry_point_name", "user_id", "status", "start_time"),
        *("end_time", "deleted_time", "source_version", "lifecycle_stage", "artifact_uri", "experiment_id"),
    },
    "experiment_tags": {"key", "value", "experiment_id"},
    "tags": {"key", "value", "run_uuid"},
    "params": {"key", "value", "run_uuid"},
    "metrics": {"key", "value", "timestamp", "run_uuid", "step", "is_nan"},
    "latest_metrics": {"key", "value", "timestamp", "run_uuid", "step", "is_nan"},
}
"""The tables that the direct writer writes, as they are in the tested schemas."""
UNFINISHED = "_alembic_tmp_"
"""How the tables begin that a migration copies rows into, before it gives them their names."""
_REVISION = re.compile(r"""^(down_)?revision\s*(?::[^=]+)?=\s*(?:["'](\w+)["']|None)""", re.MULTILINE)


def revision(connection: sqlite3.Connection) -> str | None:
    """The name of MLflow's last migration of the database; None where it never ran to its end."""
    if not _has_table(connection, "alembic_version"):
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def is_tested(connection: sqlite3.Connection) -> bool:
    """Whether rows can be written and read without MLflow."""
    return revision(connection) in TESTED_REVISIONS


def require_usable(connection: sqlite3.Connection, database: Path) -> None:
    """Runs can be read and written in the database as it is, by us or by the installed MLflow.

    Raises:
        UserError: it is no database of MLflow's, an upgrade of it was interrupted, or its schema is another MLflow's.
    """
    current = revision(connection)
    if current is None and not _has_table(connection, "experiments"):
        raise UserError(f"{database} is no tracking database of MLflow; set tracking.database to another file")
    if current is None or _is_half_upgraded(connection, current):
        raise UserError(
            f"an upgrade of the tracking database {database} by another program was interrupted, and it is half one "
            "schema and half another; put back your copy of it, or set tracking.database to another file"
        )
    if current in TESTED_REVISIONS or current == newest_revision():
        return
    if current in known_revisions():
        raise UserError(
            f"the tracking database {database} has the schema of an older MLflow ({current}), and nothing changes it "
            f"unasked; 'hypar-exp runs upgrade' upgrades it and keeps a copy, or set tracking.database to another file"
        )
    raise UserError(
        f"the tracking database {database} has schema {current}, which the installed MLflow does not know: "
        "it was written by a newer MLflow; upgrade mlflow or set tracking.database to another file"
    )


@cache
def known_revisions() -> dict[str, str | None]:
    """The installed MLflow's migrations and what each follows; read from its files, as importing it takes seconds."""
    spec = find_spec("mlflow")
    if spec is None or spec.origin is None:
        return {}
    known: dict[str, str | None] = {}
    for file in (Path(spec.origin).parent / "store" / "db_migrations" / "versions").glob("*.py"):
        names = {down: name or None for down, name in _REVISION.findall(file.read_text(encoding="utf-8"))}
        if names.get(""):
            known[str(names[""])] = names.get("down_")
    return known


def newest_revision() -> str | None:
    """The schema of a database that the installed MLflow makes; None without MLflow."""
    known = known_revisions()
    newest = known.keys() - set(known.values())
    return next(iter(newest)) if len(newest) == 1 else None


def _is_half_upgraded(connection: sqlite3.Connection, current: str) -> bool:
    if connection.execute(
        "SELECT 1 FROM sqlite_master WHERE substr(name, 1, ?) = ?", [len(UNFINISHED), UNFINISHED]
    ).fetchone():
        return True
    if current not in TESTED_REVISIONS:
        return False
    rows = connection.execute(
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
        f"WHERE m.type = 'table' AND m.name IN ({', '.join('?' * len(COLUMNS_WRITTEN))})",
        list(COLUMNS_WRITTEN),
    )
    columns: dict[str, set[str]] = {}
    for table, column in rows:
        columns.setdefault(table, set()).add(column)
    return columns != COLUMNS_WRITTEN


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    return (
        connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [name]).fetchone()
        is not None
    )
