"""What a plan can be the best for: the simulator's own time or energy, or the paper's stand-in, communication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning import StepCosts
from hypar_exp.simulation.cost_model import CostModel
from hypar_exp.simulation.energy import step_energy


class Objective(Protocol):
    """What a strategy makes least; a user's own objective needs no more than this."""

    @property
    def name(self) -> str: ...

    def costs(self, model: CostModel) -> StepCosts:
        """What a plan pays in this model, as a sum over exchanged elements and layers."""
        ...


@dataclass(frozen=True)
class Communication:
    """Bytes that the whole array exchanges in a step."""

    name: str = "communication"

    def costs(self, model: CostModel) -> StepCosts:
        return StepCosts(self.name, per_exchanged_element=model.hardware.element_bytes)


@dataclass(frozen=True)
class Time:
    """Seconds of a step: compute under the DRAM roofline, and communication over the array's links."""

    name: str = "time"

    def costs(self, model: CostModel) -> StepCosts:
        kind = model.only_kind(f"objective={self.name}")

        def per_layer(counts: NDArray[np.integer]) -> NDArray[np.float64]:
            return kind.compute_time_s(kind.leaf(counts))

        one_element = np.full(model.array.levels, float(model.hardware.element_bytes))
        return StepCosts.by_level(self.name, kind.links.time_s(one_element), per_layer, kind.links.latency_of_level_s)


@dataclass(frozen=True)
class Energy:
    """Joules of a step: arithmetic, DRAM and communication."""

    name: str = "energy"

    def costs(self, model: CostModel) -> StepCosts:
        kind = model.only_kind(f"objective={self.name}")

        def per_layer(counts: NDArray[np.integer]) -> NDArray[np.float64]:
            return kind.leaf_energy(kind.leaf(counts)).by_layer_j

        none = np.zeros(model.array.levels)
        one_element = step_energy(none, none, kind.energy_hops, kind.hardware, model.accounting)
        return StepCosts.by_level(self.name, one_element.by_layer_j, per_layer)
