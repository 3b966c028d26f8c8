"""A schedule's operations and what each waits for, checked and put into an order in which times can be computed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.simulation.operations import JOINED, KEPT, Kind, Order, Schedule
from hypar_exp.simulation.stage_times import Seconds, StageTimes

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OperationGraph:
    """Operations of all devices, device after device, and their edges.

    Operations that run at the same time (`JOINED`) share a *slot* of their device; all else has a slot of its own.
    Where there is no operation or slot to wait for, an index is that of one more than there are.

    Attributes:
        name: of the schedule, for a sentence.
        chunks_of: for each device the chunks that it holds.
        micro_batches: how many pass through.
        kind, chunk, micro_batch, device: int32[operations].
        dependency: int64[operations], the operation of a neighbouring chunk whose result is needed.
        boundary: int64[operations], the cut that the result crosses to another device, -1 where it stays on the device.
        slot: int64[operations].
        previous: int64[slots], the slot before on the same device.
        joined: bool[operations], whether it is the second one of its slot.
        again: bool[operations], whether it computes activations again first: a backward one without an R of its own.
    """

    name: str
    chunks_of: tuple[tuple[int, ...], ...]
    micro_batches: int
    kind: NDArray[np.int32]
    chunk: NDArray[np.int32]
    micro_batch: NDArray[np.int32]
    device: NDArray[np.int32]
    dependency: Indices
    boundary: Indices
    slot: Indices
    previous: Indices
    joined: NDArray[np.bool_]
    again: NDArray[np.bool_]

    @property
    def devices(self) -> int:
        return len(self.chunks_of)

    @property
    def chunk_count(self) -> int:
        return 1 + max(max(chunks) for chunks in self.chunks_of)

    def __len__(self) -> int:
        return len(self.kind)

    @functools.cached_property
    def first_of_slot(self) -> Indices:
        """int64[slots], the operation of a slot, or the first of its two."""
        return np.flatnonzero(~self.joined)

    @functools.cached_property
    def second_of_slot(self) -> Indices:
        """int64[slots], the second operation of a slot, the number of operations where there is none."""
        second = np.full(len(self.previous), len(self))
        second[self.slot[self.joined]] = np.flatnonzero(self.joined)
        return second

    def durations_s(self, times: StageTimes) -> tuple[Seconds, Seconds]:
        """Compute and inside exchange of each operation, both float64[operations]."""
        if times.chunks != self.chunk_count:
            raise UserError(f"the schedule has {self.chunk_count} chunks where times of {times.chunks} are known")
        error, error_exchange = times.input_gradient_s, times.input_gradient_exchange_s
        none = np.zeros(times.chunks)
        whole = np.stack(
            [times.forward_s, error + times.weight_gradient_s, error, times.weight_gradient_s, times.recompute_s]
        )
        exchange = np.stack(
            [times.forward_exchange_s, error_exchange, error_exchange, none, times.recompute_exchange_s]
        )
        held = whole[self.kind, self.chunk] + self.again * times.recompute_s[self.chunk]
        exchanged = exchange[self.kind, self.chunk] + self.again * times.recompute_exchange_s[self.chunk]
        return np.maximum(held - exchanged, 0.0), exchanged

    def boundaries_s(self, times: StageTimes) -> Seconds:
        """What the result that each operation waits for takes on its way, float64[operations]."""
        by_direction = np.stack([np.append(times.forward_boundary_s, 0.0), np.append(times.backward_boundary_s, 0.0)])
        return np.asarray(by_direction[(self.kind != Kind.FORWARD).astype(np.int64), self.boundary])

    def gradients_ready(self, as_soon_as_possible: bool) -> list[tuple[int, int]]:
        """Each chunk with, for each of its devices, the slot after which its gradients may be exchanged there.

        The slot of its last weight gradient, or else the device's last one.
        """
        weighs = np.isin(self.kind, (Kind.BACKWARD, Kind.WEIGHT_GRADIENT))
        last = np.full((self.devices, self.chunk_count), -1)
        np.maximum.at(last, (self.device[weighs], self.chunk[weighs]), self.slot[weighs])
        if not as_soon_as_possible:
            final = np.zeros(self.devices, np.int64)
            np.maximum.at(final, self.device, self.slot)
            last = np.where(last >= 0, final[:, None], -1)
        return [(int(chunk), int(last[device, chunk])) for device, chunk in np.argwhere(last >= 0)]

    @functools.cached_property
    def levels(self) -> list[Indices]:
        """Slots that wait for nothing of each other, in groups one after the other."""
        ones = np.ones(len(self.previous))
        none = np.zeros(len(self))
        level = longest_path(self, ones, none)[:-1].astype(np.int64)
        by_level = np.argsort(level, kind="stable")
        return np.split(by_level, np.cumsum(np.bincount(level)[1:])[:-1])


@functools.lru_cache(maxsize=8)
def operation_graph(schedule: Schedule, devices: int, micro_batches: int) -> OperationGraph:
    """The operations of a schedule and their edges.

    Raises:
        UserError: the schedule refuses these numbers, leaves an operation out, or has one twice or too early.
    """
    require_whole("pipeline", "stages", devices, least=1)
    require_whole("pipeline", "micro_batches", micro_batches, least=1)
    orders = schedule.orders(devices, micro_batches)
    chunks_of = tuple(tuple(chunks) for chunks in schedule.placement(devices))
    kinds, chunk, micro_batch = np.concatenate(orders).T
    joined, kind = kinds & JOINED > 0, kinds % JOINED
    device = np.repeat(np.arange(devices, dtype=np.int32), [len(order) for order in orders])
    dependency, boundary = _dependencies(schedule, orders, chunks_of, micro_batches)
    slot = np.cumsum(~joined) - 1
    slots = int(slot[-1]) + 1
    previous = np.arange(-1, slots - 1)
    starts = np.flatnonzero(np.diff(device[~joined], prepend=-1))
    previous[starts] = slots
    return OperationGraph(
        name=_name(schedule),
        chunks_of=chunks_of,
        micro_batches=micro_batches,
        kind=kind,
        chunk=chunk,
        micro_batch=micro_batch,
        device=device,
        dependency=dependency,
        boundary=boundary,
        slot=slot,
        previous=previous,
        joined=joined,
        again=_recomputes(kinds, chunk, micro_batch),
    )


def _dependencies(
    schedule: Schedule, orders: Sequence[Order], chunks_of: Sequence[Sequence[int]], micro_batches: int
) -> tuple[Indices, Indices]:
    """The operation that each one waits for, and the cut between them, -1 on one device."""
    operations = np.concatenate(orders)
    kind, chunk, part = operations[:, 0] % JOINED, operations[:, 1], operations[:, 2]
    count, chunks = len(kind), 1 + max(max(held) for held in chunks_of)
    device = np.repeat(np.arange(len(orders)), [len(order) for order in orders])
    index = np.full((len(Kind), chunks + 1, micro_batches), count)
    if np.bincount(np.ravel_multi_index((kind, chunk, part), index.shape)).max() > 1:
        raise UserError(f"{_name(schedule)}: an operation appears twice")
    index[kind, chunk, part] = np.arange(count)
    forward, backward, error, weight = (index[which, :chunks] for which in list(Kind)[:4])
    backward = np.minimum(backward, error)  # B, or I where the two gradients are apart
    trained = bool((backward < count).any())
    _require(schedule, forward < count, "forward")
    if trained:
        _require(schedule, backward < count, "backward")
        _require(schedule, (weight < count) == (error < count), "weight gradient")
        _require_before(schedule, device, forward, backward, "backward before its forward")
        _require_before(schedule, device, error, weight, "weight gradient before its input gradient")
    last = np.append(device, -1)
    for_forward = np.vstack([np.full((1, micro_batches), count), forward[:-1]])
    for_backward = np.vstack([backward[1:], np.full((1, micro_batches), count)])
    dependency = np.full(count, count)
    is_forward, is_backward = kind == Kind.FORWARD, (kind == Kind.BACKWARD) | (kind == Kind.INPUT_GRADIENT)
    dependency[is_forward] = for_forward[chunk[is_forward], part[is_forward]]
    dependency[is_backward] = for_backward[chunk[is_backward], part[is_backward]]
    crosses = (dependency < count) & (last[dependency] != device)
    return dependency, np.where(crosses, chunk - is_forward, -1)


def _recomputes(
    kinds: NDArray[np.int32], chunk: NDArray[np.int32], micro_batch: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Whether an operation is a backward one whose activations are not there and have no R of their own."""
    apart = np.zeros((chunk.max() + 1, micro_batch.max() + 1), np.bool_)
    own = kinds % JOINED == Kind.RECOMPUTE
    apart[chunk[own], micro_batch[own]] = True
    backward = np.isin(kinds % JOINED, (Kind.BACKWARD, Kind.INPUT_GRADIENT)) & (kinds & KEPT == 0)
    return np.asarray(backward & ~apart[chunk, micro_batch])


def _require(schedule: Schedule, present: NDArray[np.bool_], what: str) -> None:
    if not present.all():
        chunk, part = np.argwhere(~present)[0]
        raise UserError(f"{_name(schedule)}: the {what} of micro-batch {part} in chunk {chunk} is missing")


def _require_before(schedule: Schedule, device: Indices, first: Indices, second: Indices, what: str) -> None:
    both = (first < len(device)) & (second < len(device))
    device = np.append(device, -1)
    wrong = both & ((first > second) | (device[first] != device[second]))
    if wrong.any():
        chunk, part = np.argwhere(wrong)[0]
        raise UserError(f"{_name(schedule)}: micro-batch {part} in chunk {chunk} has its {what}, or on another device")


def _name(schedule: Schedule) -> str:
    return f"schedule {type(schedule).__name__}"


def longest_path(graph: OperationGraph, duration_s: Seconds, boundary_s: Seconds) -> Seconds:
    """The end of each slot, float64[slots + 1], 0 at last, when nothing is contended.

    Every device runs until it has to wait for another one, which wakes it: each slot is looked at once or twice.

    Args:
        duration_s: float64[slots].
        boundary_s: float64[operations], what the result that an operation waits for takes on its way.

    Raises:
        UserError: the devices wait for each other.
    """
    slots = len(graph.previous)
    slot_of, dependency = np.append(graph.slot, slots), np.append(graph.dependency, len(graph))
    first, second, boundary = graph.first_of_slot, graph.second_of_slot, np.append(boundary_s, 0.0)
    needed, way = slot_of[dependency[first]].tolist(), boundary[first].tolist()
    other, other_way = slot_of[dependency[second]].tolist(), boundary[second].tolist()
    duration, paired = duration_s.tolist(), bool(graph.joined.any())
    end = [-1.0] * slots + [0.0]
    sleepers: list[int] = [-1] * slots
    more_sleepers: dict[int, list[int]] = {}  # the two operations of a slot may wake two devices
    starts = np.flatnonzero(graph.previous == slots).tolist()
    position, stops, free_s = list(starts), [*starts[1:], slots], [0.0] * len(starts)
    awake = list(range(len(starts)))[::-1]
    while awake:
        device = awake.pop()
        slot, stop, free = position[device], stops[device], free_s[device]
        while slot < stop:
            source = needed[slot]
            ready = end[source]
            if ready >= 0:
                ready += way[slot]
                if ready > free:
                    free = ready
                if paired:
                    source = other[slot]
                    ready = end[source]
                    free = max(free, ready + other_way[slot])
            if ready < 0:
                if sleepers[source] < 0:
                    sleepers[source] = device
                else:
                    more_sleepers.setdefault(source, []).append(device)
                break
            free += duration[slot]
            end[slot] = free
            if sleepers[slot] >= 0:
                awake.append(sleepers[slot])
                awake += more_sleepers.get(slot, ())
            slot += 1
        position[device], free_s[device] = slot, free
    require_no_deadlock(graph, [at - start for at, start in zip(position, starts, strict=True)])
    return np.array(end)


def require_no_deadlock(graph: OperationGraph, run: Sequence[int]) -> None:
    """All slots of every device were run, of which these many."""
    for device, slots in enumerate(np.bincount(graph.device[~graph.joined]).tolist()):
        if run[device] < slots:
            raise UserError(
                f"{graph.name}: the devices wait for each other, device {device} from its operation {run[device]} on"
            )
