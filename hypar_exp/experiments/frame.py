"""Recorded runs as a table for a notebook: `hypar_exp.runs()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypar_exp.errors import UserError
from hypar_exp.experiments.job import compose_recorder
from hypar_exp.tracking.store import Store

if TYPE_CHECKING:
    import pandas

METRICS, PARAMS, TAGS = "metrics.", "params.", "tags."
SERIES = ("level/", "layer/", "run/")
"""Metrics of many values, which have no place in a row; `mlflow.MlflowClient().get_metric_history` has them."""


def runs(*overrides: str, where: str = "") -> pandas.DataFrame:
    """The recorded runs as a DataFrame, a row a run, oldest first.

    Args:
        overrides: where runs are recorded, as on the command line: `"tracking=server"`.
        where: a filter in MLflow's grammar, as `"metrics.speedup > 2"`; '' for all runs.

    Returns:
        Columns run_id, name, status, start_time, duration_s, parent_id, and metrics.*, params.* and tags.*, as in
        `mlflow.search_runs`; metrics are float64, params that are all numbers are numbers, times are UTC.

    Raises:
        UserError: nothing is kept there, or the store or the filter cannot be read.
    """
    import pandas

    recorder = compose_recorder(overrides)
    if not isinstance(recorder, Store):
        raise UserError(f"tracking={recorder.name} keeps no runs to read; choose tracking=sqlite or tracking=server")
    reader = recorder.results()
    found = reader.search(where) if where else reader.runs()
    table = pandas.DataFrame(
        [
            {
                "run_id": run.run_id,
                "name": run.name,
                "status": str(run.status),
                "start_time": run.start_time_ms,
                "duration_s": None if run.end_time_ms is None else (run.end_time_ms - run.start_time_ms) / 1000,
                "parent_id": run.parent_id,
                **{f"{METRICS}{key}": value for key, value in run.metrics.items() if not key.startswith(SERIES)},
                **{f"{PARAMS}{key}": value for key, value in run.params.items()},
                **{f"{TAGS}{key}": value for key, value in run.tags.items()},
            }
            for run in found
        ],
        columns=None if found else ["run_id", "name", "status", "start_time", "duration_s", "parent_id"],
    )
    table["start_time"] = pandas.to_datetime(table["start_time"], unit="ms", utc=True)
    for column in table.columns:
        if str(column).startswith(PARAMS):
            numbers = pandas.to_numeric(table[column], errors="coerce")
            if numbers.notna().equals(table[column].notna()):
                table[column] = numbers
    return table
