"""Operations of a pipeline, and what a schedule is: the order in which every device runs its own."""

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

KEPT = 16
"""Added to the kind of a backward operation whose activations the schedule keeps, whatever the plan computes again."""


class Schedule(Protocol):
    """An order of operations for any number of devices and micro-batches; frozen, so that it can be a key."""

    def __hash__(self) -> int: ...

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
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


def together(first: Order, second: Order) -> Order:
    """The operations of two equally long runs in pairs, each pair at the same time."""
    return alternate(first, second + np.array([JOINED, 0, 0], np.int32))


def in_sequence(*runs: Order) -> Order:
    """Runs one after the other."""
    return np.concatenate(runs)


def one_forward_one_backward(forward: Order, backward: Order, warm_up: int, at_once: bool) -> Order:
    """`warm_up` forwards, then backwards and forwards in turn or in pairs at once, then the other backwards."""
    steady = len(forward) - warm_up
    pair = (
        together(forward[warm_up:], backward[:steady]) if at_once else alternate(backward[:steady], forward[warm_up:])
    )
    return in_sequence(forward[:warm_up], pair, backward[steady:])


def listed(operations: Iterable[tuple[int, int, int]]) -> Order:
    """The order that a list of (kind, chunk, micro-batch) is."""
    return np.array(list(operations), np.int32).reshape(-1, 3)


def one_each(devices: int) -> list[tuple[int]]:
    """Chunk s on device s."""
    return [(device,) for device in range(devices)]


def v_shaped(devices: int) -> list[tuple[int, int]]:
    """Chunks down the devices and back up: device s holds chunks s and 2p - 1 - s."""
    return [(device, 2 * devices - 1 - device) for device in range(devices)]


def both_ways(devices: int) -> list[tuple[int, int]]:
    """Two pipelines in opposite directions: device s holds chunks s and p - 1 - s."""
    return [(device, devices - 1 - device) for device in range(devices)]
