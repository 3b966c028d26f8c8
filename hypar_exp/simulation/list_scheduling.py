"""Orders with the gradients apart: a repeating pattern, pulled together under a limit of activations."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hypar_exp.simulation.operations import Kind, Order, listed

TRIES = ((0.4, 4), (0.75, 1), (0.4, 64), (1.0, 2), (0.75, 2))
"""Rules that devices may decide by: the share of a weight gradient that must fit before the next operation, so that it
is put there, and how many operations of the pattern a device looks at for one that it can run now."""

Operation = tuple[int, int, int]
"""Kind, chunk and micro-batch."""


class Durations(NamedTuple):
    """How long operations of one chunk take, in any unit; an order is made for their ratios."""

    forward: float = 1.0
    input_gradient: float = 1.0
    weight_gradient: float = 1.0
    boundary: float = 0.0


ALIKE = Durations()
"""What papers draw: F, I and W take the same time, boundaries none."""


@dataclass(frozen=True)
class MadeForDurations:
    """A schedule whose order is pulled together.

    Attributes:
        durations: what the order is made for; alike for all operations, as in the paper, unless given.
    """

    durations: Durations = ALIKE

    def __post_init__(self) -> None:
        object.__setattr__(self, "durations", Durations(*self.durations))


def pulled_together(
    patterns: Sequence[Sequence[Operation]], chunks_of: Sequence[Sequence[int]], limit: int, durations: Durations
) -> list[Order]:
    """Each device's operations, the weight gradients put where the device would wait or needs room.

    Every device decides by itself, when it is free; of the rules in `TRIES` the one with the shortest step wins.

    Args:
        patterns: for each device F and I of all micro-batches in an order that keeps at most `limit` activations.
        chunks_of: for each device its chunks; every chunk on one device.
        limit: activations that a device may keep, F to W.
        durations: of the operations that the order is made for.
    """
    home = {chunk: device for device, chunks in enumerate(chunks_of) for chunk in chunks}
    tries = [_Simulation(patterns, home, limit, durations, fill, look_ahead).result() for fill, look_ahead in TRIES]
    return [listed(order) for order in min(tries, key=lambda result: result[0])[1]]


def split_one_forward_one_backward(device: int, warm_up: int, micro_batches: int) -> list[Operation]:
    """The pattern of 1F1B on one device, I in place of B."""
    pattern: list[Operation] = [(Kind.FORWARD, device, part) for part in range(min(warm_up, micro_batches))]
    for part in range(micro_batches):
        pattern.append((Kind.INPUT_GRADIENT, device, part))
        if part + warm_up < micro_batches:
            pattern.append((Kind.FORWARD, device, part + warm_up))
    return pattern


def repeated(
    starts: Sequence[Sequence[tuple[int, int, int]]], period: int, micro_batches: int
) -> list[list[Operation]]:
    """For each device F and I of all micro-batches, each micro-batch's `period` after those of the one before.

    Args:
        starts: for each device the kind, chunk and start of each operation of the first micro-batch.
    """
    return [
        [
            (kind, chunk, part)
            for _, part, kind, chunk in sorted(
                (start + period * part, part, kind, chunk)
                for kind, chunk, start in device
                for part in range(micro_batches)
            )
        ]
        for device in starts
    ]


def most_alive(starts: Sequence[Sequence[tuple[int, int, int]]], period: int) -> int:
    """The most activations that a device keeps, F to W, when every W takes the next free place of the pattern.

    Args:
        starts: as in `repeated`; every operation takes 1.
    """
    most = 0
    for device in starts:
        kinds = {start % period: kind for kind, _, start in device}
        begins = {start % period: start for _, _, start in device}
        alive = waiting = 0
        for moment in range(4 * max(begins.values()) + period):
            place = moment % period
            if place in kinds and moment >= begins[place]:
                alive += kinds[place] == Kind.FORWARD
                waiting += kinds[place] == Kind.INPUT_GRADIENT
                most = max(most, alive)
            elif waiting:
                alive, waiting = alive - 1, waiting - 1
    return most


@dataclass
class _Device:
    pending: list[Operation]
    """F and I that it has not run, in the pattern's order."""
    order: list[Operation] = field(default_factory=list)
    weights: deque[Operation] = field(default_factory=deque)
    """W that it could run."""
    alive: int = 0
    """Activations kept, F to W."""
    asleep: bool = False


class _Simulation:
    """Devices that choose, one decision after the other in the order of time."""

    def __init__(
        self,
        patterns: Sequence[Sequence[Operation]],
        home: dict[int, int],
        limit: int,
        durations: Durations,
        fill: float,
        look_ahead: int,
    ) -> None:
        self.devices = [_Device(list(pattern)) for pattern in patterns]
        self.home, self.limit, self.durations, self.fill, self.look_ahead = home, limit, durations, fill, look_ahead
        self.last_chunk = max(home)
        self.arrived = {op: 0.0 for pattern in patterns for op in pattern if op[:2] == (Kind.FORWARD, 0)}
        self.turns = [(0.0, device) for device in range(len(patterns))]
        self.begins = [float("inf")] * len(patterns)
        self.ends = [0.0] * len(patterns)

    def result(self) -> tuple[tuple[float, float], list[list[Operation]]]:
        """The end of the last operation and the longest span of a device, and each device's order."""
        while self.turns:
            now, number = heapq.heappop(self.turns)
            self._decide(now, number)
        span = max(end - begin for begin, end in zip(self.begins, self.ends, strict=True))
        return (max(self.ends), span), [device.order for device in self.devices]

    def _decide(self, now: float, number: int) -> None:
        device = self.devices[number]
        operation, soonest = self._next(device, now)
        full = operation is not None and operation[0] == Kind.FORWARD and device.alive >= self.limit
        if full or (not operation and device.weights and soonest - now >= self.fill * self.durations.weight_gradient):
            operation = device.weights.popleft()
        elif operation:
            device.pending.remove(operation)
        if operation:
            self._run(operation, now, number)
        elif soonest < float("inf"):
            heapq.heappush(self.turns, (soonest, number))
        else:
            device.asleep = True

    def _next(self, device: _Device, now: float) -> tuple[Operation | None, float]:
        """The first operation of the pattern that can run now, or when one can, as far as is known."""
        held = device.alive - len(device.weights)
        highest, soonest = held, float("inf")
        for operation in device.pending[: self.look_ahead]:
            forward = operation[0] == Kind.FORWARD
            if not forward or highest < self.limit:
                ready = self.arrived.get(operation, float("inf"))
                if ready <= now:
                    return operation, now
                soonest = min(soonest, ready)
            held += 1 if forward else -1
            highest = max(highest, held)
        return None, soonest

    def _run(self, operation: Operation, now: float, number: int) -> None:
        device, (kind, chunk, part) = self.devices[number], operation
        device.order.append(operation)
        if kind == Kind.FORWARD:
            end = now + self.durations.forward
            device.alive += 1
            turns = chunk == self.last_chunk
            self._arrive((Kind.INPUT_GRADIENT, chunk, part) if turns else (kind, chunk + 1, part), end, number)
        elif kind == Kind.INPUT_GRADIENT:
            end = now + self.durations.input_gradient
            device.weights.append((Kind.WEIGHT_GRADIENT, chunk, part))
            if chunk:
                self._arrive((kind, chunk - 1, part), end, number)
        else:
            end = now + self.durations.weight_gradient
            device.alive -= 1
        self.begins[number] = min(self.begins[number], now)
        self.ends[number] = end
        heapq.heappush(self.turns, (end, number))

    def _arrive(self, operation: Operation, end: float, sender: int) -> None:
        receiver = self.home[operation[1]]
        self.arrived[operation] = moment = end + (self.durations.boundary if receiver != sender else 0.0)
        if self.devices[receiver].asleep:
            self.devices[receiver].asleep = False
            heapq.heappush(self.turns, (moment, receiver))
