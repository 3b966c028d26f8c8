"""Who waits for whom where exchanges share a medium: operations and exchanges one event after the other."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.operation_graph import OperationGraph, require_no_deadlock
from hypar_exp.simulation.stage_times import Seconds

START, COMPUTED, ENDED = range(3)
"""What happens to a slot: two operations at once may exchange, one may exchange, its device is free."""


@dataclass(frozen=True, eq=False)
class Media:
    """The medium, a number, that every exchange needs for itself alone.

    Attributes:
        boundary: int64[chunks - 1], of the transfers over a cut, both ways.
        inside: int64[chunks], of the exchanges inside a stage and of its gradients.
    """

    boundary: NDArray[np.int64]
    inside: NDArray[np.int64]

    @classmethod
    def one(cls, chunks: int) -> Media:
        """One medium for everything."""
        return cls(np.zeros(chunks - 1, np.int64), np.zeros(chunks, np.int64))


@dataclass(frozen=True, eq=False)
class Moments:
    """When things begin and end; what takes no time has both at once.

    Attributes:
        start_s, end_s: float64[slots], when a slot holds its device.
        exchange_s: float64[slots], when its inside exchange begins.
        sent_s, arrived_s: float64[operations], of the result that an operation waits for.
        gradients_s: float64[chunks, 2], begin and end of each chunk's exchange of gradients; NaN where there is none.
    """

    start_s: Seconds
    end_s: Seconds
    exchange_s: Seconds
    sent_s: Seconds
    arrived_s: Seconds
    gradients_s: Seconds


def contended(
    graph: OperationGraph,
    compute_s: Seconds,
    exchange_s: Seconds,
    boundary_s: Seconds,
    gradient_exchange_s: Seconds,
    media: Media,
    overlap_gradients: bool,
) -> Moments:
    """Times when exchanges take a medium in the order in which they are ready, at the same moment by device.

    A stage that exchanges inside holds its device and the medium, also while it waits for the medium. Of two operations
    in one slot the exchanges go on at the same time as the compute.

    Args:
        compute_s, exchange_s: float64[slots].
        boundary_s: float64[operations].
        gradient_exchange_s: float64[chunks].
        overlap_gradients: a chunk's gradients are exchanged when they are there, not when its devices have nothing
            else to do.

    Raises:
        UserError: the devices wait for each other.
    """
    medium = _Grants(media)
    gradients = _Gradients(graph, gradient_exchange_s, medium, overlap_gradients)
    return _Replay(graph, compute_s, exchange_s, boundary_s, medium).run(gradients)


class _Grants:
    """When each medium is free, and who gets it: whoever asks next."""

    def __init__(self, media: Media) -> None:
        self.media = media
        self.free_s = [0.0] * (1 + max(media.boundary.max(initial=0), media.inside.max(initial=0)))

    def take(self, medium: int, ready_s: float, length_s: float) -> tuple[float, float]:
        """Begin and end of an exchange that is ready at a moment, not before that of any one that asked before."""
        begin = self.free_s[medium]
        begin = max(begin, ready_s)
        self.free_s[medium] = end = begin + length_s
        return begin, end


class _Gradients:
    """Exchanges of gradients, each when all devices of the chunk are ready for it."""

    def __init__(self, graph: OperationGraph, exchange_s: Seconds, medium: _Grants, overlap: bool) -> None:
        self.exchange_s, self.medium = exchange_s, medium
        self.moments_s = np.full((graph.chunk_count, 2), np.nan)
        self.after: dict[int, list[int]] = {}
        for chunk, slot in graph.gradients_ready(overlap):
            self.after.setdefault(slot, []).append(chunk)
        self.awaited = Counter(itertools.chain.from_iterable(self.after.values()))

    def ended(self, slot: int, now: float) -> None:
        for chunk in self.after[slot]:
            self.awaited[chunk] -= 1
            length = float(self.exchange_s[chunk])
            if self.awaited[chunk] == 0 and length > 0:
                self.moments_s[chunk] = self.medium.take(int(self.medium.media.inside[chunk]), now, length)


class _Replay:
    """One event after the other in the order of time; an event is a moment and a slot with what happens to it."""

    def __init__(
        self, graph: OperationGraph, compute_s: Seconds, exchange_s: Seconds, boundary_s: Seconds, medium: _Grants
    ) -> None:
        slots, operations = len(graph.previous), len(graph)
        self.graph, self.medium = graph, medium
        self.first, self.second = graph.first_of_slot.tolist(), graph.second_of_slot.tolist()
        self.compute, self.exchange, self.boundary = compute_s.tolist(), exchange_s.tolist(), boundary_s.tolist()
        self.inside = medium.media.inside[graph.chunk[graph.first_of_slot]].tolist()
        self.channel = np.append(medium.media.boundary, -1)[graph.boundary].tolist()
        receiver = np.full(operations + 1, -1)
        receiver[graph.dependency] = np.arange(operations)
        receiver[operations] = -1
        self.receiver, self.slot_of = receiver.tolist(), graph.slot.tolist()
        self.device_of = graph.device[graph.first_of_slot].tolist()
        self.turn = np.flatnonzero(graph.previous == slots).tolist()
        self.stops = [*self.turn[1:], slots]
        self.free = [0.0] * graph.devices
        self.start, self.end, self.exchange_start = [0.0] * slots, [0.0] * slots, [0.0] * slots
        self.sent = [0.0] * operations
        self.arrived = np.append(np.where(graph.dependency == operations, 0.0, np.inf), 0.0).tolist()
        self.events: list[tuple[float, int]] = []

    def run(self, gradients: _Gradients) -> Moments:
        """All operations, and the exchanges of gradients as operations end."""
        events, starts = self.events, list(self.turn)
        for slot in starts:
            self._begin(slot)
        while events:
            now, code = heapq.heappop(events)
            slot, what = divmod(code, 3)
            if what != ENDED:
                if self.exchange[slot] > 0:
                    begin, over = self.medium.take(self.inside[slot], now, self.exchange[slot])
                    self.exchange_start[slot] = begin
                    over = max(over, now + self.compute[slot]) if what == START else over
                    heapq.heappush(events, (over, 3 * slot + ENDED))
                    continue
                self.exchange_start[slot] = now
            self._end(slot, now)
            if slot in gradients.after:
                gradients.ended(slot, now)
        require_no_deadlock(self.graph, [turn - start for turn, start in zip(self.turn, starts, strict=True)])
        return Moments(
            start_s=np.array(self.start),
            end_s=np.array(self.end),
            exchange_s=np.array(self.exchange_start),
            sent_s=np.array(self.sent),
            arrived_s=np.array(self.arrived[:-1]),
            gradients_s=gradients.moments_s,
        )

    def _begin(self, slot: int) -> None:
        """Start a slot whose turn it is, once its inputs are there."""
        moment = max(self.arrived[self.first[slot]], self.arrived[self.second[slot]], self.free[self.device_of[slot]])
        if moment == math.inf:
            return
        self.start[slot] = moment
        if self.exchange[slot] > 0 and self.second[slot] < len(self.sent):
            heapq.heappush(self.events, (moment, 3 * slot + START))
        else:
            heapq.heappush(self.events, (moment + self.compute[slot], 3 * slot + COMPUTED))

    def _end(self, slot: int, now: float) -> None:
        """Send the results of a slot, and go on with the next one of the device."""
        device = self.device_of[slot]
        self.end[slot] = self.free[device] = now
        self._send(self.receiver[self.first[slot]], slot, now)
        self._send(self.receiver[self.second[slot]], slot, now)
        self.turn[device] = slot + 1
        if slot + 1 < self.stops[device]:
            self._begin(slot + 1)

    def _send(self, target: int, sender: int, now: float) -> None:
        """Send a result to the operation `target`, which begins if its device waits for nothing else."""
        if target < 0:
            return
        if self.boundary[target] > 0:
            self.sent[target], self.arrived[target] = self.medium.take(self.channel[target], now, self.boundary[target])
        else:
            self.sent[target] = self.arrived[target] = now
        receiving = self.slot_of[target]
        if self.turn[self.device_of[receiving]] == receiving and receiving != sender:
            self._begin(receiving)
