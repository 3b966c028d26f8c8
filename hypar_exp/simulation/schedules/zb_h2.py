"""ZB-H2: twice 1F1B's activations, and no bubble between a device's first and last operation (Qi et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import MadeForDurations, pulled_together, split_one_forward_one_backward
from hypar_exp.simulation.operations import Order, one_each


@dataclass(frozen=True)
class ZeroBubbleH2(MadeForDurations):
    """1F1B with a warm-up of 2(p - s) - 1 and the gradients apart, at most 2p activations on a device."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return one_each(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        patterns = [
            split_one_forward_one_backward(device, 2 * (devices - device) - 1, micro_batches)
            for device in range(devices)
        ]
        return pulled_together(patterns, self.placement(devices), 2 * devices, self.durations)
