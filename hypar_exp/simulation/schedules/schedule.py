"""What a schedule is: the order in which every device of a pipeline runs its operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Order = NDArray[np.int32]
"""int32[operations, 3]: the operations of one device, first to last, each a kind, a chunk and a micro-batch."""


class Kind(IntEnum):
    """What an operation computes for one micro-batch in one chunk."""

    FORWARD = 0
    BACKWARD = 1
    """Both gradients in one operation."""
    INPUT_GRADIENT = 2
    WEIGHT_GRADIENT = 3
    RECOMPUTE = 4

    @property
    def letter(self) -> str:
        return "FBIWR"[self]


JOINED = 8
"""Added to the kind of an operation that runs at the same time as the one before it: exchanges of each are hidden
under the other's compute."""


class Schedule(Protocol):
    """An order of operations for any number of devices and micro-batches; frozen, so that it can be a key."""

    def __hash__(self) -> int: ...

    def chunks(self, devices: int) -> Sequence[Sequence[int]]:
        """For each device the chunks that it holds; a chunk of two devices has its weights twice."""

    def orders(self, devices: int, micro_batches: int) -> Sequence[Order]:
        """For each device its operations in their order.

        Raises:
            UserError: the schedule is not made for so many devices or micro-batches.
        """


def run(kind: int, chunk: ArrayLike, micro_batches: ArrayLike) -> Order:
    """Operations of one kind, one after the other; `chunk` and `micro_batches` are numbers or arrays of a length."""
    chunks, parts = np.broadcast_arrays(np.atleast_1d(chunk), np.atleast_1d(micro_batches))
    return np.stack([np.full(len(parts), kind), chunks, parts], axis=1).astype(np.int32)


def alternate(first: Order, second: Order) -> Order:
    """The operations of two equally long runs in turn, `first` first."""
    return np.stack([first, second], axis=1).reshape(-1, 3)


def in_sequence(*runs: Order) -> Order:
    """Runs one after the other."""
    return np.concatenate(runs)


def listed(operations: Iterable[tuple[int, int, int]]) -> Order:
    """The order that a list of (kind, chunk, micro-batch) is."""
    return np.array(list(operations), np.int32).reshape(-1, 3)


def one_each(devices: int) -> list[tuple[int]]:
    """Chunk s on device s."""
    return [(device,) for device in range(devices)]
