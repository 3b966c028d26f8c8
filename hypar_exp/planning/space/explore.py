"""Exploring a plan space: every plan of it costed, or a sample of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Network
from hypar_exp.planning.plan import Choices, Plan, split_types
from hypar_exp.planning.problem import COMMUNICATION, PlanningProblem, StepCosts
from hypar_exp.planning.space.exploration import Exploration, Explorer
from hypar_exp.planning.space.plan_space import PlanSpace
from hypar_exp.planning.strategies import Planned, Strategy

MOST_LISTED = 100_000
"""A larger exploration keeps no list of all its plans."""


@dataclass(frozen=True)
class Explore:
    """Costs every plan of a space; its own plan is the fastest, and the others are what it found out.

    Attributes:
        name: the strategy's name.
        base: plans what is not free.
        reference: its plan's performance is 1.
        compare: strategies whose plans are placed among the others.
        types: the splits that a free entry can be.
        levels: the free levels, counted from 1; None for all.
        layers: the names of the free layers; None for all.
        samples: how many plans to draw where the space is larger than that; None to cost all.
        seed: of the draw.
        best: how many of the fastest plans to keep.
        most_plans: a larger space is refused, unless it is sampled.

    Raises:
        UserError: a number out of range, or an unknown split.
    """

    base: Strategy
    reference: Strategy
    compare: Sequence[Strategy] = ()
    name: str = "explore"
    types: Sequence[str] = ("dp", "mp")
    levels: Sequence[int] | None = None
    layers: Sequence[str] | None = None
    samples: int | None = None
    seed: int = 0
    best: int = 10
    most_plans: int = 100_000_000

    def __post_init__(self) -> None:
        split_types(self.types)
        require_whole("strategy", "seed", self.seed, least=0)
        require_whole("strategy", "best", self.best, least=1, most=10_000)
        require_whole("strategy", "most_plans", self.most_plans, least=1)
        if self.samples is not None:
            require_whole("strategy", "samples", self.samples, least=1)

    def plan(self, problem: PlanningProblem) -> Plan:
        """The fastest plan; raises as `explore` does."""
        return self.explore(problem).plan

    def explore(self, problem: PlanningProblem) -> Planned:
        """The fastest plan, and what the exploration found.

        Raises:
            UserError: unknown layers or levels, too many plans, no simulator to cost them, or another objective.
        """
        simulator = problem.simulator
        if simulator is None or problem.costs.objective not in (COMMUNICATION, "time"):
            raise UserError(
                f"strategy {self.name} ranks plans by the simulated step time (got objective={problem.costs.objective})"
            )
        problem = replace(problem, costs=StepCosts())  # what the others plan for
        space = self.space(problem)
        if self.samples is None and space.count > self.most_plans:
            raise UserError(
                f"{space.count:,} plans are free and strategy.most_plans is {self.most_plans:,}; free fewer "
                "strategy.levels or strategy.layers, or draw some with strategy.samples=100000 strategy.seed=0"
            )
        named = self._named(problem)
        plans = np.array(list(named.values()))
        costed = simulator.of(plans)
        explorer = Explorer(float(costed.step_time_s[0]), costed, self.best, MOST_LISTED)
        count = space.count if self.samples is None else min(space.count, self.samples)
        for chunk in space.chunks() if count == space.count else space.samples(count, self.seed):
            explorer.add(chunk, simulator.of(chunk))
            problem.progress(explorer.costed, count)
        assert explorer.best is not None  # there is at least one plan
        found = Exploration(
            space=space.count,
            costed=explorer.costed,
            reference=self.reference.name,
            names=tuple(named),
            named=explorer.points(plans, costed),
            faster_than_named=explorer.faster_than_named,
            best=explorer.best,
            histogram=explorer.histogram,
            every=explorer.every,
        )
        return Planned(Plan(explorer.best.plans[0]), found)

    def _named(self, problem: PlanningProblem) -> dict[str, Choices]:
        """Name -> plan, the reference's first."""
        strategies = (self.reference, *self.compare)
        return {strategy.name: Plan.of(strategy.plan(problem)).choices for strategy in strategies}

    def space(self, problem: PlanningProblem) -> PlanSpace:
        """The plans that are free around the base's plan.

        Raises:
            UserError: a layer or a level that is not there.
        """
        free = np.zeros((problem.levels, len(problem.network.layers)), dtype=bool)
        free[np.ix_(self._free_levels(problem.levels), self._free_layers(problem.network))] = True
        return PlanSpace(Plan.of(self.base.plan(problem)).choices, free, split_types(self.types))

    def _free_levels(self, levels: int) -> list[int]:
        if self.levels is None:
            return list(range(levels))
        chosen = _list("levels", self.levels, "[1,4]")
        for level in chosen:
            require_whole("strategy", "levels", level, least=1, most=levels)
        return sorted({level - 1 for level in chosen})

    def _free_layers(self, network: Network) -> list[int]:
        if self.layers is None:
            return list(range(len(network.layers)))
        chosen = _list("layers", self.layers, "[conv5_2,fc1]")
        for name in chosen:
            if name not in network.layer_names:
                raise UserError(
                    f"strategy.layers: network {network.name} has no layer '{name}'"
                    f"{did_you_mean(str(name), network.layer_names)}"
                )
        return sorted({network.layer_names.index(name) for name in chosen})


def _list(key: str, value: object, example: str) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise UserError(f"strategy.{key} must be a list, as in {example}, or null for all (got {value!r})")
    return list(value)
