"""The communication model: what the two halves of a group exchange for each choice (tables 1 and 2 of the paper)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import checked_coefficients
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Network
from hypar_exp.planning.kinds import EVEN, GroupKind, Kinds, recut_factors, uneven_levels
from hypar_exp.planning.plan import Plan, Split
from hypar_exp.planning.sharding import shard

PLANS_PER_CHUNK = 8192
WITHIN_TENSORS = ("weight_gradient", "output", "output_error", "input_error")
BETWEEN_TENSORS = ("feature", "error")
FORWARD_TENSORS = ("output", "feature")
"""Those of the above that a forward pass exchanges; errors and gradients are the backward pass's."""


@dataclass(frozen=True)
class CommunicationModel:
    """Coefficients of the amounts exchanged between the two halves of a group, both directions together.

    Attributes:
        within_layer: split -> tensor -> coefficient; tensors: weight_gradient A(dW_l), output A(F_{l+1}),
            output_error A(E_{l+1}), input_error A(E_l). A tensor that is left out is 0; a split that is left out
            is not priced, and no plan may use it.
        between_layers: split of the producer -> split of the consumer -> tensor -> coefficient; tensors: feature
            A(F), error A(E), both as the consumer sees them. What is left out is 0.

    Raises:
        UserError: an unknown split or tensor, no priced split, or a coefficient that is not a finite number >= 0.
    """

    within_layer: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    between_layers: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.splits:
            raise UserError("accounting.within_layer prices no split; it needs at least one, as in 'dp: {}'")
        _ = self.within, self.between

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The splits that are priced, in the order of their numbers; every table's axes of splits follow it."""
        return tuple(sorted(split for split, _ in _by_split(self.within_layer, "within_layer")))

    @cached_property
    def within(self) -> NDArray[np.float64]:
        """float64[splits, tensors of `WITHIN_TENSORS`]."""
        table = np.zeros((len(self.splits), len(WITHIN_TENSORS)))
        for split, row in _by_split(self.within_layer, "within_layer"):
            coefficients = checked_coefficients(f"accounting.within_layer.{split.label}", row, WITHIN_TENSORS)
            table[self.splits.index(split)] = coefficients
        return table

    @cached_property
    def between(self) -> NDArray[np.float64]:
        """float64[producer's splits, consumer's splits, tensors of `BETWEEN_TENSORS`]."""
        table = np.zeros((len(self.splits), len(self.splits), len(BETWEEN_TENSORS)))
        for producer, rows in _by_split(self.between_layers, "between_layers"):
            for consumer, row in _by_split(rows, f"between_layers.{producer.label}"):
                owner = f"accounting.between_layers.{producer.label}.{consumer.label}"
                self._require_priced(owner, (producer, consumer))
                coefficients = checked_coefficients(owner, row, BETWEEN_TENSORS)
                table[self.splits.index(producer), self.splits.index(consumer)] = coefficients
        return table

    def over(self, splits: Iterable[Split]) -> CommunicationModel:
        """The same amounts over some of the splits only.

        Raises:
            UserError: one of them is not priced.
        """
        kept = set(splits)
        self._require_priced("the strategy", kept)
        labels = {split.label for split in kept}
        return CommunicationModel(
            within_layer={label: row for label, row in self.within_layer.items() if label in labels},
            between_layers={
                producer: {consumer: row for consumer, row in rows.items() if consumer in labels}
                for producer, rows in self.between_layers.items()
                if producer in labels
            },
        )

    def forward_only(self) -> CommunicationModel:
        """The same amounts without errors and gradients; every split stays priced."""
        return CommunicationModel(
            within_layer={split: _forward(row) for split, row in self.within_layer.items()},
            between_layers={
                producer: {consumer: _forward(row) for consumer, row in rows.items()}
                for producer, rows in self.between_layers.items()
            },
        )

    def positions(self, plans: Plan) -> Plan:
        """The plans' entries as positions in `splits`, the plans themselves where that is the same.

        Raises:
            UserError: a plan uses a split that is not priced.
        """
        if self.splits == tuple(range(len(self.splits))) and plans.max(initial=0) < len(self.splits):
            return plans
        self._require_priced("the plan", map(Split, np.unique(plans).tolist()))
        position_of = np.zeros(len(Split), dtype=np.uint8)
        position_of[list(self.splits)] = range(len(self.splits))
        return position_of[plans]

    def _require_priced(self, user: str, splits: Iterable[Split]) -> None:
        for split in sorted(splits):
            if split not in self.splits:
                priced = " and ".join(known.label for known in self.splits)
                raise UserError(
                    f"{user} uses {split.label}, which accounting.within_layer does not price (it prices {priced}); "
                    "accounting=accpar prices dp, mp and op"
                )


@dataclass(frozen=True)
class PairAmounts:
    """Elements that one pair of groups exchanges at one level, for every choice it could make.

    within: float64[..., layers, splits]; between: float64[..., edges, producer's splits, consumer's splits]; the
    splits are the model's.
    """

    within: NDArray[np.float64]
    between: NDArray[np.float64]


@dataclass(frozen=True)
class PlanCommunication:
    """Elements that the whole array exchanges in a step under each plan, all pairs of a level together.

    within: float64[plans, levels, layers]; between: float64[plans, levels, edges].
    """

    within: NDArray[np.float64]
    between: NDArray[np.float64]


def pair_amounts(
    network: Network, batch_size: int, model: CommunicationModel, counts: NDArray[np.number]
) -> PairAmounts:
    """What a pair would exchange for each choice, where `counts` (number[..., layers, len(Split)]) were made above."""
    tensors = shard(network, batch_size, counts)
    weights, inputs, outputs = tensors.weights[..., None], tensors.inputs[..., None], tensors.outputs[..., None]
    gradient, output, output_error, input_error = model.within.T
    return PairAmounts(
        within=gradient * weights + (output + output_error) * outputs + input_error * inputs,
        between=model.between.sum(axis=-1) * tensors.edges[..., None, None],
    )


def mean_amounts(
    network: Network, batch_size: int, model: CommunicationModel, kinds: Kinds, counts: Sequence[NDArray[np.number]]
) -> PairAmounts:
    """`pair_amounts` of an average group, where each kind of groups has its own counts."""
    of_kinds = [pair_amounts(network, batch_size, model, of_kind) for of_kind in counts]
    if len(of_kinds) == 1:
        return of_kinds[0]
    weights = [kind.weight for kind in kinds]
    return PairAmounts(
        within=np.average([amounts.within for amounts in of_kinds], axis=0, weights=weights),
        between=np.average([amounts.between for amounts in of_kinds], axis=0, weights=weights),
    )


def plan_communication(
    network: Network, batch_size: int, model: CommunicationModel, plans: Plan, kinds: Kinds = EVEN
) -> PlanCommunication:
    """The elements that each layer and edge of each plan (uint8[plans, levels, layers]) exchanges at each level."""
    return AmountTables(network, batch_size, model, plans.shape[-2], kinds).look_up(plans)


def level_communication(
    network: Network, batch_size: int, model: CommunicationModel, plans: Plan, kinds: Kinds = EVEN
) -> NDArray[np.float64]:
    """Elements that the whole array exchanges in a step, by level: float64[plans, levels], in bounded memory.

    Args:
        network: the network that the plans are for.
        batch_size: samples a step.
        model: the coefficients of the amounts.
        plans: uint8[plans, levels, layers], as many as fit in memory.
        kinds: the kinds of groups that the array has.
    """
    tables = AmountTables(network, batch_size, model, plans.shape[-2], kinds)
    totals = np.empty(plans.shape[:2])
    for start in range(0, len(plans), PLANS_PER_CHUNK):
        chunk = slice(start, start + PLANS_PER_CHUNK)
        amounts = tables.look_up(plans[chunk])
        totals[chunk] = amounts.within.sum(axis=-1) + amounts.between.sum(axis=-1)
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
        self, network: Network, batch_size: int, model: CommunicationModel, levels: int, kinds: Kinds = EVEN
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

    def look_up(self, plans: Plan) -> PlanCommunication:
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

    def leaf_states(self, plans: Plan) -> NDArray[np.unsignedinteger]:
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


def _forward(row: Mapping[str, float]) -> dict[str, float]:
    return {tensor: coefficient for tensor, coefficient in row.items() if tensor in FORWARD_TENSORS}


def _by_split(rows: Mapping[str, Any], where: str) -> list[tuple[Split, Any]]:
    labels = {split.label: split for split in Split}
    for label in rows:
        if label not in labels:
            raise UserError(f"accounting.{where} has no split '{label}'{did_you_mean(str(label), labels)}")
    return [(labels[label], row) for label, row in rows.items()]
