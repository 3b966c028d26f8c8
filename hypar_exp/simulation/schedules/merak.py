"""Merak's variants of 1F1B for stages that compute activations again (Lai et al., 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.simulation.operations import KEPT, Kind, Order, listed, one_each

Variant = Literal["pre_recompute", "last_no_recompute", "full_critical_path"]


@dataclass(frozen=True)
class Merak:
    """1F1B that computes activations again while a device would wait for the gradient.

    Attributes:
        variant: `pre_recompute` does so in the drain, on stage s of p for the last p - s - 1 micro-batches;
            `last_no_recompute` also keeps the last stage's activations, and the stage before it computes those of its
            first micro-batch again while it waits; `full_critical_path` also takes the last but one stage's third
            forward before its first backward.
    """

    variant: Variant = "full_critical_path"

    def __post_init__(self) -> None:
        if self.variant not in get_args(Variant):
            raise UserError(
                f"schedule merak has no variant {self.variant!r}{did_you_mean(self.variant, get_args(Variant))}"
            )

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return one_each(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        return [self._order(device, devices - device, micro_batches) for device in range(devices)]

    def _order(self, device: int, to_end: int, micro_batches: int) -> Order:
        """On a device from which `to_end` stages, its own among them, are left."""
        kept = KEPT if self.variant != "pre_recompute" and to_end == 1 else 0
        early = self._early(to_end, micro_batches)
        order: list[tuple[int, int, int]] = [(Kind.FORWARD, device, part) for part in range(min(to_end, micro_batches))]
        for part in range(micro_batches):
            backward: list[tuple[int, int, int]] = [(Kind.BACKWARD + kept, device, part)]
            if part in early:
                backward.insert(0, (Kind.RECOMPUTE, device, part))
            following = part + to_end
            forward: list[tuple[int, int, int]] = (
                [(Kind.FORWARD, device, following)] if following < micro_batches else []
            )
            swaps = self.variant == "full_critical_path" and to_end == 2 and part == 0
            order += forward + backward if swaps else backward + forward
        return listed(order)

    def _early(self, to_end: int, micro_batches: int) -> Sequence[int]:
        """Micro-batches whose activations are computed again before the gradient arrives."""
        drain = range(max(micro_batches - to_end + 1, 0), micro_batches)
        if self.variant == "pre_recompute" or to_end == 1:
            return drain
        if to_end == 2:
            return range(2 if self.variant == "full_critical_path" else 1)
        return [0, *drain] if self.variant == "full_critical_path" and to_end == 3 else drain
