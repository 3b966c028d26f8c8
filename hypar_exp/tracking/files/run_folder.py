"""A run as a folder: run.json (what it is and how it ended), metrics.json (its numbers), its artifacts beside them."""

from __future__ import annotations

import json
import math
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from hypar_exp.errors import UserError
from hypar_exp.tracking.locations import write_files
from hypar_exp.tracking.secrets import plain_without_passwords
from hypar_exp.tracking.store import Metric, RunRecord, RunStatus, StoredRun

RUN, METRICS = "run.json", "metrics.json"
Points = dict[str, Any]
"""Key -> value, or, of a series, step -> value."""


def write_run(folder: Path, run: RunRecord) -> None:
    """Make the folder of a run in one step.

    Raises:
        UserError: an artifact has the name of one of the run's own files.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.new")
    try:
        _write_artifacts(fresh, run)
        (fresh / METRICS).write_text(_json(points_of({}, run.metrics)), encoding="utf-8")
        (fresh / RUN).write_text(_json(_fields(run)), encoding="utf-8")
        fresh.rename(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def amend_run(folder: Path, run: RunRecord) -> None:
    """Give a run the status of `run` and add what that has; its status changes last, in one step."""
    before = json.loads((folder / RUN).read_text(encoding="utf-8"))
    fields = _fields(run)
    for key in ("params", "tags"):
        fields[key] = {**before[key], **fields[key]}
    for key in ("start_time_ms", "description", "parent_id", "user", "source", "commit"):
        fields[key] = before[key] if fields[key] is None or key == "start_time_ms" else fields[key]
    _write_artifacts(folder, run)
    if run.metrics:
        points = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        _replace(folder / METRICS, _json(points_of(points, run.metrics)))
    _replace(folder / RUN, _json(fields))


def read_run(folder: Path, experiment: str) -> StoredRun:
    """The run of a folder.

    Raises:
        UserError: its files cannot be read.
    """
    try:
        fields = json.loads((folder / RUN).read_text(encoding="utf-8"))
        points = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        return StoredRun(
            run_id=folder.name,
            experiment_id=experiment,
            name=fields["name"],
            status=fields["status"],
            start_time_ms=fields["start_time_ms"],
            end_time_ms=fields["end_time_ms"],
            artifact_uri=folder.as_uri(),
            params=fields["params"],
            tags=fields["tags"],
            metrics={key: _last(value) for key, value in points.items()},
            description=fields["description"],
            parent_id=fields["parent_id"],
            user=fields["user"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"the run in {folder} cannot be read: {type(error).__name__}: {error}") from None


def points_of(points: Points, metrics: Iterable[Metric]) -> Points:
    """Points with those of metrics added: one of step 0 is a number, others are numbers by step.

    JSON has no infinity and no NaN; they are texts that `float` reads.
    """
    for metric in metrics:
        value = float(metric.value) if math.isfinite(metric.value) else str(float(metric.value))
        before = points.get(metric.key)
        if metric.step == 0 and not isinstance(before, dict):
            points[metric.key] = value
        else:
            steps = before if isinstance(before, dict) else {} if before is None else {"0": before}
            points[metric.key] = {**steps, str(metric.step): value}
    return points


def _last(value: float | str | Mapping[str, float | str]) -> float:
    return float(value[max(value, key=int)] if isinstance(value, Mapping) else value)


def _fields(run: RunRecord) -> dict[str, Any]:
    plain = asdict(replace(run, metrics=(), artifacts={}))
    del plain["metrics"], plain["artifacts"]
    if run.status is RunStatus.RUNNING:
        plain["end_time_ms"] = None
    masked: dict[str, Any] = plain_without_passwords(plain)
    return masked


def _write_artifacts(folder: Path, run: RunRecord) -> None:
    for name in run.artifacts:
        if name in (RUN, METRICS):
            raise UserError(f"an artifact cannot be called {name}: a run's own file is")
    write_files(folder, run.artifacts)


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(4)}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def _json(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"
