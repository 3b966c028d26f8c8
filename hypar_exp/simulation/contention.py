"""Who waits for whom where exchanges share a medium: operations and exchanges one event after the other."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.operation_graph import OperationGraph
from hypar_exp.simulation.stage_times import Seconds

START, COMPUTED, ENDED = range(3)


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
    """Times when exchanges take a medium in the order in which they are ready.

    A stage that exchanges inside holds its device and the medium, also while it waits for the medium. Of two operations
    in one slot the exchanges go on at the same time as the compute.

    Args:
        compute_s, exchange_s: float64[slots].
        boundary_s: float64[operations].
        gradient_exchange_s: float64[chunks].
        overlap_gradients: a chunk's gradients are exchanged when they are there, not when its devices have nothing
            else to do.
    """
    slots, operations = len(graph.previous), len(graph)
    first, second = graph.first_of_slot.tolist(), graph.second_of_slot.tolist()
    compute, exchange, boundary = compute_s.tolist(), exchange_s.tolist(), boundary_s.tolist()
    inside = media.inside[graph.chunk[graph.first_of_slot]].tolist()
    channel = np.append(media.boundary, -1)[graph.boundary].tolist()
    slot_of, device_of = graph.slot.tolist(), graph.device[graph.first_of_slot].tolist()
    waiting_operation = np.full(operations + 1, -1)
    waiting_operation[graph.dependency] = np.arange(operations)
    receiver = waiting_operation.tolist()
    last_of_device = np.append(graph.previous[1:] == slots, True).tolist()

    arrived: list[float | None] = [0.0 if needed == operations else None for needed in graph.dependency.tolist()]
    arrived.append(0.0)
    sent = [0.0] * operations
    start, end, exchange_start = [0.0] * slots, [0.0] * slots, [0.0] * slots
    at_slot = np.flatnonzero(graph.previous == slots).tolist()
    free = [0.0] * graph.devices
    medium_free: dict[int, float] = {}
    gradients = np.full((graph.chunk_count, 2), np.nan)
    of_slot: dict[int, list[int]] = {}
    for ready_chunk, ready_slot in graph.gradients_ready(overlap_gradients):
        of_slot.setdefault(ready_slot, []).append(ready_chunk)
    awaited = Counter(itertools.chain.from_iterable(of_slot.values()))
    events: list[tuple[float, int, int, int]] = []
    ticket = 0

    def begin(slot: int) -> None:
        """Start a slot whose turn it is, once its inputs are there."""
        nonlocal ticket
        ready, other = arrived[first[slot]], arrived[second[slot]]
        if ready is None or other is None:
            return
        moment = max(ready, other, free[device_of[slot]])
        start[slot] = moment
        both = second[slot] < operations and exchange[slot] > 0
        ticket += 1
        heapq.heappush(events, (moment if both else moment + compute[slot], ticket, START if both else COMPUTED, slot))

    for slot in at_slot:
        begin(slot)
    while events:
        now, _, what, slot = heapq.heappop(events)
        if what != ENDED:
            if exchange[slot] > 0:
                medium = inside[slot]
                granted = max(now, medium_free.get(medium, 0.0))
                medium_free[medium] = over = granted + exchange[slot]
                exchange_start[slot] = granted
                ticket += 1
                heapq.heappush(events, (max(over, now + compute[slot]) if what == START else over, ticket, ENDED, slot))
                continue
            exchange_start[slot] = now
        end[slot] = free[device_of[slot]] = now
        for operation in (first[slot], second[slot]):
            target = receiver[operation] if operation < operations else -1
            if target < 0:
                continue
            granted = over = now
            if boundary[target] > 0:
                medium = channel[target]
                granted = max(now, medium_free.get(medium, 0.0))
                medium_free[medium] = over = granted + boundary[target]
            sent[target], arrived[target] = granted, over
            receiving = slot_of[target]
            if at_slot[device_of[receiving]] == receiving and receiving != slot:
                begin(receiving)
        for chunk in of_slot.get(slot, ()):
            awaited[chunk] -= 1
            if awaited[chunk] == 0 and gradient_exchange_s[chunk] > 0:
                medium = int(media.inside[chunk])
                granted = max(now, medium_free.get(medium, 0.0))
                medium_free[medium] = over = granted + float(gradient_exchange_s[chunk])
                gradients[chunk] = granted, over
        if not last_of_device[slot]:
            at_slot[device_of[slot]] = slot + 1
            begin(slot + 1)
    return Moments(
        np.array(start), np.array(end), np.array(exchange_start), np.array(sent),
        np.array(arrived[:-1], np.float64), gradients,
    )  # fmt: skip
