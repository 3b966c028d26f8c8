"""Plan spaces: every plan that a choice of free entries leaves open, counted out in order or drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.plan import Choices, Split

PLANS_PER_CHUNK = 8192


@dataclass(frozen=True, eq=False)
class PlanSpace:
    """The plans that agree with `base` outside of the free entries.

    They are counted like numbers: the entry of the top level's first layer is the first digit, its last layer's
    comes before the next level's first, and plan 0 has the lowest split in every free entry.

    Attributes:
        base: uint8[levels, layers].
        free: bool[levels, layers].
        splits: what a free entry can be.
    """

    base: Choices
    free: NDArray[np.bool_]
    splits: tuple[Split, ...] = (Split.DP, Split.MP)

    @cached_property
    def count(self) -> int:
        """How many plans there are; exact however many."""
        return int(len(self.splits) ** int(self.free.sum()))

    def plans(self) -> Choices:
        """All of them: uint8[count, levels, layers]; `chunks` is for what does not fit in memory."""
        return np.concatenate(list(self.chunks()))

    def chunks(self, most: int = PLANS_PER_CHUNK) -> Iterator[Choices]:
        """All of them in order, uint8[up to `most`, levels, layers] at a time."""
        entries = np.flatnonzero(self.free)
        kinds = len(self.splits)
        low = 0  # so many of the last digits run through all their values within a chunk; the others stand still
        while low < len(entries) and kinds ** (low + 1) <= most:
            low += 1
        chunk = np.tile(self.base.ravel(), (kinds**low, 1))
        split_of = np.array(self.splits, dtype=np.uint8)
        chunk[:, entries[len(entries) - low :]] = split_of[_digits(np.arange(kinds**low), kinds, low)]
        high = len(entries) - low
        for number in range(kinds**high):
            chunk[:, entries[:high]] = split_of[_digits(np.array(number), kinds, high)]
            yield chunk.reshape(len(chunk), *self.base.shape).copy()

    def samples(self, count: int, seed: int, most: int = PLANS_PER_CHUNK) -> Iterator[Choices]:
        """`count` of them, drawn uniformly and independently (one can come twice), in chunks as `chunks` gives them."""
        random = np.random.default_rng(seed)
        entries = np.flatnonzero(self.free)
        split_of = np.array(self.splits, dtype=np.uint8)
        for start in range(0, count, most):
            chunk = np.tile(self.base.ravel(), (min(most, count - start), 1))
            chunk[:, entries] = split_of[random.integers(0, len(self.splits), (len(chunk), len(entries)), np.uint8)]
            yield chunk.reshape(len(chunk), *self.base.shape)


def _digits(numbers: NDArray[np.int64], base: int, places: int) -> NDArray[np.int64]:
    """int64[..., places]: the digits of numbers, the highest first."""
    powers = base ** np.arange(places - 1, -1, -1, dtype=np.int64)
    digits: NDArray[np.int64] = numbers[..., None] // powers % base
    return digits
