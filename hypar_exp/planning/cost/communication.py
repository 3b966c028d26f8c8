"""The communication model: what the two halves of a group exchange for each choice (tables 1 and 2 of the paper)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import checked_coefficients
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Network
from hypar_exp.planning.cost.device_groups import Kinds
from hypar_exp.planning.cost.sharding import shard
from hypar_exp.planning.plan import Choices, Split

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
        """The same amounts without errors and gradients."""
        return self.only(FORWARD_TENSORS)

    def only(self, tensors: Collection[str]) -> CommunicationModel:
        """The amounts of some tensors alone; every split stays priced."""

        def of(row: Mapping[str, float]) -> dict[str, float]:
            return {tensor: coefficient for tensor, coefficient in row.items() if tensor in tensors}

        return CommunicationModel(
            within_layer={split: of(row) for split, row in self.within_layer.items()},
            between_layers={
                producer: {consumer: of(row) for consumer, row in rows.items()}
                for producer, rows in self.between_layers.items()
            },
        )

    def weighed(self, factors: Mapping[str, float]) -> CommunicationModel:
        """The amounts of each tensor times its factor; a tensor that is left out keeps its own."""

        def of(row: Mapping[str, float]) -> dict[str, float]:
            return {tensor: coefficient * factors.get(tensor, 1.0) for tensor, coefficient in row.items()}

        return CommunicationModel(
            within_layer={split: of(row) for split, row in self.within_layer.items()},
            between_layers={
                producer: {consumer: of(row) for consumer, row in rows.items()}
                for producer, rows in self.between_layers.items()
            },
        )

    def positions(self, plans: Choices) -> Choices:
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


def pair_amounts(
    network: Network, batch_size: float, model: CommunicationModel, counts: NDArray[np.number]
) -> PairAmounts:
    """What a pair would exchange for each choice, where `counts` (number[..., layers, len(Split)]) were made above."""
    tensors = shard(network, batch_size, counts)
    weights, inputs, outputs = tensors.weights[..., None], tensors.inputs[..., None], tensors.outputs[..., None]
    gradient, output, output_error, input_error = model.within.T
    amounts = PairAmounts(
        within=gradient * weights + (output + output_error) * outputs + input_error * inputs,
        between=model.between.sum(axis=-1) * tensors.edges[..., None, None],
    )
    if Split.MP in model.splits and network.is_grouped:
        _price_groups(network, model, counts, tensors.edges, amounts)
    return amounts


def _price_groups(
    network: Network,
    model: CommunicationModel,
    counts: NDArray[np.number],
    edges: NDArray[np.float64],
    amounts: PairAmounts,
) -> None:
    """Price mp of grouped convolutions: each half has whole groups, so there are no partial sums of the output.

    What it writes is cut by channels, as op's output is: a consumer that wants it by samples fetches what it lacks. An
    edge out of a layer that is split more often than it has groups is charged that too, which is an upper bound.
    """
    mp = model.splits.index(Split.MP)
    whole = np.exp2(counts[..., Split.MP] + 1.0) <= network.groups
    amounts.within[..., mp] = np.where(whole, 0.0, amounts.within[..., mp])
    grouped = network.groups[network.edge_producers] > 1
    row = model.between[model.splits.index(Split.OP)].sum(axis=-1) if Split.OP in model.splits else _by_channels(model)
    amounts.between[..., grouped, mp, :] = row * edges[..., grouped, None]


def _by_channels(model: CommunicationModel) -> NDArray[np.float64]:
    """What each split's consumer fetches of a tensor that is cut by channels: as dp -> mp, the other way round."""
    row = np.zeros(len(model.splits))
    if Split.DP in model.splits:
        dp, mp = model.splits.index(Split.DP), model.splits.index(Split.MP)
        row[dp] = model.between[dp, mp].sum()
    return row


def mean_amounts(
    network: Network, batch_size: float, model: CommunicationModel, kinds: Kinds, counts: Sequence[NDArray[np.number]]
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


def _by_split(rows: Mapping[str, Any], where: str) -> list[tuple[Split, Any]]:
    labels = {split.label: split for split in Split}
    for label in rows:
        if label not in labels:
            raise UserError(f"accounting.{where} has no split '{label}'{did_you_mean(str(label), labels)}")
    return [(labels[label], row) for label, row in rows.items()]
