"""An objective: what a step costs in money, the rent of the accelerators and the electricity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number
from hypar_exp.planning import StepCosts
from hypar_exp.simulation import CostModel, Energy, Time

SECONDS_PER_HOUR, JOULES_PER_KWH = 3600.0, 3.6e6


@dataclass(frozen=True)
class Price:
    """Money a step; any currency.

    Attributes:
        rent_per_hour: of one accelerator.
        electricity_per_kwh: of what all accelerators take.
    """

    name: str = "price"
    rent_per_hour: float = 1.0
    electricity_per_kwh: float = 0.3

    def __post_init__(self) -> None:
        require_number("objective", self, "rent_per_hour", "electricity_per_kwh")

    def costs(self, model: CostModel) -> StepCosts:
        """The simulator's own time and energy, each by its price."""
        time, energy = Time().costs(model), Energy().costs(model)
        per_second = model.accelerators * self.rent_per_hour / SECONDS_PER_HOUR
        per_joule = self.electricity_per_kwh / JOULES_PER_KWH
        levels = model.array.levels

        def per_layer(counts: NDArray[np.integer]) -> NDArray[np.float64]:
            assert time.per_layer is not None
            assert energy.per_layer is not None
            return per_second * time.per_layer(counts) + per_joule * energy.per_layer(counts)

        waits = None if time.per_exchange is None else per_second * time.per_exchanged_element * time.per_exchange
        elements = per_second * _by_level(time, levels) + per_joule * _by_level(energy, levels)
        return StepCosts.by_level(self.name, elements, per_layer, waits)


def _by_level(costs: StepCosts, levels: int) -> NDArray[np.float64]:
    """float64[levels]: what an element costs that is exchanged at each level."""
    factors = np.ones(levels) if costs.level_factors is None else costs.level_factors
    return costs.per_exchanged_element * factors
