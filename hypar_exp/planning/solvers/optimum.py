"""The true optimum: the least sum over all levels at once, where the paper's search decides level by level.

A layer's state is the whole column of its choices, one a level. What a layer costs depends on its own state only, what
an edge costs on the states at its two ends, so the sum is one that `Elimination` minimises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.cost.amount_tables import AmountTables
from hypar_exp.planning.plan import Choices
from hypar_exp.planning.problem import PlanningProblem, StepCosts
from hypar_exp.planning.solvers.columns import Columns
from hypar_exp.planning.solvers.elimination import TOO_ENTANGLED, Table, cached_elimination, warn_of_bound
from hypar_exp.planning.solvers.fitting import Fitting, States
from hypar_exp.planning.solvers.memory_bound import DoesNotFitError, MemoryLimit, Shares

SMALL_TABLES = 2**14
"""Entries of the largest table, for a graph that is too entangled and has to fit."""
MOST_TRANSITIONS = 2**25
"""Pairs of states, of all edges, up to which plans that fit are searched exactly: 256 MB."""


@dataclass(frozen=True)
class LeastPlan:
    """A plan, uint8[levels, layers], what it costs, and what no plan costs less than (the same where it is exact)."""

    plan: Choices
    cost: float
    bound: float


def least_plan(problem: PlanningProblem, close_to: Choices) -> LeastPlan:
    """The plan of the whole hierarchy that costs least; among equals the one that differs least from another.

    Where the network is too entangled for an exact minimum, a `PlanningWarning` says how far from it the plan can be.

    Args:
        problem: what is planned, and what it costs; the choice is among the splits that are priced.
        close_to: uint8[levels, layers], the plan to be close to: in as many entries as the least sum allows.

    Raises:
        UserError: more states than can be looked at.
        DoesNotFitError: there is no plan that fits in the problem's memory.
    """
    network, model = problem.network, problem.communication
    columns = Columns(problem.levels, model.splits, len(network.layers), len(network.edges))
    tables = AmountTables(network, problem.batch_size, model, problem.levels, problem.kinds)
    positions = model.positions(close_to)
    layer_costs, edge_costs, unit, base = _costs(problem.costs, columns, problem.costs.weighted(tables), positions)
    scopes = columns.scopes([(edge.producer, edge.consumer) for edge in network.edges])
    elimination = cached_elimination(columns.sizes, scopes)
    if problem.memory is not None and not elimination.exact:  # it is minimised many times, and ends with a bound anyway
        elimination = cached_elimination(columns.sizes, scopes, SMALL_TABLES)
    guess = columns.of_blocks(columns.states_of(positions))

    def minimise(paid: NDArray[np.complex128]) -> tuple[States, complex, float]:
        least = elimination.minimise(columns.by_block(paid) + edge_costs, guess)
        return columns.of_layers(least.states), least.cost, least.bound.real

    if problem.memory is None:
        states, cost, bound = minimise(layer_costs)
    else:
        costs = columns.by_block(layer_costs) + edge_costs
        small = columns.edges * columns.states**2 <= MOST_TRANSITIONS
        states, cost, bound = Fitting(
            layer_costs,
            shares=_shares(problem, problem.memory, columns),
            minimise=minimise,
            cost_of=lambda states: elimination.cost_of(columns.of_blocks(states), costs),
            transitions=columns.transitions(edge_costs) if network.is_chain and small else None,
            most_limits=12 if elimination.exact else 2,
        ).find()
    found = LeastPlan(columns.plan(states), unit * cost.real + base, unit * bound + base)
    why = TOO_ENTANGLED if problem.memory is None else "it is the best that was found of those that fit"
    warn_of_bound(f"network {network.name}", found.cost, found.bound, why)
    return found


def _costs(
    costs: StepCosts, columns: Columns, tables: AmountTables, close_to: Choices
) -> tuple[NDArray[np.complex128], list[Table], float, float]:
    """What the layers and the edges pay, in units of one exchanged element and above a base that every plan pays.

    So amounts stay as they are counted, without rounding, and plans that cost the same compare as equal.
    """
    layers, edges = columns.layer_amounts(tables, close_to), columns.edge_amounts(tables)
    unit, base = costs.per_exchanged_element, 0.0
    if unit == 0:
        unit, edges = 1.0, [np.zeros_like(table) for table in edges]
        layers.real = 0
    if costs.per_layer is not None:
        own = columns.at_leaves(costs.per_layer(columns.leaf_counts))
        least = own.min(axis=1, keepdims=True)
        layers += (own - least) / unit
        base = float(least.sum())
    return layers, edges, unit, base


def _shares(problem: PlanningProblem, memory: MemoryLimit, columns: Columns) -> Shares:
    """What each layer holds in each state.

    Raises:
        DoesNotFitError: there is no plan that fits.
    """
    kept, moment = memory.per_layer(columns.leaf_counts)
    shares = Shares(columns.at_leaves(kept), columns.at_leaves(moment), memory.capacity_bytes)
    need = shares.least_need()
    if need > memory.capacity_bytes:
        raise DoesNotFitError(
            f"no plan of network {problem.network.name} fits: each of 2^{problem.levels} accelerators needs at least "
            f"{need / 1e9:.4g} GB for its share of a batch of {problem.batch_size}, and has "
            f"{memory.capacity_bytes / 1e9:.4g} GB; give it more array.levels or a smaller batch_size",
            need,
            memory.capacity_bytes,
        )
    return shares
