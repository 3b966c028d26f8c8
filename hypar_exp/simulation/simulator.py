"""The analytic simulator: (network, plan, array, hardware, accounting) -> report."""

from __future__ import annotations

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.networks import Network
from hypar_exp.planning import Plan, checked_plan, choices_above, plan_communication, shard
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.energy import step_energy
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.memory import inference_memory, training_memory
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

    Args:
        network: the network.
        plan: uint8[levels, layers], the split of every layer at every level.
        array: 2^levels accelerators and their topology.
        hardware: one accelerator.
        accounting: what the step is charged for.
        batch_size: samples a step; where 2^levels does not divide it, shares are fractions of a sample.

    Raises:
        UserError: a plan of another shape, or a batch that is not a whole number above zero.
    """
    require_whole("", "batch_size", batch_size, least=1)
    plan = checked_plan(plan, array.levels, len(network.layers))
    count = accelerators(array)
    macs = accounting.macs_of_step(network, batch_size)
    leaf = shard(network, batch_size, choices_above(plan)[-1])
    leaf_dram_elements = accounting.dram_elements(leaf)
    amounts = plan_communication(network, batch_size, accounting.communication, plan[None])
    communicated = amounts.within[0].copy()
    np.add.at(communicated.T, network.edge_consumers, amounts.between[0].T)
    communication_bytes = communicated * hardware.element_bytes
    measure = inference_memory if accounting.forward_only else training_memory
    memory = measure(network, leaf, hardware.element_bytes)
    return StepReport(
        batch_size=batch_size,
        accelerators=count,
        mac_time_s=mac_time_s(macs, hardware, count),
        dram_time_s=dram_time_s(leaf_dram_elements, hardware),
        communication_bytes_by_level_and_layer=communication_bytes,
        communication_time_s_by_level=communication_time_s(communication_bytes.sum(axis=1), hardware, array.hop_factor),
        energy=step_energy(macs, count * leaf_dram_elements, communicated.sum(axis=0), hardware, accounting),
        memory=memory,
        fits_in_memory=memory.total_bytes <= hardware.dram_capacity_bytes,
    )
