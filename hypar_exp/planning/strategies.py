"""Strategies: what decides a plan. A strategy is any object with a `name` and a `plan` method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning.communication import CommunicationModel
from hypar_exp.planning.plan import Plan, Split
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
        labels = [split.label for split in Split]
        for key, label in {"default": self.default, **self.by_kind}.items():
            if label not in labels:
                raise UserError(f"'{key}' of strategy {self.name} must be {' or '.join(labels)} (got {label!r})")

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan, uint8[levels, layers]."""
        labels = [self.by_kind.get(layer.kind, self.default) for layer in problem.network.layers]
        row = np.array([Split[label.upper()] for label in labels], dtype=np.uint8)
        return np.tile(row, (problem.levels, 1))


@dataclass(frozen=True)
class HyPar:
    """Algorithms 1 and 2 of the paper: least communication, level by level."""

    name: str = "hypar"

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan, uint8[levels, layers]."""
        return partition_hierarchy(problem.network, problem.batch_size, problem.levels, problem.communication)
