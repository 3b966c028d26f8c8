"""The load of every range of units on every kind of device, for the placement of operators.

Ranges are float64[ends, begins]: the units between two downsets, from the end's view, as they are summed up along the
lattice of downsets: one more unit changes only the tensors that touch it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks.operator_graph import OperatorGraph
from hypar_exp.planning.pipelines.cuts import Cuts, cuts_of_graph
from hypar_exp.planning.pipelines.units_together import units_of

Kind = Literal["accelerator", "cpu"]


class Loads:
    """Loads of all ranges between two downsets of a graph's units."""

    def __init__(self, graph: OperatorGraph) -> None:
        self.graph = graph
        self.unit, edges = units_of(graph)
        self._units = int(self.unit.max()) + 1
        self.cuts: Cuts = cuts_of_graph(self._units, edges, graph.name)
        self._steps = _Steps(self.cuts, edges)
        self._accelerator_s, self._cpu_s = self._before(graph.accelerator_s), self._before(graph.cpu_s)
        self._memory_bytes = self._before(graph.memory_bytes)
        self._unsupported = self._before((~graph.on_accelerator).astype(np.float64))
        self._transfers_s = self._transfers()

    def rows(self, kind: Kind, first: int, last: int, memory_bytes: float) -> NDArray[np.float64]:
        """float64[last - first, last]: the loads of ranges that end at cuts `first` to `last`, by where they begin;
        infinity where there is no such range or the device cannot run it, 0 where it is empty.
        """
        ends, begins = slice(first, last), slice(0, last)
        transfers_s = self._transfers_s[ends, begins]
        if kind == "cpu":
            return np.where(np.isfinite(transfers_s), self._between(self._cpu_s, ends, begins), np.inf)
        loads = self._between(self._accelerator_s, ends, begins) + transfers_s
        loads[self._between(self._memory_bytes, ends, begins) > memory_bytes] = np.inf
        if self._unsupported[-1]:
            loads[self._between(self._unsupported, ends, begins) > 0] = np.inf
        return loads

    def memory_needs(self) -> NDArray[np.float64]:
        """The bytes that any range takes on an accelerator, ascending."""
        everything = slice(0, len(self.cuts))
        needs = self._between(self._memory_bytes, everything, everything)
        return np.unique(needs[np.isfinite(self._transfers_s)])

    def nodes_between(self, begin: int, end: int) -> tuple[int, ...]:
        """The operators of a range, forward and backward."""
        inside = self.cuts.inside[end] & ~self.cuts.inside[begin]
        return tuple(np.flatnonzero(inside[self.unit]).tolist())

    def _before(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        by_unit: NDArray[np.float64] = np.bincount(self.unit, values, self._units).astype(np.float64)
        return self.cuts.totals(by_unit)

    @staticmethod
    def _between(before: NDArray[np.float64], ends: slice, begins: slice) -> NDArray[np.float64]:
        between: NDArray[np.float64] = before[ends, None] - before[begins]
        return between

    def _transfers(self) -> NDArray[np.float64]:
        """float64[ends, begins]: seconds of the tensors that cross a range's border, each once; infinity where none is.

        A tensor touches the unit that writes it and those that read it, and crosses where some are inside, not all.
        """
        tensors = self._tensors()
        sizes = np.array([len(units) for units in tensors])
        transfer_s = np.array(list(tensors.values()))
        inside = self.cuts.inside
        counts = np.array([inside[:, list(units)].sum(axis=1) for units in tensors], np.int16).reshape(-1, len(inside))
        touching: list[list[int]] = [[] for _ in range(self._units)]
        for number, units in enumerate(tensors):
            for unit in units:
                touching[unit].append(number)
        transfers_s = np.full((len(inside), len(inside)), np.inf)
        transfers_s[0, 0] = 0.0
        for end in range(1, len(inside)):
            unit, smaller = self._steps.last_step[end]
            own = touching[unit]
            row = transfers_s[end]
            if len(own):
                now, seconds = counts[own, smaller, None], transfer_s[own]
                enters = seconds @ (counts[own, :end] == now)
                leaves = seconds @ (counts[own, :end] == now - sizes[own, None] + 1)
                row[:end] = transfers_s[smaller, :end] + (enters - leaves)
            else:
                row[:end] = transfers_s[smaller, :end]
            larger, without = self._steps.pairs[unit]
            row[larger] = transfers_s[smaller, without]
        np.maximum(transfers_s, 0.0, out=transfers_s)
        return transfers_s

    def _tensors(self) -> dict[frozenset[int], float]:
        """The units that tensors touch, two at least, -> the transfer of all that touch just these."""
        touched: dict[int, set[int]] = {}
        for producer, consumer in self.graph.edges:
            touched.setdefault(producer, {int(self.unit[producer])}).add(int(self.unit[consumer]))
        tensors: dict[frozenset[int], float] = {}
        for producer, units in touched.items():
            if len(units) > 1 and self.graph.transfer_s[producer]:
                key = frozenset(units)
                tensors[key] = tensors.get(key, 0.0) + float(self.graph.transfer_s[producer])
        return tensors


class _Steps:
    """Which downsets differ by one unit.

    Attributes:
        last_step: for every downset but the empty one, a unit that can be taken away, and what is left.
        pairs: for every unit, the downsets that it can be taken away from, and what is left of each.
    """

    def __init__(self, cuts: Cuts, edges: list[tuple[int, int]]) -> None:
        units = cuts.inside.shape[1]
        reads = np.zeros((units, units), dtype=np.float32)
        for producer, consumer in edges:
            reads[producer, consumer] = 1.0
        unread = cuts.inside & (cuts.inside.astype(np.float32) @ reads.T == 0)
        packed = np.packbits(cuts.inside, axis=1, bitorder="little")
        members = [int.from_bytes(row.tobytes(), "little") for row in packed]
        number = {downset: index for index, downset in enumerate(members)}
        self.last_step: dict[int, tuple[int, int]] = {}
        pairs: list[tuple[list[int], list[int]]] = [([], []) for _ in range(units)]
        for larger, unit in np.argwhere(unread).tolist():
            smaller = number[members[larger] ^ (1 << unit)]
            self.last_step[larger] = unit, smaller
            pairs[unit][0].append(larger)
            pairs[unit][1].append(smaller)
        self.pairs = [(np.array(larger, np.intp), np.array(smaller, np.intp)) for larger, smaller in pairs]
