"""GPipe: all micro-batches forward, then all of them backward (Huang et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hypar_exp.simulation.operations import Kind, Order, in_sequence, one_each, run


@dataclass(frozen=True)
class GPipe:
    """Every device keeps the activations of all micro-batches."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return one_each(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        parts = np.arange(micro_batches)
        return [
            in_sequence(run(Kind.FORWARD, device, parts), run(Kind.BACKWARD, device, parts))
            for device in range(devices)
        ]
