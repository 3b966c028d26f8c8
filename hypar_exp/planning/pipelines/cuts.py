"""Where a graph can be cut into stages: at its downsets, the sets of units that contain all that their units read.

A stage is what lies between two of them; a chain of L units has L + 1 (its prefixes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError

MOST_CUTS = 5_000
"""A planner looks at pairs of cuts; of more than this there are too many."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Downsets in order of size: the first is empty, the last is all.

    Attributes:
        inside: bool[cuts, units], which units lie before the cut.
    """

    inside: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.inside)

    @cached_property
    def below(self) -> NDArray[np.bool_]:
        """bool[cuts, cuts]: whether something lies between the first cut and the second, and nothing but it."""
        members = self.inside.astype(np.float32)
        sizes = members.sum(axis=1)
        contained: NDArray[np.bool_] = members @ members.T == sizes[:, None]
        smaller: NDArray[np.bool_] = sizes[:, None] < sizes
        return contained & smaller

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """float64[cuts, cuts]: 0 where a stage can lie between two cuts, else infinity."""
        return np.where(self.below, 0.0, np.inf)

    def units_between(self, start: int, end: int) -> tuple[int, ...]:
        """The units of the stage between two cuts."""
        return tuple(np.flatnonzero(self.inside[end] & ~self.inside[start]).tolist())

    def totals(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[cuts]: the sum of a unit's `values` before each cut."""
        sums: NDArray[np.float64] = self.inside @ values
        return sums

    def between(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[cuts, cuts]: the sum of a unit's `values` between two cuts; infinity where there is no stage."""
        totals = self.totals(values)
        ranges: NDArray[np.float64] = totals - totals[:, None] + self.reach
        return ranges

    def crossing(self, values: NDArray[np.float64], edges: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
        """float64[cuts]: the sum of `values` over the units that a unit behind the cut reads, each once."""
        units = self.inside.shape[1]
        reads = np.zeros((units, units), dtype=np.float32)
        for producer, consumer in edges:
            reads[producer, consumer] = 1.0
        read_behind = (~self.inside).astype(np.float32) @ reads.T > 0
        crossed: NDArray[np.float64] = (self.inside & read_behind) @ values
        return crossed


def cuts_of_graph(units: int, edges: Sequence[tuple[int, int]], name: str, most: int = MOST_CUTS) -> Cuts:
    """All downsets of a graph with units 0 ... `units` - 1.

    Raises:
        UserError: there are more than `most`.
    """
    needs = [0] * units
    readers: list[list[int]] = [[] for _ in range(units)]
    for producer, consumer in edges:
        needs[consumer] |= 1 << producer
        readers[producer].append(consumer)
    ready = sum(1 << unit for unit in range(units) if not needs[unit])
    found = {0: ready}
    layer = [0]
    for _ in range(units):
        larger: list[int] = []
        for downset in layer:
            addable = found[downset]
            while addable:
                lowest = addable & -addable
                addable ^= lowest
                bigger = downset | lowest
                if bigger in found:
                    continue
                next_ready = found[downset] ^ lowest
                for reader in readers[lowest.bit_length() - 1]:
                    if needs[reader] & ~bigger == 0:
                        next_ready |= 1 << reader
                found[bigger] = next_ready
                larger.append(bigger)
        if len(found) > most:
            raise UserError(
                f"{name} can be cut in more than {most} places, too many to look at in pairs; workload.linear=true "
                "cuts it in the order of its layers alone"
            )
        layer = larger
    size = (units + 7) // 8
    packed = np.frombuffer(b"".join(downset.to_bytes(size, "little") for downset in found), np.uint8)
    bits = np.unpackbits(packed.reshape(len(found), size), axis=1, bitorder="little")
    return Cuts(bits[:, :units].astype(np.bool_))


def cuts_in_order(units: int) -> Cuts:
    """The cuts of units in one given order, 0 first: the prefixes."""
    return Cuts(np.tri(units + 1, units, -1, dtype=np.bool_))
