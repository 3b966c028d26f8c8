"""How a hierarchical array is cut into stages: which layers go to which half, before a strategy splits the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.planning import Choices, Half, Plan, Recompute, Split, Stage, read_plan
from hypar_exp.simulation.cost_model import CostModel
from hypar_exp.simulation.stage_model import StageModel, stage_costs

PlanStage = Callable[[CostModel], Plan]
"""The strategy: how the layers of a stage are split on the stage's accelerators, for a step's whole batch."""
StepTime = Callable[[Plan], float]
"""Seconds of a step under a plan, on the timeline of the run's schedule."""


class Pipeline(Protocol):
    """Cuts an array into stages; a user's own needs no more than this."""

    @property
    def name(self) -> str: ...

    def plan(self, model: CostModel, plan_stage: PlanStage, step_time_s: StepTime) -> Plan:
        """The plan of the whole array.

        Raises:
            UserError: the network or the array cannot be cut so.
        """
        ...


@dataclass(frozen=True)
class NoPipeline:
    """The whole array is one stage, as the paper has it."""

    name: str = "none"

    def plan(self, model: CostModel, plan_stage: PlanStage, step_time_s: StepTime) -> Plan:
        """The strategy's own plan."""
        return plan_stage(model)


def checked_pipeline(micro_batches: int, replicas: int, recompute: str) -> None:
    """What all pipelines have is as it can be.

    Raises:
        UserError: a number that cannot be, or another word.
    """
    _require_power_of_two("replicas", replicas)
    require_whole("pipeline", "micro_batches", micro_batches, least=1)
    known = get_args(Recompute)
    if recompute not in known:
        raise UserError(
            f"pipeline.recompute must be {', '.join(known[:-1])} or {known[-1]} (got {recompute!r})"
            f"{did_you_mean(str(recompute), known)}"
        )


def _require_power_of_two(key: str, value: int) -> None:
    require_whole("pipeline", key, value, least=1)
    if value & (value - 1):
        raise UserError(f"pipeline.{key} must be a power of two on a hierarchical array (got {value})")


@dataclass(frozen=True)
class _InStages(ABC):
    """What pipelines have in common.

    Attributes:
        name: the pipeline's name.
        stages: how many, a power of two: each cut halves the accelerators.
        micro_batches: parts in which a step's batch passes through them.
        replicas: of the whole pipeline, a power of two; each takes a part of every micro-batch.
        recompute: none, selective (the products of attention) or full: what stages compute again in the backward pass.

    Raises:
        UserError: a number that cannot be, or another word.
    """

    name: str
    stages: int = 2
    micro_batches: int = 8
    replicas: int = 1
    recompute: Recompute = "none"

    def __post_init__(self) -> None:
        _require_power_of_two("stages", self.stages)
        checked_pipeline(self.micro_batches, self.replicas, self.recompute)

    def plan(self, model: CostModel, plan_stage: PlanStage, step_time_s: StepTime) -> Plan:
        """Outer replicas by data parallelism, the cuts below them, and in every stage what the strategy chooses.

        Raises:
            UserError: more stages than layers or than accelerators.
        """
        layers, levels = len(model.network.layers), model.array.levels
        above, below = self.replicas.bit_length() - 1, self.stages.bit_length() - 1
        if self.stages > layers:
            raise UserError(
                f"pipeline.stages is {self.stages}, but network {model.network.name} has {layers} layers, and a stage "
                "has at least one"
            )
        if above + below > levels:
            raise UserError(
                f"pipeline.stages={self.stages} with pipeline.replicas={self.replicas} needs "
                f"{self.stages * self.replicas} accelerators, and array.levels={levels} has {2**levels}"
            )
        bounds = self.bounds(model, tuple(range(above)) + tuple(range(above + below, levels)))
        return self.composed(model, bounds, plan_stage)

    @abstractmethod
    def bounds(self, model: CostModel, levels: tuple[int, ...]) -> list[int]:
        """The first layer of each stage, and the number of layers; a stage is split at `levels` of the array."""

    def composed(self, model: CostModel, bounds: Sequence[int], plan_stage: PlanStage) -> Plan:
        """The plan with the stages between bounds, halved level by level."""
        above, below = self.replicas.bit_length() - 1, self.stages.bit_length() - 1
        choices = np.full((model.array.levels, bounds[-1]), Split.DP, dtype=np.uint8)
        inside = tuple(range(above + below, model.array.levels))
        for stage, (first, last) in enumerate(pairwise(bounds)):
            for level in range(below):
                half = stage >> (below - 1 - level) & 1
                choices[above + level, first:last] = Half.SECOND if half else Half.FIRST
            part = stage_costs(model, range(first, last), inside, 1, batch_size=model.batch_size / self.replicas)
            choices[above + below :, first:last] = plan_stage(part).choices
        return Plan(choices, self.micro_batches, recomputed_by(self.recompute, model))


@dataclass(frozen=True)
class Uniform(_InStages):
    """Stages of equally many layers, as far as that goes."""

    name: str = "uniform"

    def bounds(self, model: CostModel, levels: tuple[int, ...]) -> list[int]:
        layers = len(model.network.layers)
        return [layers * stage // self.stages for stage in range(self.stages + 1)]


@dataclass(frozen=True)
class Balanced(_InStages):
    """The slowest of stages and cuts as fast as can be, by what a micro-batch computes under data parallelism.

    Exact among all cuts of the network in its layers' order, by dynamic programming over (layer, stages).
    """

    name: str = "balanced"

    def bounds(self, model: CostModel, levels: tuple[int, ...]) -> list[int]:
        layers = len(model.network.layers)
        seconds = computed_s(model, levels, self.micro_batches)
        sums = np.concatenate([[0.0], np.cumsum(seconds)])
        stage_s = np.where(np.tri(layers + 1, dtype=bool), np.inf, sums - sums[:, None])
        from hypar_exp.planning.pipelines.balanced import least_slowest  # most programs cut nothing

        _, cuts = least_slowest(stage_s, np.zeros(layers + 1), self.stages)
        return list(cuts[self.stages - 1])


@dataclass(frozen=True)
class PipelineFromFile:
    """The plan in a file, with its halves; the strategy decides nothing.

    Attributes:
        name: the pipeline's name.
        path: a plan as runs record it, plan.csv, or as the terminal prints it.
        micro_batches, recompute: as of other pipelines.
    """

    name: str
    path: str
    micro_batches: int = 8
    recompute: Recompute = "none"

    def plan(self, model: CostModel, plan_stage: PlanStage, step_time_s: StepTime) -> Plan:
        """The plan.

        Raises:
            UserError: the file cannot be read, or is no plan of this network and array; says file and line.
        """
        choices: Choices = read_plan(self.path, model.network.layer_names, model.array.levels)
        return Plan(choices, self.micro_batches, recomputed_by(self.recompute, model))


def recomputed_by(recompute: Recompute, model: CostModel) -> Recompute:
    """What a pipeline computes again: what it says itself, or else the memory model."""
    return model.memory_model.recompute if recompute == "none" else recompute


def computed_s(model: CostModel, levels: tuple[int, ...], micro_batches: int) -> NDArray[np.float64]:
    """float64[layers]: what a micro-batch of each layer computes where it is split at levels by data parallelism."""
    layers = range(len(model.network.layers))
    split = np.full((len(levels), len(layers)), Split.DP, dtype=np.uint8)
    stage = Stage(tuple(layers), 2 ** len(levels), splits=split, levels=levels)
    total: NDArray[np.float64] = np.sum(list(StageModel(model, stage, micro_batches).compute_s.values()), axis=0)
    return total
