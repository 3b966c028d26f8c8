"""What plans come to, as a strategy asks for it: the simulator answers (`hypar_exp.simulation.PlanCosts`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.plan import Choices


@dataclass(frozen=True)
class CostedPlans:
    """Both arrays are float64[plans]."""

    communication_bytes: NDArray[np.float64]
    step_time_s: NDArray[np.float64]


class Costs(Protocol):
    """Costs plans on one array, as many as fit in memory in one call."""

    def of(self, plans: Choices) -> CostedPlans:
        """The costs of plans, uint8[plans, levels, layers].

        Raises:
            UserError: a plan uses a split that is not priced.
        """
        ...
