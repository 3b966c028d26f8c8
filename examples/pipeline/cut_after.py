"""A pipeline: two stages, cut after a layer that is named; inside the stages the strategy decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.planning import Half, Plan
from hypar_exp.simulation import CostModel
from hypar_exp.simulation.halving import StepTime
from hypar_exp.simulation.stage_model import stage_costs


@dataclass(frozen=True)
class CutAfter:
    """The layers up to one go to the first half of the accelerators, the others to the second.

    Attributes:
        layer: the last one of the first stage.
        micro_batches: parts in which a step's batch passes through the stages.
    """

    layer: str
    name: str = "cut_after"
    micro_batches: int = 8

    def __post_init__(self) -> None:
        require_whole("pipeline", "micro_batches", self.micro_batches, least=1)

    def plan(self, model: CostModel, plan_stage: Callable[[CostModel], Plan], step_time_s: StepTime) -> Plan:
        """The halves at H1, and below it what the strategy chooses for each stage on its half of the accelerators.

        Raises:
            UserError: there is no such layer, none behind it, or only one accelerator.
        """
        names = list(model.network.layer_names)
        if self.layer not in names[:-1]:
            near = did_you_mean(self.layer, names[:-1])
            raise UserError(f"pipeline.layer must be a layer before the last (got {self.layer!r}){near}")
        if model.array.levels < 1:
            raise UserError("pipeline=cut_after needs two accelerators at least; array.levels is 0")
        cut = names.index(self.layer) + 1
        choices = np.empty((model.array.levels, len(names)), dtype=np.uint8)
        for half, layers in ((Half.FIRST, range(cut)), (Half.SECOND, range(cut, len(names)))):
            choices[0, layers] = half
            inside = stage_costs(model, layers, tuple(range(1, model.array.levels)), 1)
            choices[1:, layers] = plan_stage(inside).choices
        return Plan(choices, self.micro_batches)
