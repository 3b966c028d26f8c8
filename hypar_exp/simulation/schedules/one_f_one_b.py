"""1F1B: after a warm-up every device runs one forward and one backward in turn (PipeDream-flush, DAPPLE)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hypar_exp.errors import UserError
from hypar_exp.simulation.operations import Kind, Order, one_each, one_forward_one_backward, run


@dataclass(frozen=True)
class OneFOneB:
    """A warm-up of forwards, then a forward after every backward.

    Attributes:
        warm_up: forwards before a device's first backward: on device s of p `short` is p - s, and `long` is
            2(p - s) - 1, which hides boundaries at up to twice the activations (DAPPLE's policies A and B, Fan et al.,
            2021); or a number for each device. Never more than there are micro-batches.
        together: after the warm-up a forward and a backward run at the same time, exchanges of each hidden under the
            other's compute.
    """

    warm_up: Literal["short", "long"] | Sequence[int] = "short"
    together: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.warm_up, str):
            if self.warm_up not in ("short", "long"):
                raise UserError(f"schedule.warm_up must be short, long or a list of numbers (got {self.warm_up!r})")
        elif min(self.warm_up, default=1) < 1:
            raise UserError(f"schedule.warm_up must be at least 1 on every device (got {list(self.warm_up)})")
        else:
            object.__setattr__(self, "warm_up", tuple(self.warm_up))

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return one_each(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        return [
            self._order(device, micro_batches, min(warm_up, micro_batches))
            for device, warm_up in enumerate(self._warm_ups(devices))
        ]

    def _warm_ups(self, devices: int) -> Sequence[int]:
        if self.warm_up == "short":
            return range(devices, 0, -1)
        if self.warm_up == "long":
            return range(2 * devices - 1, 0, -2)
        if len(self.warm_up) != devices:
            raise UserError(
                f"schedule.warm_up has {len(self.warm_up)} numbers where the pipeline has {devices} devices"
            )
        return [int(number) for number in self.warm_up]

    def _order(self, device: int, micro_batches: int, warm_up: int) -> Order:
        parts = np.arange(micro_batches)
        forward, backward = run(Kind.FORWARD, device, parts), run(Kind.BACKWARD, device, parts)
        return one_forward_one_backward(forward, backward, warm_up, self.together)
