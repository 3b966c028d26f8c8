"""What a workload found, on the terminal and as files."""

from __future__ import annotations

import textwrap

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from hypar_exp.reporting.console import console, print_first_that_fits
from hypar_exp.reporting.line_picture import lines_svg
from hypar_exp.reporting.sweep_table import UNIT_ENDS
from hypar_exp.systems import Findings, Table
from hypar_exp.systems.workload import Cell
from hypar_exp.text_files import csv_text
from hypar_exp.units import percent, quantity, significant

LEAST_WIDTH = 5
"""Of a column whose heading is broken into lines."""
MOST_ROWS = 60
"""More rows than this are left to the file."""
SHARES = ("difference", "utilisation", "share")
"""Columns whose names begin so are shares, which a person reads in percent."""
UNITS = {"(bytes)": "B", "(s)": "s", "(J)": "J", **{end: unit for end, unit in UNIT_ENDS.items() if unit}}
"""The ends of columns' names that tell a unit."""


def show_findings(findings: Findings) -> None:
    """Print the first table, and below it what is to be said."""
    out = console()
    out.print(Text(findings.title, style="bold"))
    if findings.tables:
        _show_table(findings.tables[0])
    for words in findings.words:
        out.print(f"{words}.")
    others = [*(f"{table.name}.csv" for table in findings.tables[1:]), *findings.files]
    if others:
        out.print(f"Among the artifacts: {', '.join(others)}.")


def findings_artifacts(findings: Findings) -> dict[str, str]:
    """File name -> text: the tables with all digits, the picture, and what other programs read."""
    files = {f"{table.name}.csv": csv_text([table.columns, *map(_plain_row, table.rows)]) for table in findings.tables}
    if findings.chart is not None:
        files["chart.svg"] = lines_svg(findings.chart)
    return files | dict(findings.files)


def findings_markdown(findings: Findings) -> str:
    """What the MLflow UI shows on the run's page."""
    lines = [findings.title, "\n".join(f"- {words}." for words in findings.words)]
    if findings.tables:
        table = findings.tables[0]
        rows = [[cell_words(name, cell) for name, cell in zip(table.columns, row, strict=True)] for row in table.rows]
        cells = [table.columns, ["---"] * len(table.columns), *rows[:MOST_ROWS]]
        lines.append("\n".join("| " + " | ".join(row) + " |" for row in cells))
    return "\n\n".join(lines)


def cell_words(column: str, cell: Cell) -> str:
    """A cell as a person reads it: three significant digits, and the unit that the column's name tells."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    unit = UNITS.get(_unit_end(column))
    if column.startswith(SHARES):
        return percent(cell)
    if unit is not None:
        return quantity(cell, unit)
    return f"{cell:,.0f}" if float(cell).is_integer() else significant(cell)


def _show_table(table: Table) -> None:
    print_first_that_fits(_terminal_table(table, narrow) for narrow in (False, True))
    if len(table.rows) > MOST_ROWS:
        console().print(f"{len(table.rows) - MOST_ROWS} more rows are in {table.name}.csv.")


def _terminal_table(table: Table, narrow: bool) -> RichTable:
    """The table for the terminal; narrow: headings are broken into lines where their columns' cells are shorter."""
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    lines = [[cell_words(name, cell) for name, cell in zip(table.columns, row, strict=True)] for row in table.rows]
    texts = {at for row in table.rows for at, cell in enumerate(row) if isinstance(cell, str)}
    for at, name in enumerate(table.columns):
        heading = name.removesuffix(_unit_end(name)).replace("_", " ").rstrip()
        if narrow:
            width = max([LEAST_WIDTH, *(len(line[at]) for line in lines[:MOST_ROWS])])
            heading = textwrap.fill(heading, width, break_long_words=False)
        shown.add_column(heading, justify="left" if at in texts else "right", no_wrap=True)
    for line in lines[:MOST_ROWS]:
        shown.add_row(*line)
    return shown


def _unit_end(column: str) -> str:
    """The end of a column's name that tells its unit; "" where none does."""
    return next((end for end in UNITS if column.endswith(end)), "")


def _plain_row(row: object) -> list[object]:
    cells: list[Cell] = list(row)  # type: ignore[call-overload]
    return ["" if cell is None else cell if isinstance(cell, str) else f"{cell:.9g}" for cell in cells]
