"""ZB-V: two chunks a device in the shape of a V, 1F1B's activations and next to no bubble inside (Qi et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import ALIKE, Durations, pulled_together, repeated
from hypar_exp.simulation.operations import Kind, Order, v_shaped

PERIOD = 6
"""F, I and W of two chunks."""


@dataclass(frozen=True)
class ZeroBubbleV:
    """V-Half's pattern at half the pace, and so twice its activations: 2p of half a stage each.

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
        return pulled_together(patterns, self.placement(devices), 2 * devices, self.durations)


def _starts(device: int, devices: int) -> list[tuple[int, int, int]]:
    turn = 6 * (devices - 1)
    return [
        (Kind.FORWARD, device, 4 * device),
        (Kind.FORWARD, 2 * devices - 1 - device, turn + 1 - 2 * device),
        (Kind.INPUT_GRADIENT, 2 * devices - 1 - device, turn + 2 + 4 * device),
        (Kind.INPUT_GRADIENT, device, 2 * turn + 3 - 2 * device),
    ]
