"""DualPipe: two directions whose forwards and backwards run at the same time, exchanges hidden (DeepSeek-V3, 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError
from hypar_exp.simulation.operations import Order, both_ways
from hypar_exp.simulation.schedules.two_streams import TwoStreams


@dataclass(frozen=True)
class DualPipe:
    """Every device has the weights of two stages; the first half of the micro-batches goes down the devices."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return both_ways(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        if devices % 2 or micro_batches % 2 or micro_batches < 2 * devices:
            raise UserError(
                "schedule dualpipe takes an even number of devices and of micro-batches, at least two micro-batches a "
                f"device (got {micro_batches} micro-batches on {devices} devices)"
            )
        half = micro_batches // 2
        down, up = range(half), range(half, micro_batches)
        orders = []
        for device in range(devices):
            other = devices - 1 - device
            streams = [(device, down), (other, up)] if device < other else [(other, up), (device, down)]
            orders.append(TwoStreams(streams).order(min(device, other), devices // 2))
        return orders
