"""V-Half: two chunks a device in the shape of a V, half of 1F1B's activations (Qi et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import ALIKE, Durations, most_alive, pulled_together, repeated
from hypar_exp.simulation.operations import Kind, Order, v_shaped

PERIOD = 6
"""F, I and W of two chunks."""


@dataclass(frozen=True)
class VHalf:
    """Half the bubble of 1F1B: down the V an operation follows its predecessor after one place, up the V at once.

    Attributes:
        durations: what the order is made for; alike for all operations, as in the paper, unless given.
    """

    durations: Durations = ALIKE

    def __post_init__(self) -> None:
        object.__setattr__(self, "durations", Durations(*self.durations))

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return v_shaped(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        starts = [_starts(device, devices) for device in range(devices)]
        patterns = repeated(starts, PERIOD, micro_batches)
        return pulled_together(patterns, self.placement(devices), most_alive(starts, PERIOD), self.durations)


def _starts(device: int, devices: int) -> list[tuple[int, int, int]]:
    gap = 3 if devices % 2 == 0 else 0  # no two operations of a device at once
    return [
        (Kind.FORWARD, device, 2 * device),
        (Kind.FORWARD, 2 * devices - 1 - device, 3 * devices - 2 - device),
        (Kind.INPUT_GRADIENT, 2 * devices - 1 - device, 3 * devices - 1 + gap + 2 * device),
        (Kind.INPUT_GRADIENT, device, 6 * devices - 2 + gap - device),
    ]
