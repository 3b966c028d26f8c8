"""Strategies: what decides a plan. A strategy is any object with a `name` and a `plan` method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from hypar_exp.errors import UserError
from hypar_exp.planning.plan import Choices, Plan, Split, split_named, split_types
from hypar_exp.planning.problem import COMMUNICATION, PlanningProblem
from hypar_exp.planning.solvers.level_by_level import partition_hierarchy
from hypar_exp.planning.solvers.optimum import LeastPlan, least_plan
from hypar_exp.planning.space.exploration import Exploration


@dataclass(frozen=True)
class Planned:
    """A plan, and what its strategy found out about others on the way."""

    plan: Plan
    exploration: Exploration | None = None


class Strategy(Protocol):
    """Decides a plan; a user's own strategy needs no more than this."""

    @property
    def name(self) -> str: ...

    def plan(self, problem: PlanningProblem) -> Plan | Choices:
        """The plan, or its choices alone, uint8[levels, layers]."""
        ...


@runtime_checkable
class Exploring(Strategy, Protocol):
    """A strategy that finds out about other plans as well."""

    def explore(self, problem: PlanningProblem) -> Planned:
        """The plan, and what was found out."""
        ...


def planned(strategy: Strategy, problem: PlanningProblem) -> Planned:
    """The plan of any strategy, with what it found out if it is one of those that do."""
    return strategy.explore(problem) if isinstance(strategy, Exploring) else Planned(Plan.of(strategy.plan(problem)))


@dataclass(frozen=True)
class Fixed:
    """The same splits at every level, whatever they cost: dp, mp, and one weird trick.

    Attributes:
        name: the strategy's name.
        default: the split of every layer that `by_kind` does not name.
        by_kind: kind of layer (conv, fc, ...) -> its split.

    Raises:
        UserError: a split that is not known.
    """

    name: str
    default: str
    by_kind: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, label in {"default": self.default, **self.by_kind}.items():
            split_named(label, f"'{key}' of strategy {self.name}")

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan."""
        labels = [self.by_kind.get(layer.kind, self.default) for layer in problem.network.layers]
        row = np.array([split_named(label, self.name) for label in labels], dtype=np.uint8)
        return Plan(np.tile(row, (problem.levels, 1)))


@dataclass(frozen=True)
class _AmongTypes:
    """A strategy that chooses among some splits.

    Attributes:
        name: the strategy's name.
        types: the splits to choose from.

    Raises:
        UserError: no type, or one that is not known.
    """

    name: str
    types: Sequence[str] = ("dp", "mp")

    def __post_init__(self) -> None:
        _ = self.splits

    @property
    def splits(self) -> tuple[Split, ...]:
        """The types as splits."""
        return split_types(self.types)


@dataclass(frozen=True)
class HyPar(_AmongTypes):
    """Algorithms 1 and 2 of the paper: least communication, level by level.

    AccPar's search (Song et al., HPCA 2020) is the same over all three types.
    """

    name: str = "hypar"

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan.

        Raises:
            UserError: one of the types is not priced, or something else than communication is to be the least.
        """
        if problem.costs.objective != COMMUNICATION:
            raise UserError(
                f"strategy {self.name} plans for the least communication only (got objective="
                f"{problem.costs.objective}); strategy=optimal plans for any objective"
            )
        return Plan(level_by_level(problem.over(self.splits)))


@dataclass(frozen=True)
class Optimal(_AmongTypes):
    """The least of the objective over all levels at once; among equals the plan closest to HyPar's."""

    name: str = "optimal"

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan.

        Raises:
            UserError: one of the types is not priced, or there are more states than can be looked at.
        """
        return Plan(self.least(problem).plan)

    def least(self, problem: PlanningProblem) -> LeastPlan:
        """The plan with its cost, and a bound below which no plan's cost can be."""
        among_types = problem.over(self.splits)
        return least_plan(among_types, close_to=level_by_level(among_types))


def level_by_level(problem: PlanningProblem) -> Choices:
    """HyPar's choices for a problem, whatever its objective: the least communication of each level after the other."""
    return partition_hierarchy(
        problem.network, problem.batch_size, problem.levels, problem.communication, problem.kinds
    )
