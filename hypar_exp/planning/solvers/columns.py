"""The states of layers: whole columns of choices, one a level, and what each state and each pair of states costs.

At a level an edge's cost knows no more of the producer than its choice at that level; of the consumer it knows the
choice and those above. So a column is cut into blocks of levels, which are eliminated one after the other, and the
work for an edge grows with levels x splits^levels instead of splits^(2 levels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.planning.cost.amount_tables import AmountTables
from hypar_exp.planning.plan import Choices, Split
from hypar_exp.planning.solvers.elimination import Table

ENTRIES_PER_EDGE = 2**13
"""Levels are eliminated together as long as an edge's table has no more entries: small tables cost numpy's overhead."""
MOST_ENTRIES = 2**26
"""Of all tables together: 1 GB of complex128."""


@dataclass(frozen=True)
class Columns:
    """The columns of all layers of a network; a column's block of levels is a variable of the elimination.

    A column's state is the number that its choices are the digits of, from the top; a block's state is its part of it.

    Raises:
        UserError: more states than can be looked at.
    """

    levels: int
    splits: tuple[Split, ...]
    layers: int
    edges: int

    def __post_init__(self) -> None:
        entries = self.states * (self.layers * len(self.blocks) + 2 * self.edges * self.choices ** self.blocks[0])
        if entries > MOST_ENTRIES:
            raise UserError(
                f"the optimum over {self.levels} levels of {self.choices} splits has {self.states:,} states a layer, "
                f"too many for {self.layers} layers; give fewer array.levels or strategy.types"
            )

    @cached_property
    def choices(self) -> int:
        return len(self.splits)

    @cached_property
    def states(self) -> int:
        """States of each column."""
        return int(self.choices**self.levels)

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Levels of each block, from the top; a single accelerator has one of no levels."""
        most = 1
        while most < self.levels and self.choices ** (self.levels + most + 1) <= ENTRIES_PER_EDGE:
            most += 1
        whole, rest = divmod(self.levels, most)
        return (most,) * whole + (rest,) * (rest > 0 or not whole)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return self.block_sizes * self.layers

    @cached_property
    def block_sizes(self) -> tuple[int, ...]:
        """States of each block."""
        return tuple(self.choices**block for block in self.blocks)

    @cached_property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """What a column at the leaves comes to: int64[kinds, len(Split)] counts, and each state's kind."""
        counts = np.zeros((1, len(Split)), dtype=np.int64)
        for _ in range(self.levels):
            counts = (counts[:, None] + np.eye(len(Split), dtype=np.int64)[list(self.splits)]).reshape(-1, len(Split))
        kinds, kind_of = np.unique(counts, axis=0, return_inverse=True)
        return kinds, kind_of.ravel()

    def at_leaves(self, by_kind: NDArray[np.float64]) -> NDArray[np.float64]:
        """From amounts of each kind of column, float64[kinds, layers], to those of each state, [layers, states]."""
        return by_kind.T.take(self.counts[1], axis=1)

    @cached_property
    def leaf_counts(self) -> NDArray[np.int64]:
        """int64[kinds, layers, len(Split)]: the counts of each kind of column, for every layer."""
        kinds = self.counts[0]
        return np.broadcast_to(kinds[:, None], (len(kinds), self.layers, len(Split)))

    def scopes(self, ends: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
        """The variables of each layer's table, and of the tables of each edge (producer, consumer) by block."""
        count = len(self.blocks)
        nodes = [tuple(range(layer * count, (layer + 1) * count)) for layer in range(self.layers)]
        return (
            *nodes,
            *((nodes[producer][at], *nodes[consumer][: at + 1]) for at in range(count) for producer, consumer in ends),
        )

    def layer_amounts(self, tables: AmountTables, close_to: Choices) -> NDArray[np.complex128]:
        """Elements exchanged inside each layer, complex128[layers, states]; the imaginary part counts where the state
        differs from a plan."""
        paid = np.zeros((self.layers, 1), dtype=np.complex128)
        for level, index in enumerate(self._state_and_choice(tables)):
            elsewhere = np.arange(self.choices) != close_to[level][:, None]
            paid = (paid[:, :, None] + 1j * elsewhere[:, None]).reshape(self.layers, -1)
            paid += tables.within[level].take(index, axis=1)
        return paid

    def by_block(self, layer_costs: NDArray[np.complex128]) -> list[Table]:
        """A table for each layer, an axis for each of its blocks."""
        return list(layer_costs.reshape(self.layers, *self.block_sizes))

    def edge_amounts(self, tables: AmountTables) -> list[Table]:
        """Elements exchanged for each edge in each block of levels, [producer's block, consumer's blocks so far]."""
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
            paid += list(table.reshape(self.edges, self.block_sizes[at], *self.block_sizes[: at + 1]))
        return paid

    def transitions(self, edge_costs: Sequence[Table]) -> NDArray[np.float64]:
        """The edges' tables of all blocks together, float64[edges, states, states]."""
        count = len(self.blocks)
        total = np.zeros((self.edges, *self.block_sizes, *self.block_sizes))
        for at in range(count):
            tables = np.array([table.real for table in edge_costs[at * self.edges : (at + 1) * self.edges]])
            below = (1,) * (count - 1 - at)
            total += tables.reshape(
                self.edges, *(1,) * at, self.block_sizes[at], *below, *self.block_sizes[: at + 1], *below
            )
        return total.reshape(self.edges, self.states, self.states)

    def of_layers(self, blocks: Sequence[int]) -> NDArray[np.int64]:
        """The state of each layer, from those of all blocks."""
        by_block = np.array(blocks, dtype=np.int64).reshape(self.layers, -1)
        states: NDArray[np.int64] = np.asarray(np.ravel_multi_index(tuple(by_block.T), self.block_sizes))
        return states

    def of_blocks(self, layers: NDArray[np.int64]) -> list[int]:
        """The state of each block, from those of the layers."""
        blocks: list[int] = np.stack(np.unravel_index(layers, self.block_sizes), axis=-1).ravel().tolist()
        return blocks

    def plan(self, layers: NDArray[np.int64]) -> Choices:
        """uint8[levels, layers]: the columns that the layers' states stand for."""
        places = self.choices ** np.arange(self.levels)[::-1]
        plan: Choices = np.array(self.splits, dtype=np.uint8)[layers // places[:, None] % self.choices]
        return plan

    def states_of(self, positions: Choices) -> NDArray[np.int64]:
        """The layers' states for a plan whose entries are positions in `splits`."""
        places = self.choices ** np.arange(self.levels)[::-1]
        states: NDArray[np.int64] = (positions * places[:, None]).sum(axis=0)
        return states

    def _state_and_choice(self, tables: AmountTables) -> list[NDArray[np.int64]]:
        """For each level where in `tables` a column's choices above and at it are: int64[splits^(level + 1)]."""
        indices = []
        state = np.zeros(1, dtype=np.int64)
        for level in range(self.levels):
            indices.append((state[:, None] * self.choices + np.arange(self.choices)).ravel())
            state = (state[:, None] + tables.digit_of[level]).ravel()
        return indices
