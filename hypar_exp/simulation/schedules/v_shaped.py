"""What the schedules of two chunks a device in the shape of a V have in common (Qi et al., 2024)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import MadeForDurations, Operation, most_alive, pulled_together, repeated
from hypar_exp.simulation.operations import Order, v_shaped

PERIOD = 6
"""F, I and W of two chunks."""


@dataclass(frozen=True)
class VShaped(MadeForDurations, ABC):
    """A pattern of one micro-batch, repeated and pulled together."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return v_shaped(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        starts = [self._starts(device, devices) for device in range(devices)]
        patterns = repeated(starts, PERIOD, micro_batches)
        return pulled_together(patterns, self.placement(devices), self._limit(starts), self.durations)

    @abstractmethod
    def _starts(self, device: int, devices: int) -> list[Operation]:
        """The operations of a micro-batch on a device: kind, chunk and start, in durations of one."""

    def _limit(self, starts: Sequence[Sequence[Operation]]) -> int:
        """Activations that a device may keep: what the pattern itself does."""
        return most_alive(starts, PERIOD)
