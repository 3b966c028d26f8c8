"""The parent run of a sweep: what it is called, and the numbers, table and picture that it ends with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.experiments.run_record import source, source_tags
from hypar_exp.reporting.page.sweep_page import sweep_page
from hypar_exp.reporting.sweep_chart import OBJECTIVE, chart_png
from hypar_exp.reporting.sweep_table import COLUMNS, Column, Row, best_of, column_of, markdown
from hypar_exp.sweeps.axes import Grid
from hypar_exp.sweeps.outcome import Outcome
from hypar_exp.sweeps.results import csv_of, parquet_of, table_of
from hypar_exp.tracking.store import Metric, RunRecord, RunStatus, now_ms

GRID_TAG = "sweep_hash"
"""The same for sweeps over the same values: one that ended early is continued under its own parent."""


@dataclass(frozen=True)
class SweepResults:
    """What is known of a sweep's jobs, in the order of the grid."""

    grid: Grid
    jobs: Sequence[tuple[Mapping[str, str], Outcome]]
    """Where each job that ended is on the axes, and its outcome."""

    @property
    def axes(self) -> list[str]:
        return [axis.key for axis in self.grid.swept]

    @property
    def rows(self) -> list[Row]:
        return [Row(axes, outcome.metrics, _trouble(outcome)) for axes, outcome in self.jobs]

    def count(self, status: RunStatus) -> int:
        return sum(outcome.status is status for _, outcome in self.jobs)

    @property
    def left(self) -> int:
        """Jobs that neither finished nor failed: what was killed is still to be made."""
        return len(self.grid) - self.count(RunStatus.FINISHED) - self.count(RunStatus.FAILED)


def _has_no_plan(outcome: Outcome) -> bool:
    return outcome.metrics.get("fits_in_memory") == 0 and "step_time_s" not in outcome.metrics


def _trouble(outcome: Outcome) -> str:
    """How a run ended, where that was not with a plan."""
    if outcome.status is not RunStatus.FINISHED:
        return str(outcome.status)
    return "does not fit" if _has_no_plan(outcome) else ""


def title_of(grid: Grid, preset: str | None) -> str:
    """The name of a sweep: its preset, else its axes."""
    swept = " x ".join(axis.key for axis in grid.swept) or "one run"
    return f"{preset}: {swept}" if preset else swept


def grid_hash(grid: Grid) -> str:
    """The same for the same axes."""
    axes = [[axis.key, *axis.values] for axis in grid.axes if not axis.key.startswith(("tracking", "resume"))]
    return hashlib.sha256(json.dumps(axes).encode()).hexdigest()[:16]


def opening(grid: Grid, preset: str | None, folder: str) -> RunRecord:
    """The record that opens the parent run."""
    tags = source_tags() | {
        "kind": "sweep",
        "sweep_axes": " x ".join(axis.key for axis in grid.swept),
        "sweep_folder": folder,
        GRID_TAG: grid_hash(grid),
    }
    if preset:
        tags["experiment"] = preset
    return RunRecord(
        name=title_of(grid, preset),
        status=RunStatus.RUNNING,
        start_time_ms=now_ms(),
        end_time_ms=now_ms(),
        params={axis.key: ", ".join(axis.shown) for axis in grid.axes},
        tags=tags,
        **source(),
    )


def closing(
    name: str, status: RunStatus, results: SweepResults, files: Mapping[str, str | bytes], error: str | None
) -> RunRecord:
    """The record that ends the parent run.

    Its metrics are the counts of its runs, the best of each main number (best/...), and those numbers by run
    (run/..., a series whose step is the run's place in the sweep): the charts of the MLflow UI have something to show.
    """
    metrics = [
        Metric("runs/finished", results.count(RunStatus.FINISHED)),
        Metric("runs/failed", results.count(RunStatus.FAILED)),
        Metric("runs/killed", results.count(RunStatus.KILLED)),
        Metric("runs/left", results.left),
        Metric("runs/not_fitting", sum(_has_no_plan(outcome) for _, outcome in results.jobs)),
    ]
    for column in COLUMNS:
        best = best_of(results.rows, column)
        if best is not None:
            metrics.append(Metric(f"best/{column.key}", best))
        metrics += [
            Metric(f"run/{column.key}", outcome.metrics[column.key], place)
            for place, (_, outcome) in enumerate(results.jobs, 1)
            if column.key in outcome.metrics
        ]
    tags = {"runs_left": str(results.left)}
    return RunRecord(
        name=name,
        status=status,
        start_time_ms=now_ms(),
        end_time_ms=now_ms(),
        params={},
        tags=tags if error is None else tags | {"error": error},
        metrics=tuple(metrics),
        artifacts=files,
        description=markdown(results.axes, results.rows),
    )


def whole(opening: RunRecord, closing: RunRecord) -> RunRecord:
    """Both records of a parent run as one."""
    return replace(
        closing,
        start_time_ms=opening.start_time_ms,
        params=opening.params,
        tags={**opening.tags, **closing.tags},
        **source(),
    )


Maker = Callable[[], str | bytes | None]
"""Makes the content of a file; None where there is nothing to make."""


def tables_of(results: SweepResults) -> dict[str, Maker]:
    """The table of a sweep as files: file name -> what makes it."""
    table = table_of(results.jobs)
    return {"sweep.csv": lambda: csv_of(table), "sweep.parquet": lambda: parquet_of(table)}


class View:
    """How a sweep over a grid is shown at its end; other sweeps have views of their own."""

    def __init__(self, charted: Sequence[str] = ()) -> None:
        """Say what its pictures show: `charted` are metrics, none for what follows from the axes."""
        self._charted = charted

    def axes(self, results: SweepResults) -> list[str]:
        """The first columns of the table on the terminal."""
        return results.axes

    def metrics(self, results: SweepResults) -> list[Metric]:
        """Numbers of the sweep as a whole, besides those of every sweep."""
        return []

    def rows(self, results: SweepResults) -> list[Row]:
        """The rows of the table on the terminal."""
        return results.rows

    def pictures(self, results: SweepResults, title: str) -> dict[str, Maker]:
        """Pictures, where there can be one: file name -> what makes it."""
        axes = {axis.key: axis.shown for axis in results.grid.swept}
        shared = {axis.key: axis.shown[0] for axis in results.grid.axes if len(axis.values) == 1}

        def picture(metrics: Sequence[str]) -> Maker:
            return lambda: chart_png(
                axes, results.rows, title, _columns(metrics, results.rows), objective=shared.get(OBJECTIVE)
            )

        # panels of a third axis leave no room for those of other numbers
        together = len(axes) < 3
        first, others = (self._charted, ()) if together else (self._charted[:1], self._charted[1:])
        return {
            "sweep.png": picture(first),
            **{f"sweep_{metric.replace('/', '_')}.png": picture([metric]) for metric in others},
            "sweep.html": lambda: sweep_page(title, results.axes, results.rows),
        }


def _columns(metrics: Sequence[str], rows: Sequence[Row]) -> list[Column]:
    """The columns of metrics.

    Raises:
        UserError: one that no run has.
    """
    known = {key for row in rows for key in row.metrics}
    for metric in metrics:
        if known and metric not in known:
            raise UserError(f"hydra.sweeper.chart: no run has a metric '{metric}'{did_you_mean(metric, known)}")
    return [column_of(metric) for metric in metrics]
