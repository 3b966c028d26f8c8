"""The analytic simulator: (network, plan, array, hardware, accounting) -> report."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import Choices, Plan
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.cost_model import PAPER, SHARED, CostModel, KindCosts
from hypar_exp.simulation.energy import StepEnergy
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.interconnect.links import Interconnect
from hypar_exp.simulation.memory import LeafMemory, leaf_memory
from hypar_exp.simulation.memory_model import MemoryModel
from hypar_exp.simulation.report import StepReport
from hypar_exp.simulation.topology import AcceleratorArray


def simulate(
    network: Network,
    plan: Plan | Choices,
    array: AcceleratorArray,
    hardware: Hardware,
    accounting: Accounting,
    batch_size: int = 256,
    interconnect: Interconnect = SHARED,
    memory_model: MemoryModel = PAPER,
) -> StepReport:
    """Simulate one step of a plan, or of its choices alone; the other arguments are those of `CostModel`.

    Raises:
        UserError: a batch that is not a whole number above zero; else see `step_report`.
    """
    require_whole("", "batch_size", batch_size, least=1)
    return step_report(CostModel(network, array, hardware, accounting, batch_size, interconnect, memory_model), plan)


def step_report(model: CostModel, plan: Plan | Choices) -> StepReport:
    """One step under a plan: of training, or of inference where the accounting says so.

    Where an array has several kinds of accelerators, a layer waits for the slowest, and memory is that of the kind
    with the least to spare.

    Args:
        model: what the step costs.
        plan: the split of every layer at every level, or its choices alone.

    Raises:
        UserError: a plan of another shape, or a step that takes or costs nothing.
    """
    choices = Plan.of(plan).checked(model.array.levels, len(model.network.layers)).choices
    of_kinds = [_of_kind(costs, choices) for costs in model.kinds]
    fullest = max(of_kinds, key=lambda part: part.memory.total_bytes / part.capacity_bytes)
    report = StepReport(
        batch_size=model.batch_size,
        accelerators=model.accelerators,
        mac_time_s=np.max([part.mac_time_s for part in of_kinds], axis=0),
        dram_time_s=np.max([part.dram_time_s for part in of_kinds], axis=0),
        communication_bytes_by_level_and_layer=np.sum([part.communication_bytes for part in of_kinds], axis=0),
        communication_time_s_by_level=np.sum([part.communication_time_s for part in of_kinds], axis=0),
        energy=StepEnergy.sum([part.energy for part in of_kinds]),
        memory=fullest.memory,
        fits_in_memory=fullest.memory.total_bytes <= fullest.capacity_bytes,
    )
    _require_usable(report)
    return report


def _require_usable(report: StepReport) -> None:
    """Whatever a step is compared with is divided by its time and its energy.

    Raises:
        UserError: one of them is nothing, or no finite number.
    """
    if report.step_energy_j == 0:
        raise UserError(
            "a step costs no energy at all; one of hardware.addition_energy_j, hardware.multiplication_energy_j and "
            "hardware.dram_energy_j_per_element must be above 0"
        )
    for what, value, unit in (("takes", report.step_time_s, "s"), ("costs", report.step_energy_j, "J")):
        if not 0 < value < math.inf:
            raise UserError(f"a step {what} {value:g} {unit}, which cannot be used; look at the hardware's numbers")


@dataclass(frozen=True)
class _Part:
    """What the accelerators of one kind do of a step; times float64[layers], communication float64[levels, layers]."""

    mac_time_s: NDArray[np.float64]
    dram_time_s: NDArray[np.float64]
    communication_bytes: NDArray[np.float64]
    communication_time_s: NDArray[np.float64]
    """float64[levels]"""
    energy: StepEnergy
    memory: LeafMemory
    capacity_bytes: float


def _of_kind(costs: KindCosts, choices: Choices) -> _Part:
    """Simulate the accelerators of one kind, whose groups are `kind.group.weight` of all."""
    leaf = costs.leaf(costs.kind.group.leaf_counts(choices))
    communicated = costs.kind.group.weight * _by_layer(costs.model.network, costs, choices)
    communication_bytes = communicated * costs.hardware.element_bytes
    return _Part(
        mac_time_s=costs.arithmetic_time_s(leaf),
        dram_time_s=costs.dram_time_s(leaf),
        communication_bytes=communication_bytes,
        communication_time_s=costs.links.time_s(communication_bytes.sum(axis=1), _exchanges(costs, choices)),
        energy=costs.leaf_energy(leaf, (communicated * costs.energy_hops[:, None]).sum(axis=0)),
        memory=leaf_memory(costs, leaf),
        capacity_bytes=costs.hardware.dram_capacity_bytes,
    )


def _by_layer(network: Network, costs: KindCosts, choices: Choices) -> NDArray[np.float64]:
    """float64[levels, layers]: elements that all pairs of a level exchange; an edge's count for its consumer."""
    amounts = costs.exchanged(choices[None])
    communicated: NDArray[np.float64] = amounts.within[0].copy()
    np.add.at(communicated.T, network.edge_consumers, amounts.between[0].T)
    return communicated


def _exchanges(costs: KindCosts, choices: Choices) -> NDArray[np.float64] | None:
    """float64[levels]: how many tensors a pair of each level exchanges, where that takes time."""
    if not costs.links.has_latency:
        return None
    by_level: NDArray[np.float64] = costs.tables.counting().look_up(choices[None]).by_level[0]
    return by_level
