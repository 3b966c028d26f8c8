"""Inference: forwards only, and no activations kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hypar_exp.simulation.operations import Kind, Order, one_each, run


@dataclass(frozen=True)
class Inference:
    """Every device runs the forwards of all micro-batches as they come."""

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return one_each(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        return [run(Kind.FORWARD, device, np.arange(micro_batches)) for device in range(devices)]
