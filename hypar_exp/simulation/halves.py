"""The hierarchical search: HyPar with a fourth choice, to give each half of a group a part of the layers.

A group of accelerators works on layers i to j either as one stage, split as the strategy says, or cut in two: one half
has i to k, the other k to j, each again as one stage or cut. All cuts at all levels are looked at, with

    sum of (f + b) and boundaries, there and back  +  (M - 1) x slowest stage  +  longest exchange of gradients

or, where everything shares one medium, what it carries in the step if that is longer. A network of many layers is cut
where least crosses in each of so many parts that compute for equally long. Plans that are not better in any
of these are left out; the best of the others are put on the timeline, and the fastest is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.planning import Choices, Half, Plan, Recompute, Split, Stage
from hypar_exp.simulation.cost_model import CostModel
from hypar_exp.simulation.halving import PlanStage, StepTime, checked_pipeline, computed_s, recomputed_by
from hypar_exp.simulation.stage_model import StageModel, stage_costs

MOST_KEPT = 12
"""Plans of a group that are kept: fronts are short, and what is beyond them is not on any but the longest."""

ROUNDING = 1e-9
"""Of plans that differ by no more than this, the one with fewest stages is taken: micro-batches cost energy."""


@dataclass(frozen=True)
class Halves:
    """The fastest pipeline that is found, of any number of stages, and never slower than none.

    Attributes:
        name: the pipeline's name.
        most_stages: how many it may have.
        micro_batches, replicas, recompute: as of other pipelines.
        candidates: plans that are put on the timeline.
        most_cuts: places where the network may be cut.

    Raises:
        UserError: a number that cannot be, or another word.
    """

    name: str = "halves"
    most_stages: int = 16
    micro_batches: int = 64
    replicas: int = 1
    recompute: Recompute = "none"
    candidates: int = 32
    most_cuts: int = 32

    def __post_init__(self) -> None:
        checked_pipeline(self.micro_batches, self.replicas, self.recompute)
        require_whole("pipeline", "most_stages", self.most_stages, least=1)
        require_whole("pipeline", "candidates", self.candidates, least=1)
        require_whole("pipeline", "most_cuts", self.most_cuts, least=1)

    def plan(self, model: CostModel, plan_stage: PlanStage, step_time_s: StepTime) -> Plan:
        """The plan; without stages and micro-batches where nothing is gained by them."""
        search, recompute = _Search(self, model, plan_stage), recomputed_by(self.recompute, model)
        found = [Plan(choices, self.micro_batches, recompute) for choices in search.best(self.candidates)]
        plans = [plan_stage(model), *sorted(found, key=lambda plan: len(plan.stages()))]
        seconds = [step_time_s(plan) for plan in plans]
        least_s = min(seconds) * (1 + ROUNDING)
        return next(plan for plan, length_s in zip(plans, seconds, strict=True) if length_s <= least_s)


@dataclass(frozen=True, eq=False)
class _Part:
    """A way to put some layers on a group.

    Attributes:
        of: uint8[levels from the group's on, layers], the splits of its one stage; or the parts of its halves.
        stages: how many.
        sum_s: of forward and backward passes and boundaries of a micro-batch.
        slowest_s: of its stages.
        carried_s: of all exchanges in the step.
        gradients_s: the longest exchange of gradients.
    """

    of: Choices | tuple[_Part, _Part]
    stages: int
    sum_s: float
    slowest_s: float
    carried_s: float
    gradients_s: float

    def estimate_s(self, micro_batches: int, one_medium: bool) -> float:
        """Seconds of a step, by the formula above."""
        length = self.sum_s + (micro_batches - 1) * self.slowest_s + self.gradients_s
        return max(length, self.carried_s) if one_medium else length

    @property
    def choices(self) -> Choices:
        """uint8[levels from the group's on, layers]."""
        if not isinstance(self.of, tuple):
            return self.of
        first, second = (part.choices for part in self.of)
        row = np.full((1, first.shape[1] + second.shape[1]), Half.SECOND, np.uint8)
        row[0, : first.shape[1]] = Half.FIRST
        return np.concatenate([row, np.concatenate([first, second], axis=1)])

    def costs(self) -> tuple[float, float, float, float, int]:
        return self.sum_s, self.slowest_s, self.carried_s, self.gradients_s, self.stages


class _Search:
    """Parts of the network on groups of every level, each looked at once."""

    def __init__(self, pipeline: Halves, model: CostModel, plan_stage: PlanStage) -> None:
        self._pipeline, self._model, self._plan_stage = pipeline, model, plan_stage
        self._recompute = recomputed_by(pipeline.recompute, model)
        self._above = pipeline.replicas.bit_length() - 1
        self._levels, self._layers = model.array.levels, len(model.network.layers)
        self._links = model.only_kind("a pipeline").links
        self._one_medium = self._links.medium == "one"
        self._crossing = self._crossing_bytes()
        self._places = self._cut_places()
        self._front: Any = lru_cache(maxsize=None)(self._find)

    def best(self, count: int) -> list[Choices]:
        """The choices of the most promising plans of the whole array."""
        top = np.full((self._above, self._layers), Split.DP, dtype=np.uint8)
        parts = self._sorted(
            part for part in self._front(0, self._layers, self._above, self._pipeline.most_stages) if part.stages > 1
        )
        return [np.concatenate([top, part.choices]) for part in parts[:count]]

    def _find(self, first: int, last: int, level: int, most_stages: int) -> list[_Part]:
        """The ways that are worth it to put layers first to last on a group at a level."""
        parts = [self._stage(first, last, level)]
        if level < self._levels and most_stages > 1:
            for cut in (place for place in self._places if first < place < last):
                befores = self._front(first, cut, level + 1, most_stages - 1)
                afters = self._front(cut, last, level + 1, most_stages - 1)
                sent_s = self._boundary_s(cut, level)
                parts += [
                    self._joined(before, after, sent_s)
                    for before in befores
                    for after in afters
                    if before.stages + after.stages <= most_stages
                ]
        return self._worth_keeping(parts)

    def _stage(self, first: int, last: int, level: int) -> _Part:
        layers = range(first, last)
        levels = (*range(self._above), *range(level, self._levels))
        below = tuple(range(level, self._levels))
        inside = self._plan_stage(
            stage_costs(self._model, layers, below, 1, batch_size=self._model.batch_size / self._pipeline.replicas)
        ).choices
        splits = np.concatenate([np.full((self._above, len(layers)), Split.DP, np.uint8), inside])
        stage = StageModel(
            self._model,
            Stage(tuple(layers), 2 ** len(levels), splits=splits, levels=levels, recompute=self._recompute),
            self._pipeline.micro_batches,
        )
        forward, backward, gradient = (stage.duration_s(phase) for phase in ("forward", "backward", "gradient"))
        took = sum(forward) + sum(backward) + gradient[0] + sum(stage.recompute_s)
        carried = self._pipeline.micro_batches * (forward[1] + backward[1] + stage.recompute_s[1]) + gradient[1]
        return _Part(inside, 1, took, took, carried, gradient[1])

    def _joined(self, before: _Part, after: _Part, sent_s: float) -> _Part:
        ways = 1 if self._model.accounting.forward_only else 2
        return _Part(
            (before, after),
            before.stages + after.stages,
            before.sum_s + after.sum_s + ways * sent_s,
            max(before.slowest_s, after.slowest_s),
            before.carried_s + after.carried_s + ways * self._pipeline.micro_batches * sent_s,
            max(before.gradients_s, after.gradients_s),
        )

    def _crossing_bytes(self) -> list[float]:
        """For every place between layers, bytes of a micro-batch that cross it one way."""
        samples = self._model.batch_size / self._pipeline.micro_batches
        crossing = np.zeros(self._layers + 1)
        for edge in self._model.network.edges:
            crossing[edge.producer + 1 : edge.consumer + 1] += edge.elements
        _, _, activation_bytes = self._model.kinds[0].sizes
        return [float(elements) for elements in crossing * samples * activation_bytes]

    def _cut_places(self) -> list[int]:
        """Where the network may be cut: everywhere, or in each part of equal compute where least crosses."""
        if self._layers - 1 <= self._pipeline.most_cuts:
            return list(range(1, self._layers))
        levels = tuple(range(1, self._levels))
        done = np.cumsum(computed_s(self._model, levels, self._pipeline.micro_batches))
        part = np.minimum(done / done[-1] * self._pipeline.most_cuts, self._pipeline.most_cuts - 1).astype(int)
        best: dict[int, int] = {}
        for place in range(1, self._layers):
            here = int(part[place - 1])
            if here not in best or self._crossing[place] < self._crossing[best[here]]:
                best[here] = place
        return sorted(best.values())

    def _boundary_s(self, cut: int, level: int) -> float:
        senders = 2 ** (self._levels - level - 1)
        return self._links.boundary_s(level, self._crossing[cut], 2**self._above, senders)

    def _sorted(self, parts: Iterable[_Part]) -> list[_Part]:
        micro_batches = self._pipeline.micro_batches
        return sorted(parts, key=lambda part: (part.estimate_s(micro_batches, self._one_medium), part.stages))

    def _worth_keeping(self, parts: list[_Part]) -> list[_Part]:
        """Those that no other is as good as in everything, the most promising first."""
        kept: list[_Part] = []
        for part in self._sorted(parts):
            costs = part.costs()
            if not any(
                all(mine >= theirs for mine, theirs in zip(costs, other.costs(), strict=True)) for other in kept
            ):
                kept.append(part)
            if len(kept) == MOST_KEPT:
                break
        return kept
