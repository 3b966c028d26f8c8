"""Many plans at once: the simulator's communication and step time, by look-up, for whole plan spaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning import Choices, CostedPlans
from hypar_exp.simulation.cost_model import CostModel

PLANS_PER_CHUNK = 8192


@dataclass(frozen=True)
class PlanCosts:
    """Costs plans as `step_report` does, millions a second."""

    model: CostModel

    def of(self, plans: Choices) -> CostedPlans:
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

    def _exchange(self, plans: Choices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bytes that the array exchanges, and the time that takes: float64[plans] each."""
        sent_bytes, time_s = np.zeros(len(plans)), np.zeros(len(plans))
        for costs in self.model.kinds:
            by_level = costs.kind.group.weight * costs.hardware.element_bytes * costs.exchanged(plans).by_level
            exchanges = costs.tables.counting().look_up(plans).by_level if costs.links.has_latency else None
            time_s += costs.links.time_s(by_level, exchanges).sum(axis=1)
            sent_bytes += by_level.sum(axis=1)
        return sent_bytes, time_s

    @cached_property
    def _compute_time_by_state_s(self) -> NDArray[np.float64]:
        """float64[layers, states]: the roofline of each layer in each state of its leaf accelerators, slowest kind."""
        times_s = [costs.compute_time_s(costs.leaf_of_states) for costs in self.model.kinds]
        slowest_s: NDArray[np.float64] = np.max(times_s, axis=0).T
        return slowest_s

    def _compute_time_s(self, plans: Choices) -> NDArray[np.float64]:
        by_state = self._compute_time_by_state_s
        if (by_state == by_state[:, :1]).all():  # arithmetic bounds every layer, whatever the plan
            return np.broadcast_to(by_state[:, 0].sum(), len(plans))
        states = self.model.kinds[0].tables.leaf_states(plans)
        time_s: NDArray[np.float64] = by_state[np.arange(len(by_state)), states].sum(axis=-1)
        return time_s
