"""JSON files of other programs: read so that every error says where it is and what would be right."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from hypar_exp.checks import shortened
from hypar_exp.errors import UserError
from hypar_exp.text_files import read_text


@dataclass(frozen=True)
class Fields:
    """An object of a JSON file, and where it is in the file."""

    place: str
    values: dict[str, Any]

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number of at least 0.

        Raises:
            UserError: it is none, or is missing and has no default.
        """
        value = self._value(key, default)
        if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
            return float(value)
        raise UserError(f"{self.place}: {key} must be a number of at least 0 (got {shortened(value)})")

    def whole(self, key: str, least: int = 0, default: int | None = None) -> int:
        """A whole number of at least `least`; raises as `number` does."""
        value = self.number(key, default)
        if value != int(value) or value < least:
            raise UserError(f"{self.place}: {key} must be a whole number of at least {least} (got {value:g})")
        return int(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; raises as `number` does."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise UserError(f"{self.place}: {key} must be a text (got {shortened(value)})")
        return value

    def objects(self, key: str, what: str) -> list[Fields]:
        """A list of objects, each `what`; raises as `number` does."""
        values = self._value(key, None)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise UserError(f"{self.place}: {key} must be a list of objects")
        return [Fields(f"{self.place}, {what} {number}", value) for number, value in enumerate(values, 1)]

    def mapping(self, key: str) -> dict[str, Any]:
        """An object as it is; raises as `number` does."""
        value = self._value(key, None)
        if not isinstance(value, dict):
            raise UserError(f"{self.place}: {key} must be an object (got {shortened(value)})")
        return value

    def _value(self, key: str, default: Any) -> Any:
        if key not in self.values and default is None:
            raise UserError(f"{self.place} has no {key}")
        return self.values.get(key, default)


def read_json(path: str, what: str) -> Fields:
    """The object that a JSON file is.

    Raises:
        UserError: it cannot be read, or is none; `what` says what it should be.
    """
    text = read_text(path, what)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise UserError(f"{path} should be a {what}, an object with nodes and edges")
    return Fields(path, values)
