"""Text files: read so that every error says where it is, and written as CSV that no spreadsheet runs and lines that no
terminal obeys."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hypar_exp.errors import UserError

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


MOST_BYTES = 50_000_000
"""Far more than any description of a network without its weights."""
LONGEST_NAME = 200
"""Longer ones make no sentence, no table and no chart."""


@dataclass(frozen=True)
class Line:
    """One line of a file, without what surrounds it; `number` counts from 1."""

    file: Path
    number: int
    text: str

    def error(self, sentence: str) -> UserError:
        """The error that this line causes, with file and line in front."""
        return UserError(f"{self.file}, line {self.number}: {sentence}")

    def name(self, text: str) -> str:
        """A name as the file has it.

        Raises:
            UserError: it is too long to be one.
        """
        if len(text) > LONGEST_NAME:
            raise self.error(f"a name of {len(text)} characters is longer than {LONGEST_NAME}")
        return text

    def whole(self, text: str, what: str, least: int = 1) -> int:
        """The whole number in `text`, at least `least`.

        Raises:
            UserError: it is none; `what` names the field.
        """
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or len(text) > 18:
            raise self.error(f"{what} must be a whole number of at least {least} (got {text[:40]!r})")
        return value


def read_text(path: str, what: str) -> str:
    """The text of a file.

    Raises:
        UserError: it cannot be read, is too large, or is not text; `what` says what it should hold.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UserError(f"{file} is larger than {MOST_BYTES // 10**6} MB, which no {what} is")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UserError(f"the {what} {file} cannot be read: {reason}") from None


def read_lines(path: str, what: str) -> list[Line]:
    """The lines of a file that hold anything; raises as `read_text` does, and where there are none."""
    lines = [
        Line(Path(path), number, text.strip()) for number, text in enumerate(read_text(path, what).splitlines(), 1)
    ]
    filled = [line for line in lines if line.text]
    if not filled:
        raise UserError(f"{path} is empty; it should be a {what}")
    return filled
