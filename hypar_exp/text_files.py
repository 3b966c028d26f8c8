"""Text as others take it: CSV that no spreadsheet runs, and lines that no terminal obeys."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but the tabulator and the new line, marks that turn the direction of writing, bytes that are no
text."""


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV; `rows_of_csv` reads the same texts back.

    A text that a spreadsheet would take for a formula (it begins with = + - or @ and is no number) gets a `'` in front.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")  # only of its line ends does the writer know that they want quotes
    lines = []
    for row in rows:
        writer.writerow([_escaped(cell) if isinstance(cell, str) else cell for cell in row])
        lines.append(text.getvalue().removesuffix("\r\n"))
        text.seek(0)
        text.truncate()
    return "".join(f"{line}\n" for line in lines)


def rows_of_csv(text: str) -> list[list[str]]:
    """The rows of `csv_text`, each cell as the text that it was."""
    return [[_unescaped(cell) for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]


def printable(text: str) -> str:
    r"""A text without what a terminal obeys: control characters and the like are written as `\x1b`."""
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _escaped(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell


def _unescaped(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell == cell.strip()
