"""Many runs as a table: a row a run, its place on the axes and its main numbers, the best of each column marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hypar_exp.reporting.console import console, print_uncut
from hypar_exp.units import percent, quantity, significant

MOST_ROWS = 60
"""More rows than this are left to the file."""


UNIT_ENDS = {"_per_s": "", "_s": "s", "_bytes": "B", "_j": "J"}


@dataclass(frozen=True)
class Column:
    """A number of a run as people compare it."""

    key: str
    title: str
    unit: str | None
    """None for a plain number, % for a share."""
    more_is_better: bool = False

    def shown(self, value: float) -> str:
        if self.unit == "%":
            return percent(value)
        return f"{significant(value)}x" if self.unit is None else quantity(value, self.unit)


COLUMNS = (
    Column("step_time_s", "step time", "s"),
    Column("communication_bytes", "communication", "B"),
    Column("step_energy_j", "energy", "J"),
    Column("memory_per_accelerator_bytes", "memory", "B"),
    Column("speedup", "speedup", None, more_is_better=True),
    Column("energy_efficiency", "efficiency", None, more_is_better=True),
    Column("optimality_gap", "optimality gap", "%"),
)


def column_of(metric: str) -> Column:
    """The column of any metric; the end of its name tells its unit."""
    known = {column.key: column for column in COLUMNS}
    unit = next((unit for end, unit in UNIT_ENDS.items() if metric.endswith(end)), "")
    return known.get(metric, Column(metric, metric, unit, more_is_better=metric.startswith("samples_per")))


@dataclass(frozen=True)
class Row:
    """A run: where it is on the axes, its numbers, and how it ended where that was not well."""

    axes: Mapping[str, str]
    metrics: Mapping[str, float]
    trouble: str = ""


def best_of(rows: Sequence[Row], column: Column) -> float | None:
    """The best value of a column; None where it has none, or the same everywhere."""
    values = [row.metrics[column.key] for row in rows if column.key in row.metrics]
    if len(set(values)) < 2:
        return None
    return max(values) if column.more_is_better else min(values)


def show_runs(title: str, axes: Sequence[str], rows: Sequence[Row]) -> None:
    """Print the table; `axes` are its first columns."""
    columns = [column for column in COLUMNS if any(column.key in row.metrics for row in rows)]
    troubled = any(row.trouble for row in rows)
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for axis in axes:
        table.add_column(axis, no_wrap=True)
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    if troubled:
        table.add_column("ended")
    best = {column.key: best_of(rows, column) for column in columns}
    for row in rows[:MOST_ROWS]:
        cells = [Text(row.axes.get(axis, "")) for axis in axes]
        cells += [_cell(row, column, best[column.key]) for column in columns]
        table.add_row(*cells, *([Text(row.trouble, style="bold red")] if troubled else []))
    out = console()
    print_uncut(table)
    if any(value is not None for value in best.values()):
        out.print("* best of its column")
    if len(rows) > MOST_ROWS:
        out.print(f"{len(rows) - MOST_ROWS} more rows are in the file.")


def markdown(axes: Sequence[str], rows: Sequence[Row], most: int = 100) -> str:
    """The table as the MLflow UI shows it."""
    columns = [column for column in COLUMNS if any(column.key in row.metrics for row in rows)]
    lines = [[*axes, *(column.title for column in columns)], ["---"] * (len(axes) + len(columns))]
    for row in rows[:most]:
        numbers = [column.shown(row.metrics[column.key]) if column.key in row.metrics else "" for column in columns]
        lines.append([*(row.axes.get(axis, "") for axis in axes), *numbers])
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return table if len(rows) <= most else f"{table}\n\n{len(rows) - most} more rows are in sweep.csv."


def _cell(row: Row, column: Column, best: float | None) -> Text:
    if column.key not in row.metrics:
        return Text("")
    value = row.metrics[column.key]
    is_best = value == best
    return Text(f"{column.shown(value)}{'*' if is_best else ' '}", style="bold green" if is_best else "")
