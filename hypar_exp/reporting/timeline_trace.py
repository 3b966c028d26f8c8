"""A training step as trace events, which Perfetto and chrome://tracing open (the Trace Event Format)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from hypar_exp.reporting.timeline_looks import OF_KIND
from hypar_exp.simulation.operations import Kind
from hypar_exp.simulation.timeline import Timeline

DEVICES, LINKS = 0, 1
"""Process numbers: devices, and exchanges between and beside them."""
MICROSECONDS = 1e6


def timeline_json(step: Timeline) -> str:
    """A JSON object of `traceEvents`: a thread for every device, operations as complete events in microseconds.

    Transfers between stages and exchanges of gradients are asynchronous events of a second process, because several may
    be on their way at once.
    """
    events = [*_names(step), *_operations(step), *_transfers(step), *_gradients(step)]
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ms","traceEvents":[\n{lines}\n]}}\n'


def _names(step: Timeline) -> Iterator[dict[str, Any]]:
    for process, name in ((DEVICES, "devices"), (LINKS, "exchanges")):
        yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}
    for device, chunks in enumerate(step.graph.chunks_of):
        held = ", ".join(str(chunk) for chunk in chunks)
        word = "stage" if len(chunks) == 1 else "chunks"
        name = f"device {device} ({word} {held})"
        yield {"ph": "M", "name": "thread_name", "pid": DEVICES, "tid": device, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": DEVICES, "tid": device, "args": {"sort_index": device}}


def _operations(step: Timeline) -> Iterator[dict[str, Any]]:
    graph = step.graph
    paired = np.append(graph.joined[1:], False)
    for index in np.flatnonzero(~graph.joined).tolist():
        kind, chunk, part = Kind(int(graph.kind[index])), int(graph.chunk[index]), int(graph.micro_batch[index])
        name = f"{kind.letter}{part}"
        if paired[index]:
            name += f" & {Kind(int(graph.kind[index + 1])).letter}{int(graph.micro_batch[index + 1])}"
        begin, end = float(step.start_s[index]), float(step.end_s[index])
        yield {
            "ph": "X",
            "name": name,
            "cat": OF_KIND[kind].look.words,
            "pid": DEVICES,
            "tid": int(graph.device[index]),
            "ts": begin * MICROSECONDS,
            "dur": (end - begin) * MICROSECONDS,
            "args": {"chunk": chunk, "micro_batch": part, "exchange_s": float(step.exchange_s[index])},
        }


def _transfers(step: Timeline) -> Iterator[dict[str, Any]]:
    graph = step.graph
    for index in np.flatnonzero(step.crosses & (step.arrived_s > step.sent_s)).tolist():
        cut, part = int(graph.boundary[index]), int(graph.micro_batch[index])
        forward = graph.kind[index] == Kind.FORWARD
        name = f"{'output' if forward else 'error'} {part}"
        thread = 2 * cut + (not forward)
        yield from _span(
            name, f"boundary {cut}", index, thread, float(step.sent_s[index]), float(step.arrived_s[index])
        )


def _gradients(step: Timeline) -> Iterator[dict[str, Any]]:
    for chunk in np.flatnonzero(~np.isnan(step.gradients_s[:, 0])).tolist():
        begin, end = step.gradients_s[chunk].tolist()
        thread = 2 * step.graph.chunk_count + chunk
        yield from _span(f"gradients of chunk {chunk}", "gradients", len(step.graph) + chunk, thread, begin, end)


def _span(name: str, category: str, number: int, thread: int, begin_s: float, end_s: float) -> Iterator[dict[str, Any]]:
    for phase, moment in (("b", begin_s), ("e", end_s)):
        yield {
            "ph": phase, "name": name, "cat": category, "id": number, "pid": LINKS, "tid": thread,
            "ts": moment * MICROSECONDS,
        }  # fmt: skip
