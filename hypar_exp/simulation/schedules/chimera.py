"""Chimera: two 1F1B pipelines in opposite directions on the same devices (Li and Hoefler, SC 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError
from hypar_exp.simulation.operations import Kind, Order, both_ways, listed


@dataclass(frozen=True)
class Chimera:
    """Units of as many micro-batches as devices, half of them each way, one unit directly after the other.

    Even micro-batches go down the devices, odd ones up; every device has the weights of two stages.
    """

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return both_ways(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        if devices % 2 or micro_batches % devices:
            raise UserError(
                "schedule chimera takes an even number of devices and a multiple of it as micro-batches "
                f"(got {micro_batches} micro-batches on {devices} devices)"
            )
        return [_order(device, devices, micro_batches) for device in range(devices)]


def _order(device: int, devices: int, micro_batches: int) -> Order:
    """By the start of an operation where every forward and backward takes 1; the two directions never meet."""
    moments = []
    for part in range(micro_batches):
        unit, place = divmod(part // 2, devices // 2)
        chunk = devices - 1 - device if part % 2 else device
        begin = 2 * (devices * unit + place)
        moments.append((begin + chunk, Kind.FORWARD, chunk, part))
        moments.append((begin + 2 * devices - 1 - chunk, Kind.BACKWARD, chunk, part))
    return listed((kind, chunk, part) for _, kind, chunk, part in sorted(moments))
