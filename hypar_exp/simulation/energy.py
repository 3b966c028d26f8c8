"""Step energy by part, for every layer, summed over the array; it does not depend on the topology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.hardware import Hardware


@dataclass(frozen=True)
class StepEnergy:
    """Joules of one step by part and layer; every array is float64[layers]."""

    mac_j: NDArray[np.float64]
    sram_j: NDArray[np.float64]
    dram_j: NDArray[np.float64]
    communication_j: NDArray[np.float64]

    @classmethod
    def sum(cls, energies: Sequence[StepEnergy]) -> StepEnergy:
        """The energy of several parts of an array."""
        names = [part.name for part in fields(cls)]
        return cls(**{name: np.sum([getattr(energy, name) for energy in energies], axis=0) for name in names})

    @property
    def by_part_j(self) -> dict[str, float]:
        """Part -> joules of the whole step."""
        return {part.name.removesuffix("_j"): float(getattr(self, part.name).sum()) for part in fields(self)}

    @property
    def by_layer_j(self) -> NDArray[np.float64]:
        return self.mac_j + self.sram_j + self.dram_j + self.communication_j


def step_energy(
    macs: NDArray[np.float64],
    dram_elements: NDArray[np.float64],
    communicated_elements: NDArray[np.float64],
    hardware: Hardware,
    accounting: Accounting,
) -> StepEnergy:
    """Energy of a step.

    Args:
        macs: float64[layers], multiply-accumulates of all phases and the whole batch.
        dram_elements: float64[layers], DRAM traffic of all accelerators together (replicas count).
        communicated_elements: float64[layers], elements exchanged over all levels.
        hardware: energies of one operation or access.
        accounting: accesses that an operation or an exchanged element costs.
    """
    communication_accesses = accounting.dram_accesses_per_communicated_element * communicated_elements
    return StepEnergy(
        mac_j=macs * hardware.mac_energy_j,
        sram_j=macs * accounting.sram_accesses_per_mac * hardware.sram_energy_j_per_access,
        dram_j=dram_elements * hardware.dram_energy_j_per_element,
        communication_j=communication_accesses * hardware.dram_energy_j_per_element,
    )
