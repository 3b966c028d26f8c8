"""Many runs as a table: a row a run, its place on the axes and its main numbers, the best of each column marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hypar_exp.reporting.console import console, print_uncut
from hypar_exp.units import percent, quantity, significant, without_zeros

MOST_COLUMNS_OF_A_WORKLOAD = 5
MOST_ROWS = 60
"""More rows than this are left to the file."""


UNIT_ENDS = {
    "_bits_per_s": "b/s",
    "_bytes_per_s": "B/s",
    "_per_s": "",
    "_s": "s",
    "_bytes": "B",
    "_j": "J",
    "_fraction": "%",
}
"""The ends of keys that tell a unit, the longer first."""


@dataclass(frozen=True)
class Column:
    """A number of a run as people compare it."""

    key: str
    title: str
    unit: str | None
    """None for a plain number, % for a share."""
    more_is_better: bool = False
    short: str = ""
    """The title where there is little room; "" for the title itself."""

    def shown(self, value: float) -> str:
        if self.unit == "%":
            return percent(value)
        return f"{significant(value)}x" if self.unit is None else quantity(value, self.unit)

    def tick(self, value: float) -> str:
        """A value on an axis, without the zeros that a column of a table needs."""
        words = without_zeros(self.shown(value).removesuffix("x"))
        return f"{words}x" if self.unit is None else words


COLUMNS = (
    Column("step_time_s", "step time", "s", short="time"),
    Column("communication_bytes", "communication", "B", short="comm."),
    Column("step_energy_j", "energy", "J"),
    Column("memory_per_accelerator_bytes", "memory", "B"),
    Column("speedup", "speedup", None, more_is_better=True),
    Column("energy_efficiency", "efficiency", None, more_is_better=True, short="eff."),
    Column("bubble_fraction", "bubble", "%"),
    Column("optimality_gap", "optimality gap", "%", short="gap"),
)
FIRST_TO_GO = (
    "memory_per_accelerator_bytes", "energy_efficiency", "communication_bytes", "step_energy_j", "bubble_fraction",
    "speedup",
)  # fmt: skip
"""The columns that a narrow terminal leaves to the file, in this order."""


def column_of(metric: str) -> Column:
    """The column of any metric, or product of metrics; the end of a metric's name tells its unit."""
    known = {column.key: column for column in COLUMNS}
    unit = next((unit for end, unit in UNIT_ENDS.items() if metric.endswith(end) and "*" not in metric), "")
    return known.get(metric, Column(metric, metric, unit, more_is_better=metric.startswith("samples_per")))


@dataclass(frozen=True)
class Row:
    """A run: where it is on the axes, its numbers, and how it ended where that was not well."""

    axes: Mapping[str, str]
    metrics: Mapping[str, float]
    trouble: str = ""


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """The numbers that runs are compared by: those of a step, or the first that a workload of another kind has."""
    known = [column for column in COLUMNS if any(column.key in row.metrics for row in rows)]
    if known:
        return known
    first = next((row.metrics for row in rows if row.metrics), {})
    return [column_of(key) for key in first][:MOST_COLUMNS_OF_A_WORKLOAD]


def best_of(rows: Sequence[Row], column: Column) -> float | None:
    """The best value of a column; None where it has none, or the same everywhere."""
    values = [row.metrics[column.key] for row in rows if column.key in row.metrics]
    if len(set(values)) < 2:
        return None
    return max(values) if column.more_is_better else min(values)


def compared_axis(axes: Sequence[str]) -> str:
    """The axis whose values people compare: the strategy where it is swept, else the axis that turns fastest."""
    return "strategy" if "strategy" in axes or not axes else axes[-1]


def best_of_groups(axes: Sequence[str], rows: Sequence[Row], column: Column) -> list[bool]:
    """Whether each row is the best of its group: of the rows that differ from it in the compared axis only."""
    fixed = [axis for axis in axes if axis != compared_axis(axes)]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.axes.get(axis, "") for axis in fixed), []).append(row)
    best = {group: best_of(members, column) for group, members in groups.items()}
    return [
        column.key in row.metrics and row.metrics[column.key] == best[tuple(row.axes.get(axis, "") for axis in fixed)]
        for row in rows
    ]


def show_runs(title: str, axes: Sequence[str], rows: Sequence[Row]) -> None:
    """Print the table, in the width of the terminal; `axes` are its first columns."""
    out = console()
    shown = rows[:MOST_ROWS]
    columns = columns_of(rows)
    best = {
        column.key: best_of_groups(axes, rows, column) if column in COLUMNS else [False] * len(rows)
        for column in columns
    }
    heads = axis_heads(axes)
    cells: dict[str, list[Text]] = {
        axis: [Text(axis_value(axis, row.axes.get(axis, ""))) for row in shown] for axis in axes
    }
    for column in columns:
        cells[column.key] = [_cell(row, column, is_best) for row, is_best in zip(shown, best[column.key], strict=False)]
    troubled = [Text(row.trouble, style="bold red") for row in shown]
    if any(row.trouble for row in rows):
        cells["ended"] = troubled
    titles, dropped = _fitted(heads, columns, cells, out.width)
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for key, head in titles.items():
        table.add_column(head, justify="left" if key in heads or key == "ended" else "right", no_wrap=True)
    for at in range(len(shown)):
        table.add_row(*(cells[key][at] for key in titles))
    print_uncut(table)
    if any(any(marks) for marks in best.values()):
        among = compared_axis(axes)
        out.print("* best of its column" if len(axes) < 2 else f"* best {axis_heads([among])[among]} of its group")
    if dropped:
        out.print(f"In the file: {', '.join(column.title for column in dropped)}.")
    if len(rows) > MOST_ROWS:
        out.print(f"{len(rows) - MOST_ROWS} more rows are in the file.")


def axis_heads(axes: Sequence[str]) -> dict[str, str]:
    """Axis -> its heading: its key's last part without the unit that its values have; all of it where two agree."""
    last = {axis: axis.rpartition(".")[2] for axis in axes}
    alike = {axis for axis in axes if list(last.values()).count(last[axis]) > 1}
    return {
        axis: (axis if axis in alike else last[axis]).removesuffix(_unit_end(axis)).replace("_", " ") for axis in axes
    }


def axis_value(axis: str, value: str) -> str:
    """A value of an axis as a person reads it: with its unit, where the key tells one."""
    end = _unit_end(axis)
    try:
        return quantity(float(value), UNIT_ENDS[end]) if end else value
    except ValueError:
        return value


def _unit_end(key: str) -> str:
    return next((end for end, unit in UNIT_ENDS.items() if unit and key.endswith(end)), "")


def _fitted(
    heads: Mapping[str, str], columns: Sequence[Column], cells: Mapping[str, Sequence[Text]], width: int
) -> tuple[dict[str, str], list[Column]]:
    """Key -> title of the columns that fit, and the columns that do not: short titles first, then fewer columns."""
    dropped: list[Column] = []
    kept = list(columns)

    def titles(short: bool) -> dict[str, str]:
        named = {column.key: (column.short or column.title) if short else column.title for column in kept}
        return {**heads, **named, **({"ended": "ended"} if "ended" in cells else {})}

    def fits(shown: Mapping[str, str]) -> bool:
        widths = [max(len(head), *(len(cell) for cell in cells[key]), 0) for key, head in shown.items()]
        return sum(widths) + 2 * len(widths) + 1 <= width  # a space on each side, and the box's edges

    if fits(titles(short=False)):
        return titles(short=False), []
    for key in FIRST_TO_GO:
        if fits(titles(short=True)):
            break
        gone = [column for column in kept if column.key == key and len(kept) > 1]
        kept = [column for column in kept if column not in gone]
        dropped += gone
    return titles(short=True), dropped


def markdown(axes: Sequence[str], rows: Sequence[Row], most: int = 100) -> str:
    """The table as the MLflow UI shows it."""
    columns = columns_of(rows)
    lines = [[*axes, *(column.title for column in columns)], ["---"] * (len(axes) + len(columns))]
    for row in rows[:most]:
        numbers = [column.shown(row.metrics[column.key]) if column.key in row.metrics else "" for column in columns]
        lines.append([*(row.axes.get(axis, "") for axis in axes), *numbers])
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return table if len(rows) <= most else f"{table}\n\n{len(rows) - most} more rows are in sweep.csv."


def _cell(row: Row, column: Column, is_best: bool) -> Text:
    if column.key not in row.metrics:
        return Text("")
    value = row.metrics[column.key]
    return Text(f"{column.shown(value)}{'*' if is_best else ' '}", style="bold green" if is_best else "")
