"""A training step over time: when every device computes, exchanges and waits, and what the step's length is due to."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hypar_exp.errors import UserError
from hypar_exp.simulation.contention import Media, Moments, contended
from hypar_exp.simulation.operation_graph import OperationGraph, longest_path, operation_graph
from hypar_exp.simulation.operations import Kind, Schedule
from hypar_exp.simulation.stage_times import Seconds, StageTimes

BoundaryRule = Literal["latency", "stage", "shared"]
"""Which exchanges wait for each other.

`latency`: none does, and results go both ways over a boundary at once (published formulas assume this).
`stage`: a boundary is a stage of its own, whose forward and backward transfers take turns in the schedule's order
(DAPPLE's rule; a warm-up given by numbers needs one for every boundary too).
`shared`: all do, on one medium for the whole array, in the order in which they are ready.
"""


@dataclass(frozen=True, eq=False)
class Timeline:
    """When the operations of a step happen; rows of operations as in `graph`.

    Attributes:
        graph: operations, device after device in the device's order.
        start_s, end_s: float64[operations], when the operation holds its device.
        exchange_start_s: float64[operations], when its inside exchange begins; `end_s` where it has none.
        compute_s, exchange_s: float64[operations], how long the operation computes, and exchanges inside its stage; of
            both where two run at the same time.
        sent_s, arrived_s: float64[operations], when the result that it waits for is on its way.
        gradients_s: float64[chunks, 2], begin and end of each chunk's exchange of gradients; NaN where there is none.
        gradients_behind: whether gradients are exchanged while devices compute.
        media: who may not exchange at the same time; None: nobody waits.
    """

    graph: OperationGraph
    start_s: Seconds
    end_s: Seconds
    exchange_start_s: Seconds
    compute_s: Seconds
    exchange_s: Seconds
    sent_s: Seconds
    arrived_s: Seconds
    gradients_s: Seconds
    gradients_behind: bool
    media: Media | None

    @property
    def devices(self) -> int:
        return self.graph.devices

    @functools.cached_property
    def step_time_s(self) -> float:
        return float(np.nanmax(np.append(self.gradients_s, self.end_s)))

    @functools.cached_property
    def crosses(self) -> NDArray[np.bool_]:
        """bool[operations], whether what the operation waits for comes from another device."""
        return self.graph.boundary >= 0

    @functools.cached_property
    def span_s(self) -> Seconds:
        """float64[devices], from a device's first start to its last end, gradients' exchange left out."""
        first, last = np.full(self.devices, np.inf), np.zeros(self.devices)
        np.minimum.at(first, self.graph.device, self.start_s)
        np.maximum.at(last, self.graph.device, self.end_s)
        return np.asarray(last - first)

    @functools.cached_property
    def end_by_device_s(self) -> Seconds:
        """float64[devices], the end of a device's last operation."""
        last = np.zeros(self.devices)
        np.maximum.at(last, self.graph.device, self.end_s)
        return last

    @functools.cached_property
    def busy_s(self) -> Seconds:
        """float64[devices], in which a device computes, or exchanges and computes nothing; no time waiting."""
        own = ~self.graph.joined
        waited = self.exchange_start_s - self.start_s - self.compute_s
        held = self.end_s - self.start_s - np.maximum(waited, 0.0)
        busy = np.bincount(self.graph.device[own], held[own], self.devices).astype(np.float64)
        if not self.gradients_behind:
            busy += self.gradient_exchange_by_device_s
        return busy

    @functools.cached_property
    def gradient_exchange_by_device_s(self) -> Seconds:
        """float64[devices], in which a device exchanges gradients."""
        spans = np.nan_to_num(self.gradients_s[:, 1] - self.gradients_s[:, 0])
        return np.array([spans[list(chunks)].sum() for chunks in self.graph.chunks_of])

    @property
    def idle_s(self) -> Seconds:
        """float64[devices], what the step takes beyond `busy_s`."""
        return self.step_time_s - self.busy_s

    @property
    def bubble_fraction(self) -> float:
        """The share of all devices' time in which they do nothing."""
        return float(self.idle_s.sum() / (self.devices * self.step_time_s)) if self.step_time_s > 0 else 0.0

    def activations_alive(self, size: ArrayLike = 1, *, released_at: Kind = Kind.WEIGHT_GRADIENT) -> Seconds:
        """The most activations that a device keeps at a time, float64[devices].

        A micro-batch's are kept from the start of its forward to the end of its backward; where the gradients are apart
        to the end of `released_at`, one of the two. Without any backward they end with the forward.

        Args:
            size: what one micro-batch's activations of a chunk come to, a number or one for each chunk.
        """
        graph = self.graph
        sizes = np.broadcast_to(np.asarray(size, np.float64), (graph.chunk_count,))[graph.chunk]
        begins, ends = graph.kind == Kind.FORWARD, np.isin(graph.kind, (Kind.BACKWARD, released_at))
        change = sizes * begins - sizes * ends
        peaks = np.zeros(self.devices)
        for device in range(self.devices):
            own = graph.device == device
            alive = np.cumsum(change[own]) if ends.any() else sizes[own]
            peaks[device] = alive.max(initial=0.0)
        return peaks


def timeline(
    schedule: Schedule,
    devices: int,
    micro_batches: int,
    times: StageTimes,
    *,
    boundaries: BoundaryRule | Media = "latency",
    overlap_gradients: bool = False,
) -> Timeline:
    """The timeline of a step, by the longest path through a schedule's operations (event by event on shared media).

    Args:
        times: of one micro-batch, for each chunk of the schedule.
        boundaries: which exchanges wait for each other, by a rule or by the medium that each one needs.
        overlap_gradients: the gradients of a chunk are exchanged while its devices still compute; else when they have
            nothing else to do, one chunk after the other.

    Raises:
        UserError: the schedule does not fit the devices or micro-batches, or waits for itself.
    """
    if boundaries == "stage":
        return _with_boundary_stages(schedule, devices, micro_batches, times, overlap_gradients)
    graph = operation_graph(schedule, devices, micro_batches)
    compute, exchange = graph.durations_s(times)
    slot_compute, slot_exchange = (_by_slot(graph, part) for part in (compute, exchange))
    boundary = graph.boundaries_s(times)
    media = (
        {"latency": None, "shared": Media.one(times.chunks)}[boundaries] if isinstance(boundaries, str) else boundaries
    )
    if media is None:
        moments = _uncontended(graph, slot_compute, slot_exchange, boundary, times, overlap_gradients)
    else:
        moments = contended(
            graph, slot_compute, slot_exchange, boundary, times.gradient_exchange_s, media, overlap_gradients
        )
    slot = graph.slot
    return Timeline(
        graph=graph,
        start_s=moments.start_s[slot],
        end_s=moments.end_s[slot],
        exchange_start_s=moments.exchange_s[slot],
        compute_s=slot_compute[slot],
        exchange_s=slot_exchange[slot],
        sent_s=moments.sent_s,
        arrived_s=moments.arrived_s,
        gradients_s=moments.gradients_s,
        gradients_behind=overlap_gradients,
        media=media,
    )


def _by_slot(graph: OperationGraph, seconds: Seconds) -> Seconds:
    return np.bincount(graph.slot, seconds).astype(np.float64)


def _uncontended(
    graph: OperationGraph,
    compute_s: Seconds,
    exchange_s: Seconds,
    boundary_s: Seconds,
    times: StageTimes,
    overlap_gradients: bool,
) -> Moments:
    duration, pair = compute_s + exchange_s, np.zeros(len(compute_s), np.bool_)
    pair[graph.slot[graph.joined]] = True
    duration = np.where(pair, np.maximum(compute_s, exchange_s), duration)
    end = longest_path(graph, duration, boundary_s)
    sent = end[np.append(graph.slot, len(end) - 1)[graph.dependency]]
    arrived = sent + boundary_s
    start = end[graph.previous]
    np.maximum.at(start, graph.slot, arrived)
    gradients = _gradient_exchange(graph, end, times.gradient_exchange_s, overlap_gradients)
    exchange_start = np.where(pair, start, np.minimum(start + compute_s, end[:-1]))
    return Moments(start, end[:-1], exchange_start, sent, arrived, gradients)


def _gradient_exchange(graph: OperationGraph, end_s: Seconds, exchange_s: Seconds, overlap: bool) -> Seconds:
    """When each chunk's gradients are exchanged, float64[chunks, 2]; a device exchanges one chunk's at a time."""
    ready: dict[int, float] = {}
    holders: dict[int, list[int]] = {}
    first = graph.first_of_slot
    for chunk, slot in graph.gradients_ready(overlap):
        ready[chunk] = max(ready.get(chunk, 0.0), float(end_s[slot]))
        holders.setdefault(chunk, []).append(int(graph.device[first[slot]]))
    free = [0.0] * graph.devices
    moments = np.full((graph.chunk_count, 2), np.nan)
    for chunk in sorted(ready, key=lambda chunk: (ready[chunk], chunk)):
        if exchange_s[chunk] > 0:
            start = max([ready[chunk], *(free[device] for device in holders[chunk])])
            moments[chunk] = start, start + exchange_s[chunk]
            for device in holders[chunk]:
                free[device] = float(moments[chunk, 1])
    return moments


def _with_boundary_stages(
    schedule: Schedule, devices: int, micro_batches: int, times: StageTimes, overlap_gradients: bool
) -> Timeline:
    """Every boundary as a stage of its own, which the schedule orders like the others."""
    if any(len(chunks) > 1 for chunks in schedule.placement(devices)):
        raise UserError("boundaries can be stages of their own only where a schedule has one chunk on each device")
    whole = timeline(
        schedule, 2 * devices - 1, micro_batches, _boundaries_as_stages(times), overlap_gradients=overlap_gradients
    )
    graph, last = whole.graph, len(whole.graph)
    if graph.joined.any():
        raise UserError("boundaries can be stages of their own only where a schedule runs one operation at a time")
    stays = graph.chunk % 2 == 0
    number = np.append(np.where(stays, np.cumsum(stays) - 1, -1), int(stays.sum()))
    transfer = graph.dependency[stays]
    crosses = transfer < last
    start, end = np.append(whole.start_s, 0.0), np.append(whole.end_s, 0.0)
    between = replace(
        graph,
        chunks_of=tuple((device,) for device in range(devices)),
        kind=graph.kind[stays],
        chunk=graph.chunk[stays] // 2,
        micro_batch=graph.micro_batch[stays],
        device=graph.device[stays] // 2,
        dependency=number[np.append(graph.dependency, last)[transfer]],
        boundary=np.where(crosses, np.append(graph.chunk, 0)[transfer] // 2, -1),
        slot=np.arange(int(stays.sum())),
        joined=graph.joined[stays],
        again=graph.again[stays],
        previous=np.zeros(0, np.int64),
    )
    return replace(
        whole,
        graph=between,
        start_s=whole.start_s[stays],
        end_s=whole.end_s[stays],
        exchange_start_s=whole.exchange_start_s[stays],
        compute_s=whole.compute_s[stays],
        exchange_s=whole.exchange_s[stays],
        sent_s=start[transfer],
        arrived_s=end[transfer],
        gradients_s=whole.gradients_s[::2],
        media=Media(np.arange(devices - 1), np.full(devices, devices)),
    )


def _boundaries_as_stages(times: StageTimes) -> StageTimes:
    def mixed(of_stages: Seconds, of_boundaries: ArrayLike = 0.0) -> Seconds:
        values = np.zeros(2 * times.chunks - 1)
        values[::2], values[1::2] = of_stages, of_boundaries
        return values

    return StageTimes(
        mixed(times.forward_s, times.forward_boundary_s),
        mixed(times.input_gradient_s, times.backward_boundary_s),
        mixed(times.weight_gradient_s),
        recompute_s=mixed(times.recompute_s),
        gradient_exchange_s=mixed(times.gradient_exchange_s),
        forward_exchange_s=mixed(times.forward_exchange_s),
        input_gradient_exchange_s=mixed(times.input_gradient_exchange_s),
        recompute_exchange_s=mixed(times.recompute_exchange_s),
    )


def step_times_s(schedule: Schedule, devices: int, micro_batches: int, candidates: Sequence[StageTimes]) -> Seconds:
    """The step time of each candidate, float64[candidates], in one pass over the schedule; no exchange waits."""
    graph = operation_graph(schedule, devices, micro_batches)
    parts = [graph.durations_s(times) for times in candidates]
    compute, exchange = (np.stack(part) for part in zip(*parts, strict=True))
    first, second = graph.first_of_slot, graph.second_of_slot
    compute, exchange = (np.add.reduceat(part, first, axis=1).T for part in (compute, exchange))
    pair = (second < len(graph))[:, None]
    duration = np.where(pair, np.maximum(compute, exchange), compute + exchange)
    ways = np.stack([np.append(graph.boundaries_s(times), 0.0) for times in candidates]).T
    slots = len(graph.previous)
    slot_of, dependency = np.append(graph.slot, slots), np.append(graph.dependency, len(graph))
    needed, other = slot_of[dependency[first]], slot_of[dependency[second]]
    end = np.zeros((slots + 1, len(candidates)))
    for level in graph.levels:
        ready = end[needed[level]] + ways[first[level]]
        np.maximum(ready, end[graph.previous[level]], out=ready)
        if graph.joined.any():
            np.maximum(ready, end[other[level]] + ways[second[level]], out=ready)
        end[level] = ready + duration[level]
    exchanged = [
        np.nanmax(np.append(_gradient_exchange(graph, ends, times.gradient_exchange_s, overlap=False), 0.0))
        for ends, times in zip(end.T, candidates, strict=True)
    ]
    return np.asarray(np.maximum(end.max(axis=0), exchanged), np.float64)
