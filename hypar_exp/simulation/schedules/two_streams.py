"""The order that DualPipe and DualPipe-V share: two streams of micro-batches through a device."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from hypar_exp.simulation.operations import JOINED, Kind, Order, listed


class TwoStreams:
    """A device's order as it is made, step after step of DualPipe's description (DeepSeek-AI, 2024, figure 5).

    Args:
        streams: chunk and micro-batches of the stream that the device starts with, and of the other one.
    """

    def __init__(self, streams: Sequence[tuple[int, Sequence[int]]]) -> None:
        self._chunks = [chunk for chunk, _ in streams]
        self._forward = [iter(parts) for _, parts in streams]
        self._backward = [iter(parts) for _, parts in streams]
        self._micro_batches = len(streams[0][1])
        self._weights: deque[tuple[int, int]] = deque()
        self._order: list[tuple[int, int, int]] = []

    def order(self, rank: int, ranks: int) -> Order:
        """The device's operations; its first stream begins `rank` devices before it, the other ends after `ranks`."""
        before = ranks - rank - 1
        for _ in range(2 * before):
            self._run_forward(0)
        for _ in range(rank + 1):
            self._run_forward(0)
            self._run_forward(1)
        for _ in range(before):
            self._run_backward(1, apart=True)
            self._run_weight()
            self._run_forward(1)
        for turn in range(self._micro_batches - 2 * ranks + rank + 1):
            self._run_both(0, 1, at_once=turn > 0 or before > 0)
            self._run_both(1, 0)
        for _ in range(before):
            self._run_backward(1)
            self._run_both(1, 0)
        for turn in range(2 * (rank + 1)):
            self._run_backward(1 - turn % 2, apart=turn > rank)
        for _ in range(before):
            self._run_weight()
            self._run_backward(0, apart=True)
        while self._weights:
            self._run_weight()
        return listed(self._order)

    def _run_forward(self, stream: int) -> None:
        self._order.append((Kind.FORWARD, self._chunks[stream], next(self._forward[stream])))

    def _run_backward(self, stream: int, *, apart: bool = False) -> None:
        chunk, part = self._chunks[stream], next(self._backward[stream])
        self._order.append((Kind.INPUT_GRADIENT if apart else Kind.BACKWARD, chunk, part))
        if apart:
            self._weights.append((chunk, part))

    def _run_weight(self) -> None:
        self._order.append((Kind.WEIGHT_GRADIENT, *self._weights.popleft()))

    def _run_both(self, forward: int, backward: int, *, at_once: bool = True) -> None:
        self._run_forward(forward)
        self._run_backward(backward)
        if at_once:
            kind, chunk, part = self._order[-1]
            self._order[-1] = kind + JOINED, chunk, part
