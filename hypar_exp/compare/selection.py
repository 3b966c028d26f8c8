"""Recorded runs side by side: a row and a column for each value of two of their keys, a number in each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.reporting.sweep_table import Column, column_of
from hypar_exp.text_files import csv_text
from hypar_exp.tracking.store import Results, RunStatus, StoredRun


@dataclass(frozen=True)
class Selection:
    """Which recorded runs to compare; with nothing said, those of the last sweep."""

    sweeps: Sequence[str] = ()
    """Run ids of sweeps' parents."""
    tags: Mapping[str, str] | None = None
    where: str = ""
    """A filter in MLflow's own grammar."""

    def runs(self, results: Results) -> list[StoredRun]:
        """The finished runs; of equal configurations the last.

        Raises:
            UserError: a sweep that does not exist, a filter that cannot be read, or no run at all.
        """
        if self.where:
            found = results.search(self.where)
        elif self.sweeps or self.tags:
            found = results.runs(**(self.tags or {}))
        else:
            found = _children(results, _last_sweep(results))
        if self.sweeps:
            wanted = {run.run_id for sweep in self.sweeps for run in _children(results, sweep)}
            found = [run for run in found if run.run_id in wanted]
        if self.where and self.tags:
            found = [run for run in found if self.tags.items() <= run.tags.items()]
        by_configuration = {
            run.tags["config_hash"]: run
            for run in found
            if run.status == RunStatus.FINISHED and "config_hash" in run.tags
        }
        if not by_configuration:
            raise UserError("no finished run was selected; name others with --sweep, --tag or --where")
        return list(by_configuration.values())


@dataclass(frozen=True)
class Comparison:
    """A table of one number of some runs."""

    rows: str
    """The key whose values are rows; as `columns` a tag, a param, or a group, which stands for its option's name."""
    columns: str
    value: Column
    cells: Mapping[tuple[str, str], float]
    """(row, column) -> the number."""
    baseline: str | None = None
    """The column that the others are measured against."""

    @property
    def row_names(self) -> list[str]:
        return list(dict.fromkeys(row for row, _ in self.cells))

    @property
    def column_names(self) -> list[str]:
        return list(dict.fromkeys(column for _, column in self.cells))

    def gain(self, row: str, column: str) -> float | None:
        """How many times better a cell is than its row's baseline; None where one of them is missing or 0."""
        value, base = self.cells.get((row, column)), self.cells.get((row, self.baseline or ""))
        if not value or not base:
            return None
        return value / base if self.value.more_is_better else base / value

    def mean_gain(self, column: str) -> float | None:
        """The geometric mean of a column's gains."""
        gains = [gain for row in self.row_names if (gain := self.gain(row, column)) is not None]
        return math.exp(sum(map(math.log, gains)) / len(gains)) if gains else None

    def csv(self) -> str:
        """A line a row; with a baseline a column of gains for each column besides."""
        names = self.column_names
        gains = [f"{name} over {self.baseline}" for name in names] if self.baseline is not None else []
        lines: list[list[object]] = [[self.rows, *(f"{name} {self.value.key}" for name in names), *gains]]
        for row in self.row_names:
            values = [self.cells.get((row, name)) for name in names]
            lines.append([row, *values, *([self.gain(row, name) for name in names] if gains else [])])
        return csv_text(lines)


def compare(runs: Sequence[StoredRun], rows: str, columns: str, value: str, baseline: str | None) -> Comparison:
    """Put runs into a table.

    Args:
        runs: at least one.
        rows, columns: keys, see `Comparison`.
        value: a metric.
        baseline: a value of `columns`.

    Raises:
        UserError: a key or metric that no run has, a baseline that is no column, or a cell of several runs.
    """
    known = {key for run in runs for key in run.metrics}
    if value not in known:
        raise UserError(f"no run has a metric '{value}'{did_you_mean(value, known)}")
    row_of, column_of_run = _getter(runs, rows), _getter(runs, columns)
    placed: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        if value in run.metrics:
            placed.setdefault((row_of(run), column_of_run(run)), []).append(run)
    for (row, column), several in placed.items():
        if len(several) > 1:
            raise UserError(
                f"{len(several)} runs have {rows}={row} and {columns}={column}; they differ in "
                f"{', '.join(_differing(several))}: choose with --tag or --where, or make it the rows or columns"
            )
    cells = {place: several[0].metrics[value] for place, several in placed.items()}
    if _numeric(row for row, _ in cells):
        cells = dict(sorted(cells.items(), key=lambda cell: float(cell[0][0])))
    comparison = Comparison(rows, columns, column_of(value), cells, baseline)
    if baseline is not None and baseline not in comparison.column_names:
        raise UserError(f"no run has {columns}={baseline}{did_you_mean(baseline, comparison.column_names)}")
    return comparison


def _children(results: Results, sweep: str) -> list[StoredRun]:
    children = results.children(sweep)
    if not children:
        exists = any(run.run_id == sweep for run in results.runs(kind="sweep"))
        raise UserError(f"the sweep {sweep} has no runs" if exists else f"there is no sweep {sweep}")
    return children


def _last_sweep(results: Results) -> str:
    sweeps = results.runs(kind="sweep")
    if not sweeps:
        raise UserError("no sweep is recorded yet; make one, as python -m hypar_exp -m strategy=dp,hypar")
    return sweeps[-1].run_id


def _getter(runs: Sequence[StoredRun], key: str) -> Callable[[StoredRun], str]:
    """What a run has under a key: a tag, a param, or the name of the option of a group."""

    def get(run: StoredRun) -> str | None:
        return run.tags.get(key) or run.params.get(key) or run.params.get(f"{key}.name")

    if all(get(run) is None for run in runs):
        known = {name for run in runs for name in (*run.tags, *run.params) if not name.startswith("mlflow.")}
        raise UserError(f"no run has a tag or param '{key}'{did_you_mean(key, known)}")
    return lambda run: get(run) or ""


def _differing(runs: Sequence[StoredRun]) -> list[str]:
    keys = dict.fromkeys(key for run in runs for key in run.params)
    differing = [key for key in keys if len({run.params.get(key) for run in runs}) > 1]
    return differing[:5] or ["nothing that is a param"]


def _numeric(names: Iterable[str]) -> bool:
    try:
        return [float(name) for name in names] != []
    except ValueError:
        return False
