"""What the length of a step is due to: the chain of operations and exchanges in which nothing could be later."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hypar_exp.simulation.timeline import Timeline

Part = Literal["compute", "exchange", "boundary", "gradient_exchange", "idle"]
PARTS: tuple[Part, ...] = ("compute", "exchange", "boundary", "gradient_exchange", "idle")


@dataclass(frozen=True)
class Segment:
    """A piece of the critical path.

    Attributes:
        part: what happens in it; `exchange` is one inside a stage, `boundary` a transfer between two.
        begin_s, end_s: from the start of the step.
        chunk: whose operation or exchange it is; of a boundary the receiver's. -1 for `idle`.
        micro_batch: -1 for an exchange of gradients, and for `idle`.
        device: of an operation; else -1.
    """

    part: Part
    begin_s: float
    end_s: float
    chunk: int = -1
    micro_batch: int = -1
    device: int = -1

    @property
    def length_s(self) -> float:
        return self.end_s - self.begin_s


def critical_path(step: Timeline) -> list[Segment]:
    """The segments from the start of the step to its end, each begins where the one before ends."""
    return _Walk(step).segments()


def parts_s(path: list[Segment]) -> dict[Part, float]:
    """Seconds of each part of a critical path; their sum is the step time."""
    seconds: dict[Part, float] = dict.fromkeys(PARTS, 0.0)
    for segment in path:
        seconds[segment.part] += segment.length_s
    return seconds


Node = tuple[Literal["run", "send", "gradients"], int]
"""An operation, the transfer of what an operation waits for, or a chunk's exchange of gradients."""


class _Walk:
    """Backwards from the end, always to what ends when the next begins."""

    def __init__(self, step: Timeline) -> None:
        self.step = step
        self.segments_: list[Segment] = []
        self.count = len(step.graph)
        self.holders = self._holders() if step.media else {}

    def segments(self) -> list[Segment]:
        step = self.step
        exchanged = step.gradients_s[:, 1]
        if np.nanmax(np.append(exchanged, 0.0)) >= step.step_time_s:
            node: Node | None = ("gradients", int(np.nanargmax(exchanged)))
        else:
            node = ("run", int(np.argmax(step.end_s)))
        until = step.step_time_s
        while node:
            node, until = self._before(node, until)
        if until > 0:
            self.segments_.append(Segment("idle", 0.0, until))
        return [segment for segment in reversed(self.segments_) if segment.end_s > segment.begin_s]

    def _before(self, node: Node, until: float) -> tuple[Node | None, float]:
        """Note the segments of a node up to `until`; what it waited for last, and when that was over."""
        what, index = node
        if what == "gradients":
            begin = float(self.step.gradients_s[index, 0])
            self.segments_.append(Segment("gradient_exchange", begin, until, index))
            return self._before_gradients(index, begin), begin
        graph = self.step.graph
        place = int(graph.chunk[index]), int(graph.micro_batch[index])
        if what == "send":
            begin = float(self.step.sent_s[index])
            self.segments_.append(Segment("boundary", begin, until, *place))
            sender = int(graph.dependency[index])
            if self.step.end_s[sender] < begin:
                return self._holder(int(graph.boundary[index]), begin, inside=False), begin
            return ("run", sender), begin
        return self._before_run(index, until, *place)

    def _before_run(self, index: int, until: float, chunk: int, part: int) -> tuple[Node | None, float]:
        step, device = self.step, int(self.step.graph.device[index])
        begin, exchange = float(step.start_s[index]), float(step.exchange_start_s[index])
        computed = begin + float(step.compute_s[index])
        waited = exchange > (begin if self._paired(index) else computed)
        if step.exchange_s[index] > 0 and (waited or self._paired(index)) and until > computed:
            self.segments_.append(Segment("exchange", exchange, until, chunk, part, device))
            return (
                self._holder(chunk, exchange, inside=True) if waited else self._before_start(index, exchange)
            ), exchange
        computed = min(computed, until)
        self.segments_.append(Segment("exchange", computed, until, chunk, part, device))
        self.segments_.append(Segment("compute", begin, computed, chunk, part, device))
        return self._before_start(index, begin), begin

    def _paired(self, index: int) -> bool:
        joined = self.step.graph.joined
        return bool(joined[index] or (index + 1 < self.count and joined[index + 1]))

    def _before_start(self, index: int, begin: float) -> Node | None:
        graph, step = self.step.graph, self.step
        slot = {index}
        if graph.joined[index]:
            slot.add(index - 1)
        elif index + 1 < self.count and graph.joined[index + 1]:
            slot.add(index + 1)
        for operation in slot:
            sender = int(graph.dependency[operation])
            if sender < self.count and step.arrived_s[operation] >= begin > 0:
                return ("send", operation) if step.crosses[operation] else ("run", sender)
        before = min(slot) - 1
        same = before >= 0 and graph.device[before] == graph.device[index]
        return ("run", before) if same and step.end_s[before] >= begin > 0 else None

    def _before_gradients(self, chunk: int, begin: float) -> Node | None:
        step, graph = self.step, self.step.graph
        for other, (_, end) in enumerate(step.gradients_s):
            if end == begin and other != chunk:
                return "gradients", other
        ready = np.flatnonzero((step.end_s == begin) & np.isin(graph.device, self._devices(chunk)))
        if len(ready):
            return "run", int(ready[-1])
        return self._holder(chunk, begin, inside=True)

    def _devices(self, chunk: int) -> list[int]:
        return [device for device, chunks in enumerate(self.step.graph.chunks_of) if chunk in chunks]

    def _holders(self) -> dict[tuple[int, float], Node]:
        """What held a medium until a moment."""
        step, graph, media = self.step, self.step.graph, self.step.media
        assert media is not None
        holders: dict[tuple[int, float], Node] = {}
        sender_end = np.append(step.end_s, 0.0)[graph.dependency]
        at_once = (step.arrived_s == step.sent_s) & (step.sent_s == sender_end)  # may make others wait for their turn
        for index in np.flatnonzero(step.crosses & ((step.arrived_s > step.sent_s) | at_once)).tolist():
            holders[int(media.boundary[graph.boundary[index]]), float(step.arrived_s[index])] = ("send", index)
        for index in np.flatnonzero(step.exchange_s > 0).tolist():
            over = float(step.exchange_start_s[index] + step.exchange_s[index])
            holders[int(media.inside[graph.chunk[index]]), over] = ("run", index)
        for chunk, (_, end) in enumerate(step.gradients_s):
            holders[int(media.inside[chunk]), float(end)] = ("gradients", chunk)
        return holders

    def _holder(self, place: int, moment: float, *, inside: bool) -> Node | None:
        media = self.step.media
        if media is None:
            return None
        medium = media.inside[place] if inside else media.boundary[place]
        return self.holders.get((int(medium), moment))


def stage_times_of(path: list[Segment]) -> dict[int, float]:
    """Seconds of the critical path in which each chunk computes or exchanges inside, largest first."""
    seconds: dict[int, float] = defaultdict(float)
    for segment in path:
        if segment.part in ("compute", "exchange"):
            seconds[segment.chunk] += segment.length_s
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))
