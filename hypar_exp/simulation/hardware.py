"""One accelerator: an HMC with a spatial processing-element array on its logic die."""

from __future__ import annotations

from dataclasses import dataclass

from hypar_exp.checks import require_number, require_whole


@dataclass(frozen=True)
class Hardware:
    """What one accelerator can do and what it costs; all units are SI.

    Raises:
        UserError: a number that is not finite, not positive (energies: below zero), or a utilisation above 1.
    """

    name: str
    processing_elements: int
    operations_per_s_per_pe: float
    """Additions and multiplications of one processing element, 2 a multiply-accumulate."""
    utilisation: float
    """Share of the peak that the processing elements reach, 0 to 1."""
    link_bandwidth_bits_per_s: float
    """Rate at which the array exchanges tensors."""
    dram_bandwidth_bytes_per_s: float
    dram_capacity_bytes: float
    element_bytes: int
    addition_energy_j: float
    multiplication_energy_j: float
    sram_energy_j_per_access: float
    dram_energy_j_per_element: float
    half_efficiency_batch: float = 0.0
    """Samples with which an accelerator reaches half of its sustained rate: b of them take as long as b + this many."""

    def __post_init__(self) -> None:
        require_whole("hardware", "processing_elements", self.processing_elements, least=1)
        require_whole("hardware", "element_bytes", self.element_bytes, least=1)
        require_number("hardware", self, "utilisation", most=1.0)
        require_number(
            "hardware",
            self,
            "operations_per_s_per_pe",
            "link_bandwidth_bits_per_s",
            "dram_bandwidth_bytes_per_s",
            "dram_capacity_bytes",
        )
        require_number(
            "hardware",
            self,
            "addition_energy_j",
            "multiplication_energy_j",
            "sram_energy_j_per_access",
            "dram_energy_j_per_element",
            "half_efficiency_batch",
            above=None,
        )

    @property
    def peak_operations_per_s(self) -> float:
        return self.processing_elements * self.operations_per_s_per_pe

    @property
    def sustained_operations_per_s(self) -> float:
        return self.peak_operations_per_s * self.utilisation

    @property
    def mac_energy_j(self) -> float:
        return self.addition_energy_j + self.multiplication_energy_j
