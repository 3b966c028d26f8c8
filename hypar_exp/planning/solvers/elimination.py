"""The least sum of cost tables over discrete variables, by eliminating one variable after the other.

A planning problem is a sum: each layer costs something for its own choice, each edge for the choices at its two ends.
Minimising a variable out of the tables that know it leaves one table over its neighbours, exactly (non-serial dynamic
programming, Bertele and Brioschi 1972; bucket elimination, Dechter 1999). On a chain this is the paper's Algorithm 1,
to the bit; on a graph the work grows with the largest table that has to be built, which residual and inception blocks
keep small. Where it would be too large, the tables are minimised apart (mini-buckets, Dechter and Rish 2003): that
proves a lower bound, and the best assignment found is an upper one.
"""

from __future__ import annotations

import heapq
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypar_exp.units import percent_at_most

MOST_ENTRIES = 2**22
"""Entries of the largest table that is built: 32 MB of float64."""
MOST_KEPT = 2**26
"""Entries of all tables that are built for one minimum: 1 GB of complex128."""
MOST_SWEEPS = 100
Scope = tuple[int, ...]
Table = NDArray[np.float64] | NDArray[np.complex128]


class PlanningWarning(UserWarning):
    """A plan may not be the best there is; the sentence says by how much at most."""


@dataclass(frozen=True)
class Minimum:
    """An assignment and what it costs.

    Attributes:
        states: the state of each variable.
        cost: the sum of the tables there.
        bound: no assignment costs less than this; equal to `cost` where the minimum is exact.
    """

    states: list[int]
    cost: complex
    bound: complex


TOO_ENTANGLED = "its graph is too entangled to plan exactly"


def warn_of_bound(what: str, cost: float, bound: float, why: str = TOO_ENTANGLED) -> None:
    """Warn where the cost of a plan of `what` is not proven to be the least, but no plan is below `bound`."""
    if cost > bound:
        gap = (
            f"at most {percent_at_most(cost / bound - 1)} above the least" if bound > 0 else "not proven to be the best"
        )
        warnings.warn(f"the plan of {what} is {gap}: {why}", PlanningWarning, stacklevel=3)


@dataclass(frozen=True)
class _Group:
    """Tables that are added up, each with the index that gives it the axes of their sum, and minimised over axis 0."""

    members: tuple[tuple[int, tuple[Any, ...]], ...]
    scope: Scope


class Elimination:
    """Which tables are combined in which order; the costs come later and can change, the structure cannot.

    Args:
        sizes: states of each variable.
        scopes: the variables of each table, one for each of its axes.
        most_entries: entries of the largest table to build.

    Attributes:
        exact: whether no table had to be minimised in parts.
        entries: of all tables that are built and kept.
    """

    def __init__(self, sizes: Sequence[int], scopes: Sequence[Scope], most_entries: int = MOST_ENTRIES) -> None:
        order = _order(sizes, scopes)
        position = {variable: place for place, variable in enumerate(order)}
        self._scopes = scopes
        self._sizes = sizes
        # every table's axes are brought into the order of elimination, so that the variable to go is always axis 0
        sorted_scopes = [tuple(sorted(scope, key=position.__getitem__)) for scope in scopes]
        self._transposed = [
            (at, tuple(scope.index(variable) for variable in ordered))
            for at, (scope, ordered) in enumerate(zip(scopes, sorted_scopes, strict=True))
            if tuple(scope) != ordered
        ]
        self._constants = [at for at, scope in enumerate(sorted_scopes) if not scope]
        buckets: dict[int, list[int]] = {variable: [] for variable in order}
        for at, scope in enumerate(sorted_scopes):
            if scope:
                buckets[scope[0]].append(at)
        self._steps: list[tuple[int, list[_Group]]] = []
        for variable in order:
            bucket = sorted(buckets[variable], key=lambda at: (len(sorted_scopes[at]), at))
            groups = _groups(bucket, sorted_scopes, position, sizes, most_entries)
            for group in groups:
                message = group.scope[1:]
                (buckets[message[0]] if message else self._constants).append(len(sorted_scopes))
                sorted_scopes.append(message)
            self._steps.append((variable, groups))
        self._sorted_scopes = sorted_scopes
        self.exact = all(len(groups) <= 1 for _, groups in self._steps)
        built = [math.prod(sizes[variable] for variable in scope) for scope in sorted_scopes[len(scopes) :]]
        self.entries = sum(built)

    def minimise(self, costs: Sequence[Table], guess: Sequence[int] | None = None) -> Minimum:
        """The assignment of least cost.

        Among assignments of equal cost the variable eliminated last has the lowest state possible, then the one
        before it, and so on; on a chain the last layer goes first. Tables of complex numbers are minimised by their
        real parts, and among equal ones by their imaginary parts: numpy orders complex numbers so, which makes a
        second criterion exact.

        Args:
            costs: a table for each scope.
            guess: an assignment that the result shall not be worse than, where it is not exact.
        """
        tables: list[Any] = list(costs)
        for at, axes in self._transposed:
            tables[at] = tables[at].transpose(axes)
        for _, groups in self._steps:
            for group in groups:
                tables.append(np.minimum.reduce(_sum(group, tables), axis=0))
        bound = sum(tables[at][()] for at in self._constants)
        states = self._assignment(tables)
        if self.exact:
            return Minimum(states, bound, bound)
        starts = [states] if guess is None else [states, list(guess)]
        cost, states = min(((self._improve(start, costs), start) for start in starts), key=_in_order)
        return Minimum(states, cost, min((bound, states), (cost, states), key=_in_order)[0])

    def _assignment(self, tables: list[Any]) -> list[int]:
        """The best state of each variable, given those of the variables eliminated after it."""
        states = [0] * len(self._sizes)
        for variable, groups in reversed(self._steps):
            total = None
            for group in groups:
                for at, _ in group.members:
                    row = tables[at][(slice(None), *(states[other] for other in self._sorted_scopes[at][1:]))]
                    total = row if total is None else total + row
            if total is not None:
                states[variable] = int(total.argmin())
        return states

    def _improve(self, states: list[int], costs: Sequence[Table]) -> complex:
        """Change single variables in place as long as that saves something; returns what the assignment costs."""
        touching: list[list[int]] = [[] for _ in self._sizes]
        for at, scope in enumerate(self._scopes):
            for variable in scope:
                touching[variable].append(at)
        for _ in range(MOST_SWEEPS):
            changed = False
            for variable, factors in enumerate(touching):
                total: Any = np.zeros(self._sizes[variable])
                for at in factors:
                    scope = self._scopes[at]
                    index = tuple(slice(None) if other == variable else states[other] for other in scope)
                    total = total + costs[at][index]
                best = int(total.argmin())
                if total[best] != total[states[variable]]:
                    states[variable], changed = best, True
            if not changed:
                break
        return self.cost_of(states, costs)

    def cost_of(self, states: Sequence[int], costs: Sequence[Table]) -> complex:
        """What an assignment costs."""
        entries = (
            cost[tuple(states[variable] for variable in scope)] for scope, cost in zip(self._scopes, costs, strict=True)
        )
        return complex(sum(entries))


def _in_order(found: tuple[complex, list[int]]) -> tuple[float, float]:
    return found[0].real, found[0].imag


@lru_cache(maxsize=16)
def cached_elimination(
    sizes: tuple[int, ...], scopes: tuple[Scope, ...], most_entries: int = MOST_ENTRIES
) -> Elimination:
    """The elimination for a structure that is likely to come again with other costs, in bounded memory."""
    while True:
        elimination = Elimination(sizes, scopes, most_entries)
        if elimination.entries <= MOST_KEPT or most_entries <= max(sizes):
            return elimination
        most_entries //= 8


def _sum(group: _Group, tables: list[Any]) -> Any:
    (at, index), *others = group.members
    total = tables[at][index]
    for at, index in others:
        total = total + tables[at][index]
    return total


def _groups(
    bucket: Sequence[int], scopes: Sequence[Scope], position: dict[int, int], sizes: Sequence[int], most_entries: int
) -> list[_Group]:
    """The bucket as one group, or as several where the table of all together would have too many entries."""
    parts: list[tuple[list[int], set[int]]] = []
    for at in sorted(bucket, key=lambda at: -len(scopes[at])):
        variables = set(scopes[at])
        for members, union in parts:
            if math.prod(sizes[variable] for variable in union | variables) <= most_entries:
                members.append(at)
                union |= variables
                break
        else:
            parts.append(([at], variables))
    groups = []
    for members, union in parts:
        scope = tuple(sorted(union, key=position.__getitem__))
        in_order = [at for at in bucket if at in members]
        groups.append(_Group(tuple((at, _expansion(scopes[at], scope)) for at in in_order), scope))
    return groups


def _expansion(scope: Scope, wanted: Scope) -> tuple[Any, ...]:
    """The index that gives a table over `scope` an axis for each variable of `wanted`, in the same order."""
    return tuple(slice(None) if variable in scope else None for variable in wanted)


def _order(sizes: Sequence[int], scopes: Sequence[Scope]) -> list[int]:
    """The variable whose table is smallest goes first (weighted min-degree); ties to the lowest number."""
    neighbours: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for variable in scope:
            neighbours[variable].update(scope)
    for variable, others in enumerate(neighbours):
        others.discard(variable)

    def entries(variable: int) -> int:
        return math.prod([sizes[variable], *(sizes[other] for other in neighbours[variable])])

    weights = [entries(variable) for variable in range(len(sizes))]
    queue = [(weight, variable) for variable, weight in enumerate(weights)]
    heapq.heapify(queue)
    order: list[int] = []
    while queue:
        weight, variable = heapq.heappop(queue)
        if weight != weights[variable]:
            continue  # it has changed since, and is in the queue again
        weights[variable] = -1
        order.append(variable)
        around = neighbours[variable]
        for other in around:
            neighbours[other] |= around
            neighbours[other] -= {other, variable}
        for other in around:
            fresh = entries(other)
            if fresh != weights[other]:
                weights[other] = fresh
                heapq.heappush(queue, (fresh, other))
    return order
