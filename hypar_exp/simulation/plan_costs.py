"""Many plans at once: the simulator's communication and step time, by look-up, for whole plan spaces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning import AmountTables, CostedPlans, Plan, shard
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.hetero import AcceleratorKind, kinds_of
from hypar_exp.simulation.time import communication_time_s, compute_time_s, dram_time_s, mac_time_s
from hypar_exp.simulation.topology import AcceleratorArray

PLANS_PER_CHUNK = 8192


@dataclass(frozen=True)
class PlanCosts:
    """Costs plans as `simulate` does, millions a second; the arguments are those of `simulate`."""

    network: Network
    array: AcceleratorArray
    hardware: Hardware
    accounting: Accounting
    batch_size: int = 256

    def of(self, plans: Plan) -> CostedPlans:
        """The costs of plans, uint8[plans, levels, layers], in little more memory than the plans and their costs.

        Raises:
            UserError: a plan uses a split that is not priced.
        """
        communication_bytes, step_time_s = np.empty(len(plans)), np.empty(len(plans))
        for start in range(0, len(plans), PLANS_PER_CHUNK):
            chunk = slice(start, start + PLANS_PER_CHUNK)
            communication_bytes[chunk], exchange_time_s = self._exchange(plans[chunk])
            step_time_s[chunk] = exchange_time_s + self._compute_time_s(plans[chunk])
        return CostedPlans(communication_bytes, step_time_s)

    def _exchange(self, plans: Plan) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bytes that the array exchanges, and the time that takes: float64[plans] each."""
        sent_bytes, time_s = np.zeros(len(plans)), np.zeros(len(plans))
        for kind, tables in zip(self._kinds, self._tables, strict=True):
            amounts = tables.look_up(plans)
            elements = amounts.within.sum(axis=2) + amounts.between.sum(axis=2)
            by_level = kind.group.weight * kind.hardware.element_bytes * elements
            rates = kind.link_bandwidth_bits_per_s
            time_s += communication_time_s(by_level, rates, self.array.hop_factor).sum(axis=1)
            sent_bytes += by_level.sum(axis=1)
        return sent_bytes, time_s

    @cached_property
    def _kinds(self) -> tuple[AcceleratorKind, ...]:
        return kinds_of(self.array, self.hardware)

    @cached_property
    def _tables(self) -> list[AmountTables]:
        """For each kind what the array would exchange if all groups were of it."""
        model, levels = self.accounting.communication, self.array.levels
        groups = [replace(kind.group, weight=1.0) for kind in self._kinds]
        return [AmountTables(self.network, self.batch_size, model, levels, (group,)) for group in groups]

    @cached_property
    def _compute_time_by_state_s(self) -> NDArray[np.float64]:
        """float64[layers, states]: the roofline of each layer in each state of its leaf accelerators, slowest kind."""
        macs = self.accounting.macs_of_step(self.network, self.batch_size)
        times_s = []
        for kind, tables in zip(self._kinds, self._tables, strict=True):
            counts = np.repeat(tables.leaf_counts[0][:, None], len(self.network.layers), axis=1)
            dram_elements = self.accounting.dram_elements(shard(self.network, self.batch_size, counts))
            arithmetic_s = mac_time_s(macs, kind.hardware, 1 / kind.group.share_of_all(self.array.levels))
            times_s.append(compute_time_s(arithmetic_s, dram_time_s(dram_elements, kind.hardware)))
        slowest_s: NDArray[np.float64] = np.max(times_s, axis=0).T
        return slowest_s

    def _compute_time_s(self, plans: Plan) -> NDArray[np.float64]:
        by_state = self._compute_time_by_state_s
        if (by_state == by_state[:, :1]).all():  # arithmetic bounds every layer, whatever the plan
            return np.broadcast_to(by_state[:, 0].sum(), len(plans))
        states = self._tables[0].leaf_states(plans)
        time_s: NDArray[np.float64] = by_state[np.arange(len(by_state)), states].sum(axis=-1)
        return time_s
