"""The assignment of least cost among those that fit in memory.

What an accelerator holds is a sum over the layers and the largest of what the layers need for a moment. For each limit
to that moment the states that exceed it are forbidden, and the memory that is left is a budget for the sum. A price
for each byte of it (Lagrange) gives assignments that fit, and a bound that none that fits is below. On a chain, labels
(cost, bytes) set from layer to layer, as far as the bound lets them, find the least exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.solvers.memory_bound import Shares

ROUNDING = 1e-12
"""Share by which two sums of the same numbers, added up in another order, may differ."""
MOST_LABELS = 2**20
MOST_PRICES = 20
States = NDArray[np.int64]
"""int64[layers]: the state of each layer."""
Minimise = Callable[[NDArray[np.complex128]], tuple[States, complex, float]]
"""From costs of the layers' states, complex128[layers, states], to the least assignment, what it costs and a bound."""


@dataclass(frozen=True)
class Fitting:
    """A problem of least cost among assignments that fit.

    Attributes:
        layer_costs: complex128[layers, states].
        shares: what each state holds.
        minimise: minimises the layers' costs with those between the layers.
        cost_of: what an assignment costs, with the costs between the layers.
        transitions: float64[edges, states, states] of a chain; None where it shall end with prices and their bound.
        most_limits: limits to the moment's need that are then told apart.
    """

    layer_costs: NDArray[np.complex128]
    shares: Shares
    minimise: Minimise
    cost_of: Callable[[States], complex]
    transitions: NDArray[np.float64] | None
    most_limits: int

    def find(self) -> tuple[States, complex, float]:
        """The assignment, its cost, and what none that fits costs less than; some assignment has to fit."""
        best = _Best()
        bound, price = math.inf, 0.0
        for limits in self._limits():
            # of several limits the loosest says which states are allowed and the tightest what is left: a bound for all
            budget = self.shares.capacity - limits[-1]
            allowed = np.where(self.shares.moment <= limits[0], self.layer_costs, np.inf)
            lightest: States = np.where(np.isfinite(allowed.real), self.shares.kept, np.inf).argmin(axis=1)
            self._consider(lightest, best)
            cheapest, relaxed = self._priced(allowed, 0.0, budget, best)
            if best.beats(relaxed):
                break  # lower limits only forbid more
            settled = self.transitions is None or self.shares.fit(cheapest)  # else one as good may be closer
            if relaxed >= best.cost.real and settled:
                bound = min(bound, relaxed)
                break  # for the same reason
            if price and best.beats(self._priced(allowed, price, budget, best)[1]):
                continue
            price, dual = self._best_price(allowed, budget, cheapest, lightest, best)
            relaxed = max(relaxed, dual)
            if not best.beats(relaxed) and self._labelled(allowed, price, budget, best):
                relaxed = math.inf  # nothing is left to find
            bound = min(bound, relaxed)
        return best.states, best.cost, min(bound, best.cost.real)

    def _limits(self) -> list[list[float]]:
        """The limits to look at, one by one or, where the search ends with a bound, several at once."""
        limits = self.shares.limits()
        count = len(limits) if self.transitions is not None else min(len(limits), self.most_limits)
        return [part.tolist() for part in np.array_split(limits, count)]

    def _priced(
        self, allowed: NDArray[np.complex128], price: float, budget: float, best: _Best
    ) -> tuple[States, float]:
        """The least assignment where each byte that is kept has a price, and the bound that it proves."""
        states, _, least = self.minimise(allowed + price * self.shares.kept)
        self._consider(states, best)
        return states, least - price * budget

    def _best_price(
        self, allowed: NDArray[np.complex128], budget: float, over: States, within: States, best: _Best
    ) -> tuple[float, float]:
        """The price with the highest bound, and the bound: where two assignments cost the same, one on each side.

        Args:
            allowed: the costs of the layers' states.
            budget: for the bytes that are kept.
            over: the cheapest assignment, which keeps too much.
            within: the lightest one.
            best: takes the assignments that fit.
        """
        lightest, price, bound = within, 0.0, -math.inf
        for _ in range(MOST_PRICES):
            spared = self.shares.kept_in(over) - self.shares.kept_in(within)
            if self.shares.kept_in(over) <= budget or spared <= 0:
                break
            trial = (self.cost_of(within).real - self.cost_of(over).real) / spared
            states, relaxed = self._priced(allowed, trial, budget, best)
            if relaxed > bound:
                price, bound = trial, relaxed
            if any(np.array_equal(states, known) for known in (over, within)):
                break
            if self.shares.kept_in(states) > budget:
                over = states
            else:
                within = states
        if self.transitions is None:
            self._mix(over, within if self.shares.fit(within) else lightest, best)
        return price, bound

    def _mix(self, over: States, within: States, best: _Best) -> None:
        """Take the layers up to one from an assignment that fits and the others from a cheaper one, or the reverse."""
        layers = np.arange(len(over))
        for at in range(1, len(over)):
            for first, second in ((over, within), (within, over)):
                self._consider(np.where(layers < at, first, second), best)

    def _consider(self, states: States, best: _Best) -> None:
        if self.shares.fit(states):
            best.take(states, self.cost_of(states))

    def _labelled(self, allowed: NDArray[np.complex128], price: float, budget: float, best: _Best) -> bool:
        """Look at all assignments that could be better; False where that is too many, or it is not a chain."""
        if self.transitions is None:
            return False
        kept = self.shares.kept
        spare_kept = np.where(np.isfinite(allowed.real), kept, np.inf).min(axis=1)
        kept_after = spare_kept[::-1].cumsum()[::-1] - spare_kept
        cost_after = np.zeros(allowed.shape)
        for layer in range(len(allowed) - 1, 0, -1):
            onward = allowed[layer].real + price * kept[layer] + cost_after[layer]
            cost_after[layer - 1] = (self.transitions[layer - 1] + onward).min(axis=1)
        labels = _Labels(np.zeros(1, complex), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64))
        history: list[_Labels] = []
        for layer, costs in enumerate(allowed):
            parts: list[_Labels] = []
            for state in np.flatnonzero(np.isfinite(costs.real)).tolist():
                entering = self.transitions[layer - 1][labels.state, state] if layer else 0.0
                cost = labels.cost + entering + costs[state]
                held = labels.kept + kept[layer, state]
                least = cost.real + cost_after[layer, state] + price * (held - budget)
                open_ = np.flatnonzero((held + kept_after[layer] <= budget) & ~best.beat(least))
                order = open_[np.lexsort((held[open_], cost[open_].imag, cost[open_].real))]
                lightest = np.minimum.accumulate(np.append(np.inf, held[order]))[:-1]
                chosen = order[held[order] < lightest]
                parts.append(_Labels(cost[chosen], held[chosen], np.full(len(chosen), state), chosen))
            labels = _Labels.together(parts)
            history.append(labels)
            if sum(len(step.cost) for step in history) > MOST_LABELS:
                return False
        if len(labels.cost):
            at = int(np.lexsort((labels.cost.imag, labels.cost.real))[0])
            states = np.empty(len(allowed), dtype=np.int64)
            for layer in range(len(allowed) - 1, -1, -1):
                states[layer], at = history[layer].state[at], history[layer].parent[at]
            self._consider(states, best)
        return True


class _Best:
    """The best assignment so far."""

    def __init__(self) -> None:
        self.cost = complex(math.inf)
        self.states: States = np.zeros(0, dtype=np.int64)

    def take(self, states: States, cost: complex) -> None:
        if (cost.real, cost.imag) < (self.cost.real, self.cost.imag):
            self.states, self.cost = states, cost

    def beats(self, bound: float) -> bool:
        """Whether nothing that costs at least `bound` can be better, or as good and closer."""
        return bound > self.cost.real * (1 + ROUNDING)

    def beat(self, bounds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The same for many."""
        return bounds > self.cost.real * (1 + ROUNDING)


@dataclass(frozen=True)
class _Labels:
    """Ways to a layer, of which none is both dearer and heavier than another to the same state; all are [labels]."""

    cost: NDArray[np.complex128]
    kept: NDArray[np.float64]
    state: States
    parent: States

    @classmethod
    def together(cls, parts: list[_Labels]) -> _Labels:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))
