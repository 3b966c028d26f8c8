"""Values of other systems' papers, beside which their workloads show what is computed here."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "published"


@cache
def published_text(name: str) -> str:
    """The text of `published/NAME.csv`; docs/systems.md says where the values are from."""
    return (_FOLDER / f"{name}.csv").read_text(encoding="utf-8")


@cache
def published_rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of `published/NAME.csv`, by column."""
    return tuple(csv.DictReader(io.StringIO(published_text(name))))
