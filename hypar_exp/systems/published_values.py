"""Values of other systems' papers, beside which their workloads show what is computed here."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "published"


@cache
def published_rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of `published/NAME.csv`, by column; docs/systems.md says where they are from."""
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
