"""What plans exchange, by look-up: the amounts of every state that a layer can be in, made once for many plans."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning.cost.communication import CommunicationModel, mean_amounts
from hypar_exp.planning.cost.device_groups import EVEN, GroupKind, Kinds, recut_factors, uneven_levels
from hypar_exp.planning.plan import Choices, Split

PLANS_PER_CHUNK = 8192


@dataclass(frozen=True)
class PlanCommunication:
    """Elements that the whole array exchanges in a step under each plan, all pairs of a level together.

    within: float64[plans, levels, layers]; between: float64[plans, levels, edges].
    """

    within: NDArray[np.float64]
    between: NDArray[np.float64]

    @property
    def by_level(self) -> NDArray[np.float64]:
        """float64[plans, levels]."""
        total: NDArray[np.float64] = self.within.sum(axis=-1) + self.between.sum(axis=-1)
        return total


def plan_communication(
    network: Network, batch_size: float, model: CommunicationModel, plans: Choices, kinds: Kinds = EVEN
) -> PlanCommunication:
    """The elements that each layer and edge of each plan (uint8[plans, levels, layers]) exchanges at each level."""
    return AmountTables(network, batch_size, model, plans.shape[-2], kinds).look_up(plans)


def level_communication(
    network: Network, batch_size: float, model: CommunicationModel, plans: Choices, kinds: Kinds = EVEN
) -> NDArray[np.float64]:
    """Elements that the whole array exchanges in a step, by level: float64[plans, levels], in bounded memory.

    Args:
        network: the network that the plans are for.
        batch_size: samples a step.
        model: the coefficients of the amounts.
        plans: uint8[plans, levels, layers], as many as fit in memory.
        kinds: the kinds of groups that the array has.
    """
    return level_amounts(AmountTables(network, batch_size, model, plans.shape[-2], kinds), plans)


def level_amounts(tables: AmountTables, plans: Choices) -> NDArray[np.float64]:
    """What tables say of plans (uint8[plans, levels, layers]), by level: float64[plans, levels], in bounded memory."""
    totals = np.empty(plans.shape[:2])
    for start in range(0, len(plans), PLANS_PER_CHUNK):
        chunk = slice(start, start + PLANS_PER_CHUNK)
        totals[chunk] = tables.look_up(plans[chunk]).by_level
    return totals


class AmountTables:
    """`pair_amounts` of every state that a layer can be in at each level, so that plans are costed by look-up.

    Only the numbers of choices above a level matter, not their order: a layer's state is the counts of all of the
    model's splits but the first, written as digits of base levels + 1, and the choice at each level of uneven halves.
    It changes the cost of a million plans from minutes to parts of a second. What all pairs of a level exchange is in

    Attributes:
        digit_of: int64[levels, splits], what a choice at a level adds to its layer's state for the levels below.
        within: float64[levels, layers, states x splits], by the layer's state and choice.
        between: float64[levels, edges, splits x states x splits], by the producer's choice, the consumer's state and
            its choice.
        leaf_counts: for each kind number[states, len(Split)], what the choices above its leaf accelerators count.
    """

    def __init__(
        self, network: Network, batch_size: float, model: CommunicationModel, levels: int, kinds: Kinds = EVEN
    ) -> None:
        splits = len(model.splits)
        self._network, self._model = network, model
        uneven = uneven_levels(kinds, levels)
        even_states = (levels + 1) ** (splits - 1)
        states = even_states * splits ** len(uneven)
        self.digit_of = np.tile([0, *((levels + 1) ** place for place in range(splits - 1))], (levels, 1))
        for place, level in enumerate(uneven):
            self.digit_of[level] += even_states * splits**place * np.arange(splits)
        counts = [_state_counts(levels, states, model.splits, kind, uneven) for kind in kinds]
        self.leaf_counts = [of_kind[levels] for of_kind in counts]
        shape = (levels, states, len(network.layers), len(Split))
        per_layer = [np.broadcast_to(of_kind[:levels, :, None], shape) for of_kind in counts]
        amounts = mean_amounts(network, batch_size, model, kinds, per_layer)
        for level in uneven:
            amounts.between[level] *= recut_factors(model.splits, kinds[0].share(level))
        pairs = np.ldexp(1.0, np.arange(levels))
        self._index_type = np.min_scalar_type(splits * splits * states)
        within = np.moveaxis(amounts.within, 1, 2) * pairs[:, None, None, None]
        between = np.moveaxis(amounts.between, 1, 3) * pairs[:, None, None, None, None]
        self.within = within.reshape(levels, len(network.layers), states * splits)
        self.between = between.reshape(levels, len(network.edges), splits * states * splits)

    def counting(self) -> AmountTables:
        """The same tables of how many tensors a pair exchanges, whatever their size."""
        model, levels, splits = self._model, len(self.digit_of), len(self._model.splits)
        within = (self.within > 0).reshape(levels, self.within.shape[1], -1, splits)
        between = (self.between > 0).reshape(levels, self.between.shape[1], splits, -1, splits)
        inside, across = (model.within > 0).sum(axis=-1, dtype=float), (model.between > 0).sum(axis=-1, dtype=float)
        return self._with(
            (within * inside).reshape(self.within.shape),
            (between * across[:, None]).reshape(self.between.shape),
        )

    def weighted(
        self, level_factors: NDArray[np.float64] | None, per_exchange: NDArray[np.float64] | None
    ) -> AmountTables:
        """The same tables with each level's amounts times a factor, and so much for each tensor; float64[levels]."""
        within, between = self.within, self.between
        if level_factors is not None:
            within, between = within * level_factors[:, None, None], between * level_factors[:, None, None]
        if per_exchange is not None:
            counted = self.counting()
            within = within + counted.within * per_exchange[:, None, None]
            between = between + counted.between * per_exchange[:, None, None]
        return self._with(within, between)

    def part(self, layers: Sequence[int], network: Network) -> AmountTables:
        """The tables of some layers, in their order, which are `network` on their own."""
        inside = set(layers)
        edges = [
            at for at, edge in enumerate(self._network.edges) if edge.producer in inside and edge.consumer in inside
        ]
        part = self._with(self.within[:, list(layers)], self.between[:, edges])
        part._network = network
        return part

    def _with(self, within: NDArray[np.float64], between: NDArray[np.float64]) -> AmountTables:
        other = copy.copy(self)
        other.within, other.between = within, between
        return other

    def look_up(self, plans: Choices) -> PlanCommunication:
        levels, layers, edges = self.within.shape[0], self.within.shape[1], self.between.shape[1]
        within, between = np.empty((levels, layers, len(plans))), np.empty((levels, edges, len(plans)))
        positions = self._model.positions(plans)
        by_level = np.ascontiguousarray(positions.transpose(1, 2, 0)).astype(self._index_type, copy=False)
        digit_of = self.digit_of.astype(self._index_type)
        splits, row = len(self._model.splits), self.within.shape[2]
        state = np.zeros(by_level.shape[1:], dtype=self._index_type)
        for level, choice in enumerate(by_level):
            index = state * self._index_type.type(splits) + choice
            for layer in range(layers):
                self.within[level, layer].take(index[layer], out=within[level, layer], mode="clip")
            for at, edge in enumerate(self._network.edges):
                pair = choice[edge.producer] * self._index_type.type(row) + index[edge.consumer]
                self.between[level, at].take(pair, out=between[level, at], mode="clip")
            state += digit_of[level][choice]
        return PlanCommunication(within=within.transpose(2, 0, 1), between=between.transpose(2, 0, 1))

    def leaf_states(self, plans: Choices) -> NDArray[np.unsignedinteger]:
        """The state that each plan leaves each layer's leaf accelerators in: unsigned[plans, layers]."""
        levels = np.arange(len(self.digit_of))[:, None]
        added = self.digit_of.astype(self._index_type)[levels, self._model.positions(plans)]
        states: NDArray[np.unsignedinteger] = added.sum(axis=-2, dtype=self._index_type)
        return states


def _state_counts(
    levels: int, states: int, splits: tuple[Split, ...], kind: GroupKind, uneven: list[int]
) -> NDArray[np.number]:
    """number[levels + 1, states, len(Split)]: what a state's choices above each level, and above the leaves, count.

    A state that no plan reaches (more choices than levels above) counts none of the first split.
    """
    counts = np.zeros((levels + 1, states, len(Split)), dtype=np.int64)
    for place, split in enumerate(splits[1:]):
        counts[..., split] = np.arange(states) // (levels + 1) ** place % (levels + 1)
    counts[..., splits[0]] = np.maximum(np.arange(levels + 1)[:, None] - counts.sum(axis=-1), 0)
    if not uneven:
        return counts
    halvings, weighted = kind.halvings(levels), counts.astype(np.float64)
    even_states = states // len(splits) ** len(uneven)
    for place, level in enumerate(uneven):
        choice = np.array(splits)[np.arange(states) // (even_states * len(splits) ** place) % len(splits)]
        weighted[level + 1 :, np.arange(states), choice] += halvings[level] - 1  # it is counted as even so far
    return weighted
