"""The numbers of every layer as CSV, with units in the column names."""

from __future__ import annotations

from hypar_exp.networks import Network
from hypar_exp.simulation import StepReport
from hypar_exp.text_files import csv_text


def layer_csv(network: Network, report: StepReport) -> str:
    """One row a layer: what it is and what it costs in a step (times and energies of the whole array)."""
    columns = {
        "compute_time_s": report.compute_time_s_by_layer,
        "dram_bound": report.dram_bound_layers.astype(int),
        "communication_bytes": report.communication_bytes_by_layer,
        "mac_energy_j": report.energy.mac_j,
        "sram_energy_j": report.energy.sram_j,
        "dram_energy_j": report.energy.dram_j,
        "communication_energy_j": report.energy.communication_j,
    }
    rows: list[list[object]] = [
        ["layer", "kind", "input", "output", "weights", "macs_at_input", "macs_at_output", *columns]
    ]
    for at, layer in enumerate(network.layers):
        described = [layer.name, layer.kind, layer.input, layer.output]
        counted = [layer.weights, layer.macs_at_input, layer.macs_at_output]
        rows.append([*described, *counted, *(f"{values[at]:.9g}" for values in columns.values())])
    return csv_text(rows)
