"""The array: how many accelerators there are and how far the network carries a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hypar_exp.checks import require_whole

MOST_LEVELS = 16


class AcceleratorArray(Protocol):
    """2^levels accelerators and their interconnect; a user's own topology needs no more than this."""

    @property
    def name(self) -> str: ...

    @property
    def levels(self) -> int:
        """Hierarchy levels, 0 to 16."""
        ...

    @property
    def hop_factor(self) -> float:
        """Times that a byte takes the link rate's time on its way; at least 1."""
        ...


@dataclass(frozen=True)
class _UniformArray:
    """What the arrays of accelerators of one kind have in common.

    Raises:
        UserError: levels outside 0 to 16.
    """

    name: str
    levels: int = 4

    def __post_init__(self) -> None:
        require_whole("array", "levels", self.levels, least=0, most=MOST_LEVELS)


@dataclass(frozen=True)
class HTree(_UniformArray):
    """An H tree: a tensor takes one hop, whatever the level."""

    name: str = "htree"

    @property
    def hop_factor(self) -> float:
        return 1.0


@dataclass(frozen=True)
class Torus(_UniformArray):
    """A two-dimensional torus, as square as powers of two allow (figure 12)."""

    name: str = "torus"

    @property
    def hop_factor(self) -> float:
        """Mean hop distance over all ordered pairs of nodes, a node with itself included, and at least 1."""
        rows = 2 ** (self.levels // 2)
        columns = 2 ** (self.levels - self.levels // 2)
        return max(1.0, _mean_ring_distance(rows) + _mean_ring_distance(columns))


def _mean_ring_distance(nodes: int) -> float:
    return sum(min(step, nodes - step) for step in range(nodes)) / nodes


def accelerators(array: AcceleratorArray) -> int:
    """N = 2^levels."""
    return int(2**array.levels)
