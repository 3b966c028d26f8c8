"""Operators that have to be on one device, as units of a graph without circles.

A unit is all operators of one number of `together`: a layer's forward operators and the backward ones that use the same
weights. Units follow the forward pass; a unit with backward operators only follows the backward pass, turned around.
Units that read each other in a circle are one.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks.operator_graph import OperatorGraph


def units_of(graph: OperatorGraph) -> tuple[NDArray[np.intp], list[tuple[int, int]]]:
    """The unit of each operator, intp[nodes], and the edges between units."""
    groups = graph.together
    count = int(groups.max()) + 1
    has_forward = np.zeros(count, np.bool_)
    has_forward[groups[~graph.backward]] = True
    edges = set()
    for producer, consumer in graph.edges:
        first, second = int(groups[producer]), int(groups[consumer])
        if graph.backward[producer] and graph.backward[consumer]:
            if not (has_forward[first] and has_forward[second]):
                edges.add((second, first))
        elif not graph.backward[consumer]:
            edges.add((first, second))
    edges = {(first, second) for first, second in edges if first != second}
    unit = _without_circles(count, edges)
    renamed = {(int(unit[first]), int(unit[second])) for first, second in edges}
    return unit[groups], sorted((first, second) for first, second in renamed if first != second)


def _without_circles(count: int, edges: set[tuple[int, int]]) -> NDArray[np.intp]:
    """intp[groups]: groups that reach each other have one number."""
    needs: dict[int, list[int]] = {}
    for first, second in edges:
        needs.setdefault(second, []).append(first)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError:
        return _components(count, edges)
    return np.arange(count, dtype=np.intp)


def _components(count: int, edges: set[tuple[int, int]]) -> NDArray[np.intp]:
    reached = [1 << group for group in range(count)]
    for first, second in edges:
        reached[first] |= 1 << second
    for middle in range(count):
        beyond = reached[middle]
        for group in range(count):
            if reached[group] >> middle & 1:
                reached[group] |= beyond
    least = [
        next(other for other in range(count) if reached[group] >> other & 1 and reached[other] >> group & 1)
        for group in range(count)
    ]
    return np.unique(least, return_inverse=True)[1].astype(np.intp)
