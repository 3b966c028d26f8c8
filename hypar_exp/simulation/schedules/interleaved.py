"""Interleaved 1F1B: every device holds several chunks, far apart in the network (Narayanan et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.simulation.operations import Kind, Order, one_forward_one_backward, run


@dataclass(frozen=True)
class Interleaved:
    """The bubble of 1F1B divided by the chunks, for as many times the boundaries.

    Attributes:
        chunks: chunk c of p x this many is on device c modulo p.
        together: as in 1F1B, a forward and a backward at the same time after the warm-up.
    """

    chunks: int = 2
    together: bool = False

    def __post_init__(self) -> None:
        require_whole("schedule", "chunks", self.chunks, least=1)

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return [range(device, devices * self.chunks, devices) for device in range(devices)]

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        if micro_batches % devices:
            raise UserError(
                "schedule interleaved takes a multiple of the devices as micro-batches "
                f"(got {micro_batches} micro-batches on {devices} devices)"
            )
        turn = np.arange(micro_batches * self.chunks)
        round_, place = np.divmod(turn, devices * self.chunks)
        part, chunk = round_ * devices + place % devices, place // devices
        last = self.chunks - 1
        orders = []
        for device in range(devices):
            forward = run(Kind.FORWARD, chunk * devices + device, part)
            backward = run(Kind.BACKWARD, (last - chunk) * devices + device, part)
            warm_up = min(2 * (devices - device - 1) + last * devices + 1, len(turn))
            orders.append(one_forward_one_backward(forward, backward, warm_up, self.together))
        return orders
