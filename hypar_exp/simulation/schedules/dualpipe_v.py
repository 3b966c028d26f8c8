"""DualPipe-V: DualPipe folded into a V, so that no weights are there twice (Sea AI Lab and DeepSeek, 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError
from hypar_exp.simulation.operations import Order, v_shaped
from hypar_exp.simulation.schedules.two_streams import TwoStreams


@dataclass(frozen=True)
class DualPipeV:
    """Every micro-batch goes down the devices and back up; both ways run at the same time."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return v_shaped(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        if micro_batches < 2 * devices:
            raise UserError(
                "schedule dualpipe_v takes at least two micro-batches a device "
                f"(got {micro_batches} micro-batches on {devices} devices)"
            )
        parts = range(micro_batches)
        return [
            TwoStreams([(first, parts), (second, parts)]).order(device, devices)
            for device, (first, second) in enumerate(self.placement(devices))
        ]
