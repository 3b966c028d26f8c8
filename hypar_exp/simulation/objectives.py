"""What a plan can be the best for: the simulator's own time or energy, or the paper's stand-in, communication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import StepCosts, shard
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.energy import step_energy
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.hetero import MixedArray
from hypar_exp.simulation.time import communication_time_s, compute_time_s, dram_time_s, mac_time_s
from hypar_exp.simulation.topology import AcceleratorArray, accelerators


class Objective(Protocol):
    """What a strategy makes least; a user's own objective needs no more than this."""

    @property
    def name(self) -> str: ...

    def costs(
        self, network: Network, batch_size: int, array: AcceleratorArray, hardware: Hardware, accounting: Accounting
    ) -> StepCosts:
        """What a plan pays on this array, as a sum over exchanged elements and layers."""
        ...


@dataclass(frozen=True)
class Communication:
    """Bytes that the whole array exchanges in a step."""

    name: str = "communication"

    def costs(
        self, network: Network, batch_size: int, array: AcceleratorArray, hardware: Hardware, accounting: Accounting
    ) -> StepCosts:
        return StepCosts(self.name, per_exchanged_element=hardware.element_bytes)


@dataclass(frozen=True)
class Time:
    """Seconds of a step: compute under the DRAM roofline, and communication over the array's hops."""

    name: str = "time"

    def costs(
        self, network: Network, batch_size: int, array: AcceleratorArray, hardware: Hardware, accounting: Accounting
    ) -> StepCosts:
        _require_one_kind(self.name, array)
        arithmetic = mac_time_s(accounting.macs_of_step(network, batch_size), hardware, accelerators(array))

        def per_layer(counts: NDArray[np.integer]) -> NDArray[np.float64]:
            leaf = shard(network, batch_size, counts)
            return compute_time_s(arithmetic, dram_time_s(accounting.dram_elements(leaf), hardware))

        one_element = np.array(float(hardware.element_bytes))
        return StepCosts(
            self.name,
            float(communication_time_s(one_element, hardware.link_bandwidth_bits_per_s, array.hop_factor)),
            per_layer,
        )


@dataclass(frozen=True)
class Energy:
    """Joules of a step: arithmetic, DRAM and communication."""

    name: str = "energy"

    def costs(
        self, network: Network, batch_size: int, array: AcceleratorArray, hardware: Hardware, accounting: Accounting
    ) -> StepCosts:
        _require_one_kind(self.name, array)
        macs = accounting.macs_of_step(network, batch_size)

        def per_layer(counts: NDArray[np.integer]) -> NDArray[np.float64]:
            traffic = accelerators(array) * accounting.dram_elements(shard(network, batch_size, counts))
            return step_energy(macs, traffic, np.zeros_like(traffic), hardware, accounting).by_layer_j

        none = np.zeros(1)
        one_element = step_energy(none, none, np.ones(1), hardware, accounting)
        return StepCosts(self.name, float(one_element.by_layer_j[0]), per_layer)


def _require_one_kind(objective: str, array: AcceleratorArray) -> None:
    if isinstance(array, MixedArray):
        raise UserError(
            f"objective={objective} is a sum over accelerators of one kind, and array={array.name} has several; "
            "objective=communication is there for any array"
        )
