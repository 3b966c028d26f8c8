"""A sweep's page: its runs to sort, to filter, and to draw one number against another."""

from __future__ import annotations

from collections.abc import Sequence

from hypar_exp.reporting.page.template import filled
from hypar_exp.reporting.palette import OTHERS, STRATEGIES, marks_of
from hypar_exp.reporting.sweep_table import COLUMNS, Column, Row, compared_axis

MOST_RUNS = 1000
"""More runs than this are left to the file: a page stays below 300 kB."""


def sweep_page(title: str, axes: Sequence[str], rows: Sequence[Row]) -> str:
    """One self-contained HTML document.

    Args:
        title: what was swept.
        axes: the swept keys.
        rows: the runs.
    """
    shown = rows[:MOST_RUNS]
    columns = [column for column in COLUMNS if any(column.key in row.metrics for row in shown)]
    keys = [column.key for column in columns]
    marks = {axis: marks_of(list(dict.fromkeys(row.axes.get(axis, "") for row in shown))) for axis in axes}
    looks = [*STRATEGIES.values(), *OTHERS]
    data = {
        "axes": list(axes),
        "by": compared_axis(axes),
        "across": keys[0] if keys else "",
        "up": "step_energy_j" if "step_energy_j" in keys else keys[-1] if keys else "",
        "looks": [[mark.colour, mark.marker] for mark in looks],
        "look_of": {
            axis: {name: looks.index(mark) for name, mark in by_name.items()} for axis, by_name in marks.items()
        },
        "metrics": [
            {"key": column.key, "title": column.title, "unit": _unit(column), "more_is_better": column.more_is_better}
            for column in columns
        ],
        "runs": [
            {
                "axes": {axis: row.axes.get(axis, "") for axis in axes},
                "metrics": {key: row.metrics[key] for key in keys if key in row.metrics},
                "ended": row.trouble,
            }
            for row in shown
        ],
    }
    left = len(rows) - len(shown)
    words = [f"{left:,} more runs are in sweep.csv."] if left else []
    return filled("sweep", data, title=title, words=words)


def _unit(column: Column) -> str:
    return "x" if column.unit is None else column.unit
