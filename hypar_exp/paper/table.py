"""The comparison as a table to read: one layout, and its form in the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from hypar_exp.paper.comparison import Compared, Verdict

if TYPE_CHECKING:
    from rich.table import Table as RichTable

MOST_COLUMN_GROUPS = 4
LONG = 40
"""A text of more characters than this is broken into lines in HTML."""
CLASSES = {
    Verdict.EQUAL: "equal",
    Verdict.WITHIN_1: "within_1_percent",
    Verdict.WITHIN_3: "within_3_percent",
    Verdict.DIFFERS: "differs",
}
"""Verdicts as names of classes and metrics."""
COLOURS = {Verdict.EQUAL: "green", Verdict.WITHIN_1: "cyan", Verdict.WITHIN_3: "yellow", Verdict.DIFFERS: "red"}


@dataclass(frozen=True)
class Cell:
    """A text, and the verdict that it tells, if it does."""

    text: str
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells below two lines of headings.

    Attributes:
        labels: the headings of the first columns.
        groups: the headings over each three of the others (ours, published, difference); [""] where there is but one.
        rows: the labels' cells, then three for each group.
    """

    labels: tuple[str, ...]
    groups: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def headings(self) -> list[str]:
        """One line of headings, the groups' words in front."""
        told = [f"{group} {word}".strip() for group in self.groups for word in ("ours", "published", "difference")]
        return [*self.labels, *told]


def table_of(columns: Sequence[str], rows: Sequence[Compared], *, spread: bool = True) -> Table:
    """Lay out compared values: the last label spreads over columns where that is readable, else a value is a row."""
    last = tuple(dict.fromkeys(row.labels[-1] for row in rows))
    numbers = not any(isinstance(row.ours, str) for row in rows)
    if not spread or len(columns) == 1 or len(last) > MOST_COLUMN_GROUPS or not numbers:
        told = tuple((*map(Cell, row.labels), *_cells(row)) for row in rows)
        return Table(tuple(columns), ("",), told)
    by_labels = {row.labels: row for row in rows}
    lines = []
    for front in dict.fromkeys(row.labels[:-1] for row in rows):
        found = [by_labels.get((*front, group)) for group in last]
        lines.append((*map(Cell, front), *(cell for row in found for cell in _cells(row))))
    return Table(tuple(columns[:-1]), last, tuple(lines))


def markdown(table: Table) -> str:
    """The table in Markdown."""
    left, right = [":--"] * len(table.labels), ["--:"] * (3 * len(table.groups))
    lines = [table.headings, [*left, *right], *([cell.text for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def html(table: Table) -> str:
    """The table in HTML; a cell's class is its verdict's."""
    grouped = table.groups != ("",)
    top = "".join(f'<th class="label" rowspan="{1 + grouped}">{escape(label)}</th>' for label in table.labels)
    words = "<th>ours</th><th>published</th><th>difference</th>"
    if grouped:
        top += "".join(f'<th colspan="3" class="group">{escape(group)}</th>' for group in table.groups)
        head = f"<tr>{top}</tr><tr>{words * len(table.groups)}</tr>"
    else:
        head = f"<tr>{top}{words}</tr>"
    body = "".join(
        "<tr>" + "".join(_td(cell, at < len(table.labels)) for at, cell in enumerate(row)) + "</tr>\n"
        for row in table.rows
    )
    return f"<table><thead>{head}</thead>\n<tbody>{body}</tbody></table>\n"


def rich_table(table: Table, width: int | None = None) -> RichTable:
    """The table for the terminal; where a width is given, values are broken into lines to fit it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, width=width)
    for label in table.labels:
        shown.add_column(label, no_wrap=True)
    for group in table.groups:
        for above, word in ((group, "ours"), ("", "published"), ("", "difference")):
            shown.add_column(f"{above}\n{word}" if group else word, justify="right", no_wrap=width is None)
    for row in table.rows:
        shown.add_row(*(Text(cell.text, style=COLOURS[cell.verdict] if cell.verdict else "") for cell in row))
    return shown


def _cells(row: Compared | None) -> tuple[Cell, Cell, Cell]:
    if row is None:
        return Cell(""), Cell(""), Cell("")
    note = f" [{row.note}]" if row.note is not None else ""
    if row.published is None:
        return Cell(row.ours_text), Cell("-"), Cell(note.strip())
    words = "equal" if row.verdict is Verdict.EQUAL else row.difference_text or "differs"
    return Cell(row.ours_text), Cell(str(row.published)), Cell(words + note, row.verdict)


def _td(cell: Cell, is_label: bool) -> str:
    name = "label" if is_label else CLASSES[cell.verdict] if cell.verdict else ""
    name = "long" if len(cell.text) > LONG else name
    opening = f'<td class="{name}">' if name else "<td>"
    return f"{opening}{escape(cell.text)}</td>"
