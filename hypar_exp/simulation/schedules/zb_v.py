"""ZB-V: two chunks a device in the shape of a V, 1F1B's activations and next to no bubble inside (Qi et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import Operation
from hypar_exp.simulation.operations import Kind
from hypar_exp.simulation.schedules.v_shaped import VShaped


@dataclass(frozen=True)
class ZeroBubbleV(VShaped):
    """V-Half's pattern at half the pace, and so twice its activations: 2p of half a stage each."""

    def _starts(self, device: int, devices: int) -> list[Operation]:
        turn = 6 * (devices - 1)
        return [
            (Kind.FORWARD, device, 4 * device),
            (Kind.FORWARD, 2 * devices - 1 - device, turn + 1 - 2 * device),
            (Kind.INPUT_GRADIENT, 2 * devices - 1 - device, turn + 2 + 4 * device),
            (Kind.INPUT_GRADIENT, device, 2 * turn + 3 - 2 * device),
        ]

    def _limit(self, starts: Sequence[Sequence[Operation]]) -> int:
        return 2 * len(starts)
