"""A workload, an experiment that is no step: which layers of a network are bound by memory on one accelerator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hypar_exp.systems import Chart, Findings, Setting, Table


@dataclass(frozen=True)
class Intensity:
    """Multiply-accumulates a byte of each layer's forward phase, each tensor touched once, against the roofline.

    Attributes:
        uses: the keys of the configuration that decide what comes out.
    """

    name: str = "intensity"
    uses: ClassVar[tuple[str, ...]] = ("network", "hardware", "batch_size")

    def run(self, setting: Setting) -> Findings:
        """A row a layer, and the roofline with the layers on it."""
        hardware, batch = setting.hardware, setting.batch_size
        peak = hardware.sustained_operations_per_s / 2
        ridge = peak / hardware.dram_bandwidth_bytes_per_s
        rows: list[tuple[str, float, float, str]] = []
        for layer in setting.network.layers:
            elements = layer.weights + batch * (layer.input.elements + layer.output.elements)
            intensity = batch * layer.macs_at_output / (elements * hardware.element_bytes)
            reached = min(peak, intensity * hardware.dram_bandwidth_bytes_per_s)
            rows.append((layer.name, intensity, reached, "memory" if intensity < ridge else "arithmetic"))
        bound = sum(row[3] == "memory" for row in rows)
        points = sorted((intensity, reached) for _, intensity, reached, _ in rows)
        return Findings(
            title=f"{setting.network.name} on {hardware.name}, batch {batch}",
            words=[f"{bound} of {len(rows)} layers have fewer than {ridge:.3g} multiply-accumulates a byte"],
            tables=[Table("layers", ["layer", "MACs a byte", "MACs a second", "bound by"], rows)],
            metrics={"memory_bound_layers": float(bound), "ridge_macs_per_byte": ridge},
            chart=Chart(
                "Roofline", "multiply-accumulates a byte", "multiply-accumulates a second",
                {"layers": ([x for x, _ in points], [y for _, y in points])}, log_x=True, log_y=True,
            ),
        )  # fmt: skip
