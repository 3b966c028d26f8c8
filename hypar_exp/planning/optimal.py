"""The true optimum: the least sum over all levels at once, where the paper's search decides level by level.

A layer's state is the whole column of its choices, one a level: splits^levels states. What a layer costs depends on
its own state only, what an edge costs on the states at its two ends, so the sum is one that `Elimination` minimises.
At a level an edge's cost knows no more of the producer than its choice at that level; of the consumer it knows the
choice and those above. A column is therefore eliminated a few levels at a time, and the work for an edge grows with
levels x splits^levels instead of splits^(2 levels).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.planning.communication import AmountTables
from hypar_exp.planning.elimination import Table, cached_elimination, warn_of_bound
from hypar_exp.planning.plan import Plan, Split
from hypar_exp.planning.problem import PlanningProblem, StepCosts

ENTRIES_PER_EDGE = 2**13
"""Levels are eliminated together as long as an edge's table has no more entries: small tables cost numpy's overhead."""
MOST_ENTRIES = 2**26
"""Of all tables together: 1 GB of complex128."""


@dataclass(frozen=True)
class LeastPlan:
    """A plan, uint8[levels, layers], what it costs, and what no plan costs less than (the same where it is exact)."""

    plan: Plan
    cost: float
    bound: float


def least_plan(problem: PlanningProblem, close_to: Plan) -> LeastPlan:
    """The plan of the whole hierarchy that costs least; among equals the one that differs least from another.

    Where the network is too entangled for an exact minimum, a `PlanningWarning` says how far from it the plan can be.

    Args:
        problem: what is planned, and what it costs; the choice is among the splits that are priced.
        close_to: uint8[levels, layers], the plan to be close to: in as many entries as the least sum allows.

    Raises:
        UserError: more states than can be looked at.
    """
    network, model = problem.network, problem.communication
    if problem.levels == 0:
        cost = float(problem.cost_of(close_to[None])[0])
        return LeastPlan(close_to, cost, cost)
    columns = _Columns(problem.levels, model.splits, len(network.layers), len(network.edges))
    tables = AmountTables(network, problem.batch_size, model, problem.levels)
    positions = model.positions(close_to)
    costs = columns.layer_costs(tables, problem.costs, positions)
    costs += columns.edge_costs(tables, problem.costs)
    ends = [(edge.producer, edge.consumer) for edge in network.edges]
    least = cached_elimination(columns.sizes, columns.scopes(ends)).minimise(costs, guess=columns.states(positions))
    warn_of_bound(f"network {network.name}", least)
    return LeastPlan(columns.plan(least.states), least.cost.real, least.bound.real)


@dataclass(frozen=True)
class _Columns:
    """The states of all layers' columns: each column is cut into blocks of levels, and a block is a variable."""

    levels: int
    splits: tuple[Split, ...]
    layers: int
    edges: int

    def __post_init__(self) -> None:
        states = self.choices**self.levels
        entries = states * (self.layers * len(self.blocks) + 2 * self.edges * self.choices ** self.blocks[0])
        if entries > MOST_ENTRIES:
            raise UserError(
                f"the optimum over {self.levels} levels of {self.choices} splits has {states:,} states a layer, too "
                f"many for {self.layers} layers; give fewer array.levels or strategy.types"
            )

    @cached_property
    def choices(self) -> int:
        return len(self.splits)

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Levels of each block, from the top."""
        most = 1
        while most < self.levels and self.choices ** (self.levels + most + 1) <= ENTRIES_PER_EDGE:
            most += 1
        whole, rest = divmod(self.levels, most)
        return (most,) * whole + (rest,) * (rest > 0)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.choices**block for block in self.blocks) * self.layers

    def scopes(self, ends: list[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
        """The variables of each layer's table, and of the tables of each edge (producer, consumer) by block."""
        count = len(self.blocks)
        nodes = [tuple(range(layer * count, (layer + 1) * count)) for layer in range(self.layers)]
        return (
            *nodes,
            *((nodes[producer][at], *nodes[consumer][: at + 1]) for at in range(count) for producer, consumer in ends),
        )

    def layer_costs(self, tables: AmountTables, costs: StepCosts, close_to: Plan) -> list[Table]:
        """What each layer pays in each state, with the entries in which that differs from a plan as imaginary part."""
        paid = np.zeros((self.layers, 1), dtype=np.complex128)
        for level, index in enumerate(self._state_and_choice(tables)):
            elsewhere = np.arange(self.choices) != close_to[level][:, None]
            paid = (paid[:, :, None] + 1j * elsewhere[:, None]).reshape(self.layers, -1)
            paid += costs.per_exchanged_element * tables.within[level].take(index, axis=1)
        if costs.per_layer is not None:
            counts, state_of = np.unique(self._counts(), axis=0, return_inverse=True)
            by_layer = np.broadcast_to(counts[:, None], (len(counts), self.layers, len(Split)))
            paid += costs.per_layer(by_layer).T.take(state_of.ravel(), axis=1)
        return list(paid.reshape(self.layers, *self.sizes[: len(self.blocks)]))

    def edge_costs(self, tables: AmountTables, costs: StepCosts) -> list[Table]:
        """What each edge pays in each block of levels, [producer's block, consumer's blocks so far]."""
        if not self.edges:
            return []
        indices = self._state_and_choice(tables)
        paid: list[Table] = []
        level = 0
        for at, block in enumerate(self.blocks):
            table = np.zeros((self.edges, 1, self.choices**level))
            for _ in range(block):
                between = tables.between[level].reshape(self.edges, self.choices, -1).take(indices[level], axis=2)
                # [edges, producer's block so far, its choice, consumer's choices above, its choice]
                by_choice = between.reshape(self.edges, 1, self.choices, -1, self.choices)
                table = (table[:, :, None, :, None] + by_choice).reshape(
                    self.edges, table.shape[1] * self.choices, table.shape[2] * self.choices
                )
                level += 1
            table *= costs.per_exchanged_element
            paid += list(table.reshape(self.edges, self.sizes[at], *self.sizes[: at + 1]))
        return paid

    def plan(self, states: list[int]) -> Plan:
        """uint8[levels, layers]: the columns that the variables' states stand for."""
        by_block = np.array(states, dtype=np.int64).reshape(self.layers, -1)
        rows = [
            by_block[:, at] // self.choices**place % self.choices
            for at, block in enumerate(self.blocks)
            for place in reversed(range(block))
        ]
        return np.array(self.splits, dtype=np.uint8)[np.array(rows, dtype=np.intp).reshape(self.levels, self.layers)]

    def states(self, positions: Plan) -> list[int]:
        """The variables' states for a plan, whose entries are positions in `splits`."""
        place = [self.choices**at for block in self.blocks for at in reversed(range(block))]
        starts = np.cumsum([0, *self.blocks[:-1]])
        digits = positions.astype(np.int64) * np.array(place)[:, None]
        states: list[int] = np.add.reduceat(digits, starts, axis=0).T.ravel().tolist()
        return states

    def _counts(self) -> NDArray[np.int64]:
        """int64[states, len(Split)]: how often a column has each split."""
        counts = np.zeros((1, len(Split)), dtype=np.int64)
        for _ in range(self.levels):
            counts = (counts[:, None] + np.eye(len(Split), dtype=np.int64)[list(self.splits)]).reshape(-1, len(Split))
        return counts

    def _state_and_choice(self, tables: AmountTables) -> list[NDArray[np.int64]]:
        """For each level where in `tables` a column's choices above and at it are: int64[splits^(level + 1)]."""
        indices = []
        state = np.zeros(1, dtype=np.int64)
        for _ in range(self.levels):
            indices.append((state[:, None] * self.choices + np.arange(self.choices)).ravel())
            state = (state[:, None] + tables.digit_of).ravel()
        return indices
