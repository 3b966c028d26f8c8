"""What a search is for: quantities to make small or large, and bounds that must hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.sweeps.outcome import Outcome


@dataclass(frozen=True)
class Quantity:
    """A metric, a param that is a number, or a product of some: `accelerators * hardware.processing_elements`."""

    text: str

    @property
    def keys(self) -> list[str]:
        return [key.strip() for key in self.text.split("*")]

    def of(self, outcome: Outcome) -> float:
        """What it is of a run.

        Raises:
            UserError: a key that is neither a metric nor a number among the params of the run.
        """
        return math.prod(_number(key, outcome) for key in self.keys)


@dataclass(frozen=True)
class Goals:
    """The objectives and bounds of a search.

    Raises:
        UserError: no objective, or one that is to be made both small and large.
    """

    minimise: Sequence[str]
    maximise: Sequence[str]
    limits: Sequence[str]
    """`step_energy_j <= 34`."""

    def __post_init__(self) -> None:
        if not self.directions:
            raise UserError("hydra.sweeper.minimise or hydra.sweeper.maximise must name what the search is for")
        both = set(self.minimise) & set(self.maximise)
        if both:
            raise UserError(f"hydra.sweeper has '{both.pop()}' in minimise and in maximise; it must be in one of them")
        _ = self.bounds

    @cached_property
    def bounds(self) -> dict[str, float]:
        """The most that each bounded quantity may be."""
        bounds = {}
        for limit in self.limits:
            text, _, most = str(limit).partition("<=")
            try:
                bounds[text.strip()] = float(most)
            except ValueError:
                raise UserError(
                    f"hydra.sweeper.bounds must be a list as [step_energy_j <= 34] (got {limit!r} in it)"
                ) from None
        return bounds

    @property
    def objectives(self) -> list[Quantity]:
        return [Quantity(text) for text in (*self.minimise, *self.maximise)]

    @property
    def directions(self) -> list[str]:
        """Optuna's word for each objective."""
        return ["minimize"] * len(self.minimise) + ["maximize"] * len(self.maximise)

    def values(self, outcome: Outcome) -> list[float]:
        """The objectives of a run."""
        return [objective.of(outcome) for objective in self.objectives]

    def excesses(self, outcome: Outcome) -> dict[str, float]:
        """How far a run is above each bound; none is above 0 where all hold."""
        return {text: Quantity(text).of(outcome) - bound for text, bound in self.bounds.items()}

    def holds(self, outcome: Outcome) -> bool:
        """Whether a run keeps all bounds."""
        return max(self.excesses(outcome).values(), default=0.0) <= 0

    def costs(self, outcome: Outcome) -> list[float]:
        """The objectives of a run, less of each being better."""
        values = zip(self.directions, self.values(outcome), strict=True)
        return [value if direction == "minimize" else -value for direction, value in values]

    def front(self, outcomes: Sequence[Outcome]) -> list[int]:
        """The places of the runs that keep the bounds and that no other such run is better than in every objective."""
        costs = {at: self.costs(outcome) for at, outcome in enumerate(outcomes) if self.holds(outcome)}
        return [at for at, cost in costs.items() if not any(_dominates(other, cost) for other in costs.values())]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def _number(key: str, outcome: Outcome) -> float:
    if key in outcome.metrics:
        return outcome.metrics[key]
    try:
        return float(outcome.params[key])
    except (KeyError, ValueError):
        known: list[Any] = [*outcome.metrics, *outcome.params]
        raise UserError(
            f"hydra.sweeper: '{key}' is neither a metric nor a param that is a number{did_you_mean(key, known)}"
        ) from None
