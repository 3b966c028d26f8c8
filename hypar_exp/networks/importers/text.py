"""Text files of other tools, read line by line so that every error can say where it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypar_exp.errors import UserError

MOST_BYTES = 50_000_000
"""Far more than any description of a network without its weights."""


@dataclass(frozen=True)
class Line:
    """One line of a file, without what surrounds it; `number` counts from 1."""

    file: Path
    number: int
    text: str

    def error(self, sentence: str) -> UserError:
        """The error that this line causes, with file and line in front."""
        return UserError(f"{self.file}, line {self.number}: {sentence}")

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
