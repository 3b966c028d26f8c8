"""The published values: facts of the paper as data, each with its source and the digits it was printed with."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "published"
_COLUMNS = ("value", "source", "precision")

Labels = tuple[str, ...]
"""What a value is of, for example (network, strategy)."""


@dataclass(frozen=True)
class Published:
    """One value of the paper.

    Attributes:
        text: as printed, its digits kept; `>10` where a plot is cut off there.
        printed: whether the paper prints the number; otherwise it was read off a plot.
        precision: how exactly it could be read off, as a share of the value.
    """

    text: str
    printed: bool
    precision: float | None

    @property
    def number(self) -> float | None:
        """The value, or the bound; None where it is no number."""
        try:
            return float(self.text.removeprefix(">"))
        except ValueError:
            return None

    @property
    def is_bound(self) -> bool:
        return self.text.startswith(">")

    @property
    def half_a_digit(self) -> float:
        """Half a unit of the last digit that is given."""
        return 0.5 * 10.0 ** -len(self.text.partition(".")[2])

    def __str__(self) -> str:
        return self.text if self.printed else f"~{self.text}"


@cache
def published_values(item: str) -> Mapping[Labels, Published]:
    """The values of a table or figure by their labels, in the order of the paper."""
    with (_FOLDER / f"{item}.csv").open(encoding="utf-8", newline="") as file:
        return {
            tuple(text for column, text in row.items() if column not in _COLUMNS): Published(
                text=row["value"],
                printed=row["source"] == "printed",
                precision=float(row["precision"]) if row["precision"] else None,
            )
            for row in csv.DictReader(file)
        }
