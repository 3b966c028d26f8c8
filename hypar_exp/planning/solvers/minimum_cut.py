"""Graphs of any width, where a minimum cut is the best plan of a level.

With two splits, an edge that costs no more for equal choices than for unequal ones (f(0,0) + f(1,1) <= f(0,1) + f(1,0))
makes the sum submodular, and its minimum is a minimum cut: layers on the source's side take the first split, those on
the sink's side the second (Kolmogorov and Zabih, PAMI 2004). The paper's accountings are of this form.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def least_cut(
    within: NDArray[np.float64], between: NDArray[np.float64], ends: Sequence[tuple[int, int]]
) -> NDArray[np.uint8] | None:
    """The choices of least cost, of equal ones with as many of the first split as can be.

    Args:
        within: float64[layers, 2].
        between: float64[edges, 2, 2], by the choices at the two ends.
        ends: producer and consumer of each edge.

    Returns:
        uint8[layers]; None where there are more splits, or an edge prefers unequal choices.
    """
    excess = between[:, 0, 1] + between[:, 1, 0] - between[:, 0, 0] - between[:, 1, 1]
    if within.shape[1] != 2 or (excess < 0).any():
        return None
    second = within[:, 1] - within[:, 0]  # what a layer pays more for the second split
    producers, consumers = np.array(ends, dtype=np.intp).reshape(-1, 2).T
    np.add.at(second, producers, between[:, 1, 0] - between[:, 0, 0])
    np.add.at(second, consumers, between[:, 1, 1] - between[:, 1, 0])
    layers = len(within)
    source, sink = layers, layers + 1
    flow = _Flow(layers + 2)
    for layer, price in enumerate(second.tolist()):
        if price > 0:
            flow.add(source, layer, price)
        elif price < 0:
            flow.add(layer, sink, -price)
    for (producer, consumer), price in zip(ends, excess.tolist(), strict=True):
        if price > 0:
            flow.add(producer, consumer, price)
    flow.saturate(source, sink)
    choices = np.zeros(layers, dtype=np.uint8)
    choices[[node for node in flow.reaching(sink) if node < layers]] = 1
    return choices


class _Flow:
    """The maximum flow through a network of capacities (Dinic 1970)."""

    def __init__(self, nodes: int) -> None:
        self._leaving: list[list[int]] = [[] for _ in range(nodes)]
        self._target: list[int] = []
        self._left: list[float] = []  # what an arc can still carry; arc ^ 1 is the same arc backwards

    def add(self, start: int, end: int, capacity: float) -> None:
        for node, target, left in ((start, end, capacity), (end, start, 0.0)):
            self._leaving[node].append(len(self._target))
            self._target.append(target)
            self._left.append(left)

    def saturate(self, source: int, sink: int) -> None:
        """Send as much as there is room for."""
        while True:
            depth = self._depths(source)
            if depth[sink] < 0:
                return
            tried = [0] * len(self._leaving)
            while self._send(source, sink, depth, tried):
                pass

    def reaching(self, sink: int) -> list[int]:
        """The nodes that could send more to the sink, which is one of them."""
        found, waiting = {sink}, deque([sink])
        while waiting:
            for arc in self._leaving[waiting.popleft()]:
                node = self._target[arc]
                if self._left[arc ^ 1] > 0 and node not in found:
                    found.add(node)
                    waiting.append(node)
        return sorted(found)

    def _depths(self, source: int) -> list[int]:
        depth = [-1] * len(self._leaving)
        depth[source] = 0
        waiting = deque([source])
        while waiting:
            node = waiting.popleft()
            for arc in self._leaving[node]:
                target = self._target[arc]
                if self._left[arc] > 0 and depth[target] < 0:
                    depth[target] = depth[node] + 1
                    waiting.append(target)
        return depth

    def _send(self, source: int, sink: int, depth: list[int], tried: list[int]) -> bool:
        """Send along one way of rising depth; `tried` counts the arcs of each node that lead nowhere any more."""
        way: list[int] = []
        node = source
        while node != sink:
            arcs = self._leaving[node]
            while tried[node] < len(arcs):
                arc = arcs[tried[node]]
                if self._left[arc] > 0 and depth[self._target[arc]] == depth[node] + 1:
                    way.append(arc)
                    node = self._target[arc]
                    break
                tried[node] += 1
            else:
                if not way:
                    return False
                node = self._target[way.pop() ^ 1]
                tried[node] += 1
        amount = min(self._left[arc] for arc in way)
        for arc in way:
            self._left[arc] -= amount
            self._left[arc ^ 1] += amount
        return True
