"""The one rule by which our values are compared with the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hypar_exp.paper.published import Labels, Published
from hypar_exp.text_files import csv_text
from hypar_exp.units import significant

Value = float | str
"""A number, or a text such as a plan."""


class Verdict(StrEnum):
    """How near our value is to the published one."""

    EQUAL = "equal"
    """To the precision printed, or read off to within half of the last digit; a text the same; a bound kept."""
    WITHIN_1 = "within 1 %"
    WITHIN_3 = "within 3 %"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Compared:
    """One value of ours beside the published one (None where the paper has none)."""

    labels: Labels
    ours: Value
    published: Published | None
    note: int | None = None
    """The number of the note, from 1, that explains it."""

    @property
    def relative_difference(self) -> float | None:
        """Ours over the published value, less one; of texts the share of places that differ; None against a bound."""
        if self.published is None or self.published.is_bound:
            return None
        number = self.published.number
        if isinstance(self.ours, str) or number is None:
            return _share_of_places(str(self.ours), self.published.text)
        if number == 0:
            return 0.0 if self.ours == 0 else float("inf")
        return self.ours / number - 1.0

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing was published."""
        if self.published is None:
            return None
        if self._equal(self.published):
            return Verdict.EQUAL
        difference = abs(self.relative_difference or 0.0)
        if self.published.is_bound or difference > 0.03:
            return Verdict.DIFFERS
        return Verdict.WITHIN_1 if difference <= 0.01 else Verdict.WITHIN_3

    @property
    def ours_text(self) -> str:
        """Our value with the digits of the published one; three significant digits where it is not equal to that."""
        if isinstance(self.ours, str):
            return self.ours
        if self.published is None or self.published.is_bound or self.verdict is not Verdict.EQUAL:
            return significant(self.ours) if self.ours < 100 else f"{self.ours:.1f}"
        return f"{self.ours:.{len(self.published.text.partition('.')[2])}f}"

    @property
    def difference_text(self) -> str:
        """The relative difference in percent; empty where there is none to give."""
        difference = self.relative_difference
        if difference is None:
            return ""
        return "0 %" if difference == 0 else f"{100 * difference:+.{1 if abs(difference) < 0.1 else 0}f} %"

    def _equal(self, published: Published) -> bool:
        number = published.number
        if isinstance(self.ours, str) or number is None:
            return self.ours == published.text
        if published.is_bound:
            return self.ours > number
        return abs(self.ours - number) <= published.half_a_digit * (1 + 1e-9)


def compare(values: Mapping[Labels, Value], published: Mapping[Labels, Published]) -> list[Compared]:
    """Every value of ours beside the published one of the same labels, in our order."""
    return [Compared(labels, ours, published.get(labels)) for labels, ours in values.items()]


def largest_difference(rows: Sequence[Compared]) -> float:
    """The largest relative difference, without its sign, of the rows that have one; 0 where none has."""
    return max((abs(row.relative_difference) for row in rows if row.relative_difference is not None), default=0.0)


def tally(rows: Sequence[Compared]) -> Mapping[Verdict, int]:
    """How many rows have each verdict."""
    counts = Counter(row.verdict for row in rows)
    return {verdict: counts[verdict] for verdict in Verdict}


def comparison_csv(columns: Sequence[str], rows: Sequence[Compared]) -> str:
    """The comparison as CSV: the labels, ours, published, source, relative_difference, verdict and note."""
    lines: list[list[object]] = [[*columns, "ours", "published", "source", "relative_difference", "verdict", "note"]]
    for row in rows:
        ours = row.ours if isinstance(row.ours, str) else f"{row.ours:.9g}"
        difference = "" if row.relative_difference is None else f"{row.relative_difference:.6f}"
        told = ["", ""] if row.published is None else [row.published.text, _source(row.published)]
        lines.append([*row.labels, ours, *told, difference, row.verdict or "", row.note or ""])
    return csv_text(lines)


def _source(published: Published) -> str:
    if published.printed:
        return "printed"
    return "read off a plot" + (f" to {100 * published.precision:g} %" if published.precision else "")


def _share_of_places(ours: str, published: str) -> float:
    places = max(len(ours), len(published))
    same = sum(a == b for a, b in zip(ours, published, strict=False))
    return (places - same) / places if places else 0.0
