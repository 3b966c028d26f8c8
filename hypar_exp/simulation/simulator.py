"""The analytic simulator: (network, plan, array, hardware, accounting) -> report."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import Plan, checked_plan, plan_communication, shard
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.energy import StepEnergy, step_energy
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.hetero import AcceleratorKind, kinds_of
from hypar_exp.simulation.memory import LeafMemory, inference_memory, training_memory
from hypar_exp.simulation.report import StepReport
from hypar_exp.simulation.time import communication_time_s, dram_time_s, mac_time_s
from hypar_exp.simulation.topology import AcceleratorArray, accelerators


def simulate(
    network: Network,
    plan: Plan,
    array: AcceleratorArray,
    hardware: Hardware,
    accounting: Accounting,
    batch_size: int = 256,
) -> StepReport:
    """Simulate one step: of training, or of inference where the accounting says so.

    Where an array has several kinds of accelerators, a layer waits for the slowest, and memory is that of the kind
    with the least to spare.

    Args:
        network: the network.
        plan: uint8[levels, layers], the split of every layer at every level.
        array: 2^levels accelerators and their topology.
        hardware: one accelerator; the first kind's where the array has several.
        accounting: what the step is charged for.
        batch_size: samples a step; where 2^levels does not divide it, shares are fractions of a sample.

    Raises:
        UserError: a plan of another shape, a batch that is not a whole number above zero, or a step that takes or costs
            nothing.
    """
    require_whole("", "batch_size", batch_size, least=1)
    plan = checked_plan(plan, array.levels, len(network.layers))
    of_kinds = [_of_kind(kind, network, plan, array, accounting, batch_size) for kind in kinds_of(array, hardware)]
    fullest = max(of_kinds, key=lambda part: part.memory.total_bytes / part.capacity_bytes)
    report = StepReport(
        batch_size=batch_size,
        accelerators=accelerators(array),
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


def _of_kind(
    kind: AcceleratorKind,
    network: Network,
    plan: Plan,
    array: AcceleratorArray,
    accounting: Accounting,
    batch_size: int,
) -> _Part:
    """Simulate the accelerators of one kind, whose groups are `kind.group.weight` of all."""
    hardware, weight = kind.hardware, kind.group.weight
    share_of_one = kind.group.share_of_all(array.levels)
    macs = accounting.macs_of_step(network, batch_size)
    leaf = shard(network, batch_size, kind.group.leaf_counts(plan))
    leaf_dram_elements = accounting.dram_elements(leaf)
    alone = replace(kind.group, weight=1.0)
    amounts = plan_communication(network, batch_size, accounting.communication, plan[None], (alone,))
    communicated = weight * amounts.within[0]
    np.add.at(communicated.T, network.edge_consumers, weight * amounts.between[0].T)
    communication_bytes = communicated * hardware.element_bytes
    count = weight * accelerators(array)
    measure = inference_memory if accounting.forward_only else training_memory
    return _Part(
        mac_time_s=mac_time_s(macs, hardware, 1 / share_of_one),
        dram_time_s=dram_time_s(leaf_dram_elements, hardware),
        communication_bytes=communication_bytes,
        communication_time_s=communication_time_s(
            communication_bytes.sum(axis=1), kind.link_bandwidth_bits_per_s, array.hop_factor
        ),
        energy=step_energy(
            count * share_of_one * macs, count * leaf_dram_elements, communicated.sum(axis=0), hardware, accounting
        ),
        memory=measure(network, leaf, hardware.element_bytes),
        capacity_bytes=hardware.dram_capacity_bytes,
    )
