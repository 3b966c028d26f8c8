"""Strategies: what decides a plan. A strategy is any object with a `name` and a `plan` method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hypar_exp.networks import Network
from hypar_exp.planning.communication import CommunicationModel
from hypar_exp.planning.optimal import least_plan
from hypar_exp.planning.plan import Plan, Split, split_named, split_types
from hypar_exp.planning.search import partition_hierarchy


@dataclass(frozen=True)
class PlanningProblem:
    """All that a strategy may look at: the network, the step's batch, the array's levels, and what is paid for."""

    network: Network
    batch_size: int
    levels: int
    communication: CommunicationModel


class Strategy(Protocol):
    """Decides a plan; a user's own strategy needs no more than this."""

    @property
    def name(self) -> str: ...

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan, uint8[levels, layers]."""
        ...


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
        """The plan, uint8[levels, layers]."""
        labels = [self.by_kind.get(layer.kind, self.default) for layer in problem.network.layers]
        row = np.array([split_named(label, self.name) for label in labels], dtype=np.uint8)
        return np.tile(row, (problem.levels, 1))


@dataclass(frozen=True)
class HyPar:
    """Algorithms 1 and 2 of the paper: least communication, level by level.

    Attributes:
        name: the strategy's name.
        types: the splits to choose from; AccPar's (Song et al., HPCA 2020) is the same search over all three.

    Raises:
        UserError: no type, or one that is not known.
    """

    name: str = "hypar"
    types: Sequence[str] = ("dp", "mp")

    def __post_init__(self) -> None:
        _ = self.splits

    @property
    def splits(self) -> tuple[Split, ...]:
        """The types as splits."""
        return split_types(self.types)

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan, uint8[levels, layers].

        Raises:
            UserError: one of the types is not priced.
        """
        communication = problem.communication.over(self.splits)
        return partition_hierarchy(problem.network, problem.batch_size, problem.levels, communication)


@dataclass(frozen=True)
class Optimal:
    """The least over all levels at once; among equals the plan closest to HyPar's.

    Attributes:
        name: the strategy's name.
        types: the splits to choose from.

    Raises:
        UserError: no type, or one that is not known.
    """

    name: str = "optimal"
    types: Sequence[str] = ("dp", "mp")

    def __post_init__(self) -> None:
        _ = self.splits

    @property
    def splits(self) -> tuple[Split, ...]:
        """The types as splits."""
        return split_types(self.types)

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan, uint8[levels, layers].

        Raises:
            UserError: one of the types is not priced, or there are more states than can be looked at.
        """
        communication = problem.communication.over(self.splits)
        level_by_level = partition_hierarchy(problem.network, problem.batch_size, problem.levels, communication)
        return least_plan(problem.network, problem.batch_size, problem.levels, communication, level_by_level)
