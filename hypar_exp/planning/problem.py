"""What a strategy may look at: the network, the array's levels, and what a plan is charged for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning.cost.amount_tables import AmountTables, level_amounts
from hypar_exp.planning.cost.communication import CommunicationModel
from hypar_exp.planning.cost.device_groups import EVEN, Kinds
from hypar_exp.planning.cost.sharding import choices_above
from hypar_exp.planning.costs import Costs
from hypar_exp.planning.plan import Choices, Split
from hypar_exp.planning.solvers.memory_bound import MemoryLimit

COMMUNICATION = "communication"
"""The paper's objective, and the only one that its search serves."""


Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class StepCosts:
    """What a plan pays: so much for each exchanged element, and so much for each layer's share at the leaves.

    Everything that the simulator accounts is of this form; without more it is the exchanged elements themselves.

    Attributes:
        objective: its name.
        per_exchanged_element: cost of one element that a pair of groups exchanges (at H1, where levels differ).
        per_layer: from all choices of a plan, counted integer[..., layers, len(Split)], to the cost of each layer,
            float64[..., layers]; None where layers cost nothing but what they exchange.
        level_factors: float64[levels], what an element costs at each level, over `per_exchanged_element`; None where
            that is 1 everywhere.
        per_exchange: float64[levels], what a tensor that every pair of a level exchanges costs besides, in the same
            unit; None where that is nothing.
    """

    objective: str = COMMUNICATION
    per_exchanged_element: float = 1.0
    per_layer: Callable[[NDArray[np.integer]], NDArray[np.float64]] | None = None
    level_factors: NDArray[np.float64] | None = None
    per_exchange: NDArray[np.float64] | None = None

    @classmethod
    def by_level(
        cls,
        objective: str,
        per_element: NDArray[np.float64],
        per_layer: Callable[[NDArray[np.integer]], NDArray[np.float64]],
        per_exchange: NDArray[np.float64] | None = None,
    ) -> StepCosts:
        """Costs of an element, and of beginning an exchange, that differ by level: float64[levels] each."""
        unit = float(per_element[0]) if len(per_element) else 1.0
        alike = bool((per_element == unit).all())
        free = per_exchange is None or not per_exchange.any()
        return cls(
            objective,
            unit,
            per_layer,
            level_factors=None if alike else per_element / unit,
            per_exchange=None if per_exchange is None or free else per_exchange / unit,
        )

    def weighted(self, tables: AmountTables) -> AmountTables:
        """The amounts that tables hold, in units of one element exchanged at H1."""
        if self.level_factors is None and self.per_exchange is None:
            return tables
        return tables.weighted(self.level_factors, self.per_exchange)


@dataclass(frozen=True)
class PlanningProblem:
    """All that a strategy may look at: the network, the step's batch, the array's levels, and what is paid for.

    Attributes:
        network, batch_size, levels, communication, costs: what to plan.
        simulator: costs whole plans as the simulator does; None where there is none.
        memory: what the plan has to fit in; None where it does not have to.
        progress: is told how many plans of how many are looked at, by a strategy that takes its time.
        kinds: the kinds of groups, where the array's halves are not alike.
    """

    network: Network
    batch_size: float
    levels: int
    communication: CommunicationModel
    costs: StepCosts = StepCosts()
    simulator: Costs | None = None
    memory: MemoryLimit | None = None
    progress: Progress = no_progress
    kinds: Kinds = EVEN

    def over(self, splits: tuple[Split, ...]) -> PlanningProblem:
        """The same problem with a choice among some of the splits only.

        Raises:
            UserError: one of them is not priced.
        """
        if splits == self.communication.splits:
            return self
        return replace(self, communication=self.communication.over(splits))

    def cost_of(self, plans: Choices) -> NDArray[np.float64]:
        """What each plan of uint8[plans, levels, layers] costs, float64[plans]."""
        tables = AmountTables(self.network, self.batch_size, self.communication, self.levels, self.kinds)
        exchanged = level_amounts(self.costs.weighted(tables), plans)
        costs: NDArray[np.float64] = self.costs.per_exchanged_element * exchanged.sum(axis=1)
        if self.costs.per_layer is not None:
            costs += self.costs.per_layer(choices_above(plans)[:, -1]).sum(axis=-1)
        return costs
