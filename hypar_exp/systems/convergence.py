"""How many epochs a training takes to an accuracy, as data: what makes a training of a step."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hypar_exp.checks import require_number, require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.systems.published_values import published_text

COLUMNS = ("network", "method", "accuracy_percent", "epochs")


@dataclass(frozen=True)
class Convergence:
    """Epochs to an accuracy by network and method, from a table.

    Attributes:
        network, method: as the table calls them.
        accuracy_percent: that is to be reached; the row of the least accuracy of at least so much counts.
        samples_per_epoch: of the training set.
        path: a CSV file with the columns network, method, accuracy_percent and epochs; None for MNIST as the
            CATERPILLAR paper trains it (Li and Pedram, ASAP 2017, figure 5).

    Raises:
        UserError: the table cannot be read, or has no row for the network, the method and the accuracy.
    """

    network: str
    method: str
    accuracy_percent: float
    samples_per_epoch: int
    path: str | None = None

    def __post_init__(self) -> None:
        require_whole("convergence", "samples_per_epoch", self.samples_per_epoch, least=1)
        require_number("convergence", self, "accuracy_percent", most=100.0)
        _ = self.epochs

    @cached_property
    def epochs(self) -> float:
        """Epochs until the accuracy is reached."""
        rows = self._rows
        for column in ("network", "method"):
            asked, known = getattr(self, column), sorted({row[column] for row in rows})
            if asked not in known:
                raise UserError(f"convergence.{column}: the table has no '{asked}'{did_you_mean(asked, known)}")
        of_both = [row for row in rows if row["network"] == self.network and row["method"] == self.method]
        reached = [row for row in of_both if _number(row, "accuracy_percent") >= self.accuracy_percent]
        if not reached:
            most = max((_number(row, "accuracy_percent") for row in of_both), default=0.0)
            raise UserError(
                f"convergence.accuracy_percent: {self.method} trains {self.network} to {most:g} % at most, not to "
                f"{self.accuracy_percent:g}"
            )
        return _number(min(reached, key=lambda row: _number(row, "accuracy_percent")), "epochs")

    def steps(self, batch_size: int) -> float:
        """Training steps to the accuracy."""
        return self.epochs * self.samples_per_epoch / batch_size

    @property
    def words(self) -> str:
        """`29 epochs of 6,000 samples to 92 % (SGD, 500-500-500-10)`."""
        return (
            f"{self.epochs:g} epochs of {self.samples_per_epoch:,} samples to {self.accuracy_percent:g} % "
            f"({self.method}, {self.network})"
        )

    @cached_property
    def _rows(self) -> list[dict[str, str]]:
        try:
            text = published_text("caterpillar_epochs") if self.path is None else Path(self.path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"convergence.path: {self.path} cannot be read: {error}") from None
        reader = csv.DictReader(io.StringIO(text))
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise UserError(
                f"convergence.path: {self.path} has no column '{missing[0]}'; it needs {', '.join(COLUMNS)}"
            )
        return list(reader)


def _number(row: dict[str, str], column: str) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError):
        raise UserError(f"convergence.path: {column} must be a number (got {row[column]!r})") from None
