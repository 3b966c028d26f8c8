"""Many plans at once: the simulator's communication and step time, by look-up, for whole plan spaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning import AmountTables, CostedPlans, Plan, shard
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.time import communication_time_s, dram_time_s, mac_time_s
from hypar_exp.simulation.topology import AcceleratorArray, accelerators

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
        elements, compute_time_s = np.empty(len(plans)), np.empty(len(plans))
        for start in range(0, len(plans), PLANS_PER_CHUNK):
            chunk = slice(start, start + PLANS_PER_CHUNK)
            amounts = self._tables.look_up(plans[chunk])
            elements[chunk] = amounts.within.sum(axis=(1, 2)) + amounts.between.sum(axis=(1, 2))
            compute_time_s[chunk] = self._compute_time_s(plans[chunk])
        communication_bytes = elements * self.hardware.element_bytes
        exchange_time_s = communication_time_s(communication_bytes, self.hardware, self.array.hop_factor)
        return CostedPlans(communication_bytes, compute_time_s + exchange_time_s)

    @cached_property
    def _tables(self) -> AmountTables:
        return AmountTables(self.network, self.batch_size, self.accounting.communication, self.array.levels)

    @cached_property
    def _compute_time_by_state_s(self) -> NDArray[np.float64]:
        """float64[layers, states]: the roofline of each layer in each state of its leaf accelerators."""
        macs = self.accounting.macs_of_step(self.network, self.batch_size)
        counts = np.repeat(self._tables.leaf_counts[:, None], len(self.network.layers), axis=1)
        leaf = shard(self.network, self.batch_size, counts)
        dram_s = dram_time_s(self.accounting.dram_elements(leaf), self.hardware)
        return np.maximum(mac_time_s(macs, self.hardware, accelerators(self.array)), dram_s).T

    def _compute_time_s(self, plans: Plan) -> NDArray[np.float64]:
        by_state = self._compute_time_by_state_s
        if (by_state == by_state[:, :1]).all():  # arithmetic bounds every layer, whatever the plan
            return np.broadcast_to(by_state[:, 0].sum(), len(plans))
        states = self._tables.leaf_states(plans)
        time_s: NDArray[np.float64] = by_state[np.arange(len(by_state)), states].sum(axis=-1)
        return time_s
