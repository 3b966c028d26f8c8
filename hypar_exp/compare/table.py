"""A comparison of recorded runs on the terminal and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hypar_exp.reporting.console import print_first_that_fits
from hypar_exp.reporting.sweep_chart import chart_png
from hypar_exp.reporting.sweep_table import Column, Row
from hypar_exp.units import significant

if TYPE_CHECKING:
    from hypar_exp.compare.selection import Comparison


def show_comparison(comparison: Comparison) -> None:
    """Print the table; with a baseline each number is followed by how many times better it is.

    Where the terminal is not wide enough, the others' numbers are left to the file.
    """
    print_first_that_fits(
        _table(comparison, padding, numbers) for padding, numbers in ((2, True), (1, True), (1, False))
    )


def _table(comparison: Comparison, padding: int, numbers: bool) -> Table:
    names, baseline = comparison.column_names, comparison.baseline
    table = Table(
        title=Text(_title(comparison), style="bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False,
        padding=(0, padding, 0, 0),
    )  # fmt: skip
    table.add_column(comparison.rows, no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.row_names:
        best = _best(comparison, row)
        shown = []
        for name in names:
            cell = comparison.cells.get((row, name))
            gain = None if baseline is None or name == baseline else comparison.gain(row, name)
            words = _words(comparison.value, cell, gain, numbers)
            shown.append(Text(words, style="bold green" if cell is not None and cell == best else ""))
        table.add_row(row, *shown)
    if baseline is not None:
        means = [comparison.mean_gain(name) for name in names]
        table.add_section()
        table.add_row("geometric mean", *("" if mean is None else f"{significant(mean)}x" for mean in means))
    return table


def _best(comparison: Comparison, row: str) -> float | None:
    """The best number of a row; None where all are the same."""
    present = [cell for name in comparison.column_names if (cell := comparison.cells.get((row, name))) is not None]
    if len(set(present)) < 2:
        return None
    return max(present) if comparison.value.more_is_better else min(present)


def _words(value: Column, cell: float | None, gain: float | None, numbers: bool) -> str:
    if cell is None:
        return ""
    if gain is None:
        return value.shown(cell)
    times = f"{significant(gain)}x"
    return f"{value.shown(cell)} ({times})" if numbers else times


def comparison_png(comparison: Comparison) -> bytes | None:
    """The gains over the baseline, or the numbers where there is none; None where a picture cannot hold them."""
    axes = {comparison.rows: comparison.row_names, comparison.columns: comparison.column_names}
    if comparison.baseline is None:
        cells = comparison.cells
        column = comparison.value
    else:
        cells = {place: gain for place in comparison.cells if (gain := comparison.gain(*place)) is not None}
        column = Column("gain", f"times better than {comparison.baseline}", None, more_is_better=True)
    rows = [
        Row({comparison.rows: row, comparison.columns: name}, {column.key: value})
        for (row, name), value in cells.items()
    ]
    return chart_png(axes, rows, comparison.value.title, [column])


def _title(comparison: Comparison) -> str:
    title = f"{comparison.value.title} by {comparison.rows} and {comparison.columns}"
    return title if comparison.baseline is None else f"{title} (and how many times better than {comparison.baseline})"
