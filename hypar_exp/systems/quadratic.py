"""The workload of `experiment=pipelined_backprop_quadratic`: what a delay costs, and what its mitigations give back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.systems.delayed_momentum import LEAST_EXPONENT, METHODS, MOST_EXPONENT, best_half_lives
from hypar_exp.systems.published_values import published_rows
from hypar_exp.systems.workload import Cell, Chart, Findings, Setting, Table

CLOSE = 0.10
"""A value this near to a reference, relatively, agrees with it."""
REFERENCE_COLUMNS = {
    10.0: "half_life_kappa10",
    100.0: "kappa100",
    1000.0: "kappa1e3",
    10000.0: "kappa1e4",
}
"""Condition number -> column of the reference half-lives."""


@dataclass(frozen=True)
class DelayedMomentumOnQuadratics:
    """Best half-lives by delay, condition number and method, over a grid of momenta and learning rates.

    Raises:
        UserError: an unknown method, a delay below 1, or a condition number that the grid of rates does not hold.
    """

    delays: Sequence[int]
    methods: Sequence[str]
    condition_numbers: Sequence[float]
    momenta: int
    rates: int
    name: str = "pipelined_backprop_quadratic"
    uses: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for key in ("delays", "methods", "condition_numbers"):
            if not getattr(self, key):
                raise UserError(f"workload.{key} must name at least one, as in [1, 4] (got an empty list)")
        for delay in self.delays:
            require_whole("workload", "delays", delay, least=1, most=64)
        for method in self.methods:
            if method not in METHODS:
                raise UserError(f"workload.methods has no '{method!s}'{did_you_mean(str(method), METHODS)}")
        most = 10 ** (MOST_EXPONENT - LEAST_EXPONENT)
        for number in self.condition_numbers:
            if isinstance(number, bool) or not isinstance(number, int | float) or not 1 <= number <= most:
                raise UserError(f"workload.condition_numbers must be numbers from 1 to {most:g} (got {number!r})")
        require_whole("workload", "momenta", self.momenta, least=2, most=1000)
        require_whole("workload", "rates", self.rates, least=10, most=10_000)

    def run(self, setting: Setting) -> Findings:
        rows: list[list[Cell]] = []
        metrics: dict[str, float] = {}
        lines: dict[str, tuple[list[float], list[float]]] = {}
        for delay in self.delays:
            for name in self._methods_of(delay):
                best = best_half_lives(METHODS[name], delay, self.condition_numbers, self.momenta, self.rates)
                lines[f"{name}, delay {delay}"] = (
                    [float(number) for number in self.condition_numbers],
                    [found.half_life_steps for found in best],
                )
                for number, found in zip(self.condition_numbers, best, strict=True):
                    reference = _reference(delay, name, number)
                    difference = None if reference is None else found.half_life_steps / reference - 1
                    numbers = found.half_life_steps, reference, difference, found.momentum, found.largest_rate
                    rows.append([delay, name, f"{number:g}", *numbers])
                    metrics[f"half_life_steps/delay{delay}/{name.replace('+', '_')}/kappa{number:g}"] = (
                        found.half_life_steps
                    )
        apart = [row[5] for row in rows if isinstance(row[5], float)]
        compared = {
            "half_lives_compared": float(len(apart)),
            "half_lives_within_10_percent": float(sum(abs(share) <= CLOSE for share in apart)),
        }
        if apart:
            compared["largest_difference"] = max(abs(share) for share in apart)
        columns = ["delay", "method", "condition number", "half-life (steps)", "reference", "difference"]
        return Findings(
            title="Pipelined backpropagation on convex quadratics: the best half-life of the error, exactly",
            words=self._words(apart),
            tables=[Table("half_lives", [*columns, "momentum", "largest eta lambda"], rows)],
            metrics={key: value for key, value in (compared | metrics).items() if math.isfinite(value)},
            chart=Chart(
                "The best half-life of the error by condition number", "condition number", "half-life (steps)", lines,
                log_x=True, log_y=True,
            ),
        )  # fmt: skip

    def _methods_of(self, delay: int) -> list[str]:
        """Without a delay the method without one is the same for all: it stands under the first."""
        return [name for name in self.methods if METHODS[name].delayed or delay == self.delays[0]]

    def _words(self, apart: Sequence[float]) -> list[str]:
        words = [
            "The references, for the experiment of Kosson et al. (MLSys 2021), are the best of a grid too: a finer one "
            f"than this ({self.momenta} momenta, {self.rates} learning rates) finds shorter half-lives than both"
        ]
        if apart:
            close = sum(abs(share) <= CLOSE for share in apart)
            words.append(
                f"{close} of {len(apart)} are within 10 % of the references; the farthest is "
                f"{100 * max(apart, key=abs):+.1f} % away"
            )
        return words


def _reference(delay: int, method: str, condition_number: float) -> float | None:
    column = REFERENCE_COLUMNS.get(float(condition_number))
    for row in published_rows("pb_quadratic_half_lives"):
        if column is not None and row["method"] == method and (int(row["delay"]) == delay or method == "sgdm"):
            return float(row[column])
    return None
