"""How far a plan is from the best one that there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hypar_exp.planning.plan import Choices, Plan
from hypar_exp.planning.problem import PlanningProblem
from hypar_exp.planning.strategies import Optimal


@dataclass(frozen=True)
class OptimalityGap:
    """A plan beside the best one.

    Attributes:
        excess: what the plan costs more than the least, as a part of the least: 0.019 is 1.9 % more; infinite where
            the least is nothing. Where the least is not known exactly it is the most that this can be.
        optimal: the best plan, and of equal ones the closest to HyPar's.
        differing: choices in which the two plans differ.
        exact: whether the best plan is proven to be the best.
    """

    excess: float
    optimal: Plan
    differing: int
    exact: bool


def optimality_gap(problem: PlanningProblem, plan: Plan | Choices, types: Sequence[str] | None = None) -> OptimalityGap:
    """The gap between a plan's cost and the least.

    Args:
        problem: what was planned.
        plan: without stages; or its choices alone.
        types: the splits that the plan could have used; None for the paper's two and all up to the highest it uses.

    Raises:
        UserError: there are more states than can be looked at.
    """
    plan = Plan.of(plan)
    labels = types or [entry.label for entry in plan.legend()]
    least = Optimal(types=labels).least(problem)
    exact = least.cost <= least.bound
    cost, of_optimal = problem.cost_of(np.stack([plan.choices, least.plan])).tolist()
    bound = of_optimal if exact else least.bound  # both costs are summed in the same order, so that equal is equal
    above = max(0.0, cost - bound)
    excess = above / bound if bound > 0 else math.inf if above else 0.0
    return OptimalityGap(excess, Plan(least.plan), int((plan.choices != least.plan).sum()), exact)
