"""Elimination against brute force on random graphs, and the properties that hold where it is cut short."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hypar_exp.planning.solvers.elimination import Elimination, PlanningWarning, warn_of_bound


@dataclass(frozen=True)
class Problem:
    sizes: list[int]
    scopes: list[tuple[int, ...]]
    costs: list[NDArray[np.float64]]

    def cost(self, states: Sequence[int]) -> float:
        return sum(
            float(table[tuple(states[variable] for variable in scope)])
            for scope, table in zip(self.scopes, self.costs, strict=True)
        )

    def least(self) -> float:
        return min(self.cost(states) for states in itertools.product(*(range(size) for size in self.sizes)))


@st.composite
def problems(draw: st.DrawFn, most_variables: int = 6) -> Problem:
    """Random graphs with nodes of different sizes, and small whole costs, so that there are many ties."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=most_variables))
    pairs = list(itertools.combinations(range(len(sizes)), 2))
    edges = draw(st.lists(st.sampled_from(pairs), max_size=12)) if pairs else []
    flipped = [edge[::-1] if draw(st.booleans()) else edge for edge in edges]
    scopes: list[tuple[int, ...]] = [*((variable,) for variable in range(len(sizes))), *flipped]
    if len(sizes) > 2 and draw(st.booleans()):
        scopes.append((2, 0, 1))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    costs = [random.integers(0, 5, [sizes[variable] for variable in scope]).astype(np.float64) for scope in scopes]
    return Problem(sizes, scopes, costs)


@given(problems())
def test_least_cost_is_that_of_brute_force(problem: Problem) -> None:
    elimination = Elimination(problem.sizes, problem.scopes)
    least = elimination.minimise(problem.costs)
    assert elimination.exact
    assert least.cost == least.bound == problem.least() == problem.cost(least.states)


@given(problems(), st.integers(1, 8))
def test_cut_short_it_still_encloses_the_least_cost(problem: Problem, most_entries: int) -> None:
    least = Elimination(problem.sizes, problem.scopes, most_entries).minimise(problem.costs)
    assert least.cost.real == problem.cost(least.states)
    assert least.bound.real <= problem.least() <= least.cost.real


@given(problems())
def test_imaginary_parts_break_ties_and_nothing_else(problem: Problem) -> None:
    random = np.random.default_rng(0)
    second = [random.integers(0, 4, table.shape).astype(np.float64) for table in problem.costs]
    pairs = [first + 1j * other for first, other in zip(problem.costs, second, strict=True)]
    least = Elimination(problem.sizes, problem.scopes).minimise(pairs)
    tied = Problem(problem.sizes, problem.scopes, second)
    every = itertools.product(*(range(size) for size in problem.sizes))
    assert (least.cost.real, least.cost.imag) == min((problem.cost(states), tied.cost(states)) for states in every)


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_ties_on_a_chain_go_to_the_lowest_state_of_the_last_variable_first(length: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    scopes = [*((at,) for at in range(length)), *((at - 1, at) for at in range(1, length))]
    costs = [random.integers(0, 3, [2] * len(scope)).astype(np.float64) for scope in scopes]
    problem = Problem([2] * length, scopes, costs)
    every = list(itertools.product(range(2), repeat=length))
    first = min(every, key=lambda states: (problem.cost(states), states[::-1]))
    assert Elimination(problem.sizes, scopes).minimise(costs).states == list(first)


def test_costs_may_be_infinite() -> None:
    forbidden = np.array([[math.inf, math.inf], [3.0, math.inf]])
    least = Elimination([2, 2], [(0, 1), (0,)], 4).minimise([forbidden, np.array([0.0, 1.0])])
    assert (least.states, least.cost) == ([1, 0], 4.0)


def test_a_plan_that_is_not_proven_to_be_best_says_how_far_off_it_can_be() -> None:
    with pytest.warns(PlanningWarning, match="network x is at most 25 % above the least: its graph is too entangled"):
        warn_of_bound("network x", 5.0, 4.0)
