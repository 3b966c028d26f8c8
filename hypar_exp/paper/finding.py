"""What the reproduction of one table or figure came to, as its pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hypar_exp.paper.comparison import Compared, Verdict, comparison_csv, largest_difference, tally
from hypar_exp.paper.items import Item
from hypar_exp.paper.table import Table, table_of


@dataclass(frozen=True)
class Finding:
    """One table or figure: our values beside the published ones, and the picture.

    Attributes:
        item: what it is.
        rows: the compared values.
        svg, png: the picture; None for a table.
        sweep_url: where its sweep can be seen in the MLflow UI.
    """

    item: Item
    rows: Sequence[Compared]
    svg: bytes | None
    png: bytes | None
    sweep_url: str | None = None

    @cached_property
    def table(self) -> Table:
        return table_of(self.item.columns, self.rows)

    @property
    def csv(self) -> str:
        return comparison_csv(self.item.columns, self.rows)

    @property
    def tally(self) -> Mapping[Verdict, int]:
        """How many values have each verdict."""
        return tally(self.rows)

    @property
    def compared_rows(self) -> int:
        """Values that were published."""
        return sum(self.tally.values())

    @property
    def largest_difference(self) -> float:
        return largest_difference(self.rows)

    @property
    def largest_unexplained_difference(self) -> float:
        """Of the values that no note is about."""
        return largest_difference([row for row in self.rows if row.note is None])

    @property
    def shown_notes(self) -> list[tuple[int, str]]:
        """The notes about the whole and those that some value refers to, with their numbers."""
        used = {row.note for row in self.rows}
        return [(number, note.text) for number, note in enumerate(self.item.notes, 1) if number in used or not note.of]

    @property
    def files(self) -> dict[str, str | bytes]:
        """What is kept of it: the comparison, and the picture in both forms."""
        name = self.item.name
        files: dict[str, str | bytes] = {f"{name}.csv": self.csv}
        if self.svg is not None and self.png is not None:
            files |= {f"{name}.svg": self.svg, f"{name}.png": self.png}
        return files
