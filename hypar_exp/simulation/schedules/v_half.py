"""V-Half: two chunks a device in the shape of a V, half of 1F1B's activations (Qi et al., 2024)."""

from __future__ import annotations

from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import Operation
from hypar_exp.simulation.operations import Kind
from hypar_exp.simulation.schedules.v_shaped import VShaped


@dataclass(frozen=True)
class VHalf(VShaped):
    """Half the bubble of 1F1B: down the V an operation follows its predecessor after one place, up the V at once."""

    def _starts(self, device: int, devices: int) -> list[Operation]:
        gap = 3 if devices % 2 == 0 else 0  # no two operations of a device at once
        return [
            (Kind.FORWARD, device, 2 * device),
            (Kind.FORWARD, 2 * devices - 1 - device, 3 * devices - 2 - device),
            (Kind.INPUT_GRADIENT, 2 * devices - 1 - device, 3 * devices - 1 + gap + 2 * device),
            (Kind.INPUT_GRADIENT, device, 6 * devices - 2 + gap - device),
        ]
