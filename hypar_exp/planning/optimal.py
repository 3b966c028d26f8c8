"""The true optimum: the least sum over all levels at once, where the paper's search decides level by level.

A layer's state is the whole column of its choices, one a level: splits^levels states. What a layer costs depends on
its own state only, what an edge costs on the states at its two ends, so the sum is one that `Elimination` minimises.
At a level an edge's cost knows no more of the producer than its choice at that level; of the consumer it knows the
choice and those above. A column is therefore eliminated a few levels at a time, and the work for an edge grows with
levels x splits^levels instead of splits^(2 levels).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning.communication import AmountTables, CommunicationModel
from hypar_exp.planning.elimination import Table, cached_elimination, warn_of_bound
from hypar_exp.planning.plan import Plan

ENTRIES_PER_EDGE = 2**13
"""Levels are eliminated together as long as an edge's table has no more entries: small tables cost numpy's overhead."""
MOST_ENTRIES = 2**26
"""Of all tables together: 1 GB of complex128."""


def least_plan(network: Network, batch_size: int, levels: int, model: CommunicationModel, close_to: Plan) -> Plan:
    """The plan of the whole hierarchy that exchanges least; among equals the one that differs least from another.

    Args:
        network: a graph of layers. Where it is too entangled for an exact minimum, a `PlanningWarning` says how far
            from the least the plan can be.
        batch_size: samples a step.
        levels: levels of the hierarchy.
        model: the amounts; the choice is among the splits that it prices.
        close_to: uint8[levels, layers], the plan to be close to: in as many entries as the least sum allows.

    Returns:
        uint8[levels, layers].

    Raises:
        UserError: more states than can be looked at.
    """
    if levels == 0:
        return close_to.copy()
    columns = _Columns(levels, len(model.splits), len(network.layers), len(network.edges))
    tables = AmountTables(network, batch_size, model, levels)
    costs = columns.layer_costs(tables, model.positions(close_to)) + columns.edge_costs(tables)
    ends = [(edge.producer, edge.consumer) for edge in network.edges]
    least = cached_elimination(columns.sizes, columns.scopes(ends)).minimise(costs)
    warn_of_bound(f"network {network.name}", least)
    return np.array(model.splits, dtype=np.uint8)[columns.plan(least.states)]


@dataclass(frozen=True)
class _Columns:
    """The states of all layers' columns: each column is cut into blocks of levels, and a block is a variable."""

    levels: int
    splits: int
    layers: int
    edges: int

    def __post_init__(self) -> None:
        states = self.splits**self.levels
        entries = states * (self.layers * len(self.blocks) + 2 * self.edges * self.splits ** self.blocks[0])
        if entries > MOST_ENTRIES:
            raise UserError(
                f"the optimum over {self.levels} levels of {self.splits} splits has {states:,} states a layer, too "
                f"many for {self.layers} layers; give fewer array.levels or strategy.types"
            )

    @property
    def blocks(self) -> tuple[int, ...]:
        """Levels of each block, from the top."""
        most = 1
        while most < self.levels and self.splits ** (self.levels + most + 1) <= ENTRIES_PER_EDGE:
            most += 1
        whole, rest = divmod(self.levels, most)
        return (most,) * whole + (rest,) * (rest > 0)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.splits**block for block in self.blocks) * self.layers

    def scopes(self, ends: list[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
        """The variables of each layer's table, and of the tables of each edge (producer, consumer) by block."""
        count = len(self.blocks)
        nodes = [tuple(range(layer * count, (layer + 1) * count)) for layer in range(self.layers)]
        return (
            *nodes,
            *((nodes[producer][at], *nodes[consumer][: at + 1]) for at in range(count) for producer, consumer in ends),
        )

    def layer_costs(self, tables: AmountTables, close_to: Plan) -> list[Table]:
        """What each layer pays in each state, with the entries in which that differs from a plan as imaginary part."""
        costs = np.zeros((self.layers, 1), dtype=np.complex128)
        for level, index in enumerate(self._state_and_choice(tables)):
            elsewhere = np.arange(self.splits) != close_to[level][:, None]
            costs = (costs[:, :, None] + 1j * elsewhere[:, None]).reshape(self.layers, -1)
            costs += tables.within[level].take(index, axis=1)
        return list(costs.reshape(self.layers, *self.sizes[: len(self.blocks)]))

    def edge_costs(self, tables: AmountTables) -> list[Table]:
        """What each edge pays in each block of levels, [producer's block, consumer's blocks so far]."""
        if not self.edges:
            return []
        indices = self._state_and_choice(tables)
        costs: list[Table] = []
        level = 0
        for at, block in enumerate(self.blocks):
            table = np.zeros((self.edges, 1, self.splits**level))
            for _ in range(block):
                between = tables.between[level].reshape(self.edges, self.splits, -1).take(indices[level], axis=2)
                # [edges, producer's block so far, its choice, consumer's choices above, its choice]
                by_choice = between.reshape(self.edges, 1, self.splits, -1, self.splits)
                table = (table[:, :, None, :, None] + by_choice).reshape(
                    self.edges, table.shape[1] * self.splits, table.shape[2] * self.splits
                )
                level += 1
            costs += list(table.reshape(self.edges, self.sizes[at], *self.sizes[: at + 1]))
        return costs

    def plan(self, states: list[int]) -> Plan:
        """uint8[levels, layers]: the columns that the variables' states stand for."""
        by_block = np.array(states, dtype=np.int64).reshape(self.layers, -1)
        rows = [
            by_block[:, at] // self.splits**place % self.splits
            for at, block in enumerate(self.blocks)
            for place in reversed(range(block))
        ]
        return np.array(rows, dtype=np.uint8)

    def _state_and_choice(self, tables: AmountTables) -> list[NDArray[np.int64]]:
        """For each level where in `tables` a column's choices above and at it are: int64[splits^(level + 1)]."""
        indices = []
        state = np.zeros(1, dtype=np.int64)
        for _ in range(self.levels):
            indices.append((state[:, None] * self.splits + np.arange(self.splits)).ravel())
            state = (state[:, None] + tables.digit_of).ravel()
        return indices
