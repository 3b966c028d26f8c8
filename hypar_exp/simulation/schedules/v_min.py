"""V-Min: two chunks a device in the shape of a V, a third of 1F1B's activations (Qi et al., 2024)."""

from __future__ import annotations

from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import Operation
from hypar_exp.simulation.operations import Kind
from hypar_exp.simulation.schedules.v_shaped import VShaped


@dataclass(frozen=True)
class VMin(VShaped):
    """Every operation of the pattern follows its predecessor at once: the shortest lives that activations can have."""

    def _starts(self, device: int, devices: int) -> list[Operation]:
        gap = 2 if devices % 3 == 0 else 0  # no two operations of a device at once
        return [
            (Kind.FORWARD, device, device),
            (Kind.FORWARD, 2 * devices - 1 - device, 2 * devices - 1 - device),
            (Kind.INPUT_GRADIENT, 2 * devices - 1 - device, 2 * devices + gap + device),
            (Kind.INPUT_GRADIENT, device, 4 * devices + gap - 1 - device),
        ]
