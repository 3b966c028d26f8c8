"""A schedule: one micro-batch at a time through the whole pipeline, the least activations and the most waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.operations import Kind, Order, in_sequence, run


@dataclass(frozen=True)
class Serial:
    """A device begins a micro-batch when the one before it is done, so that it keeps one at a time."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        """A chunk of layers on each device, in order."""
        return [[device] for device in range(devices)]

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        """On each device forward and backward of a micro-batch, then of the next."""
        parts = range(micro_batches)
        return [
            in_sequence(*(run(kind, device, part) for part in parts for kind in (Kind.FORWARD, Kind.BACKWARD)))
            for device in range(devices)
        ]
