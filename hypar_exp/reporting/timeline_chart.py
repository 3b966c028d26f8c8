"""A training step on the terminal: a row of letters for each device over time, and words on what bounds the step."""

from __future__ import annotations

import textwrap

import numpy as np
from numpy.typing import NDArray

from hypar_exp.reporting.timeline_looks import IDLE, Doing, binned, blocks
from hypar_exp.simulation.critical_path import PARTS, critical_path, parts_s, stage_times_of
from hypar_exp.simulation.timeline import Timeline
from hypar_exp.units import percent, quantity

MOST_ROWS = 32
NARROWEST = 20
"""Columns that a row of letters has at least, however narrow the terminal."""
PART_WORDS = {
    "compute": "compute",
    "exchange": "exchanges inside stages",
    "boundary": "boundaries",
    "gradient_exchange": "exchange of gradients",
    "idle": "idle",
}


def timeline_lines(step: Timeline, width: int) -> list[str]:
    """Devices over time, at most `width` characters wide where that is 40 or more.

    A letter says what a device does for most of a column's time; letters of a device's second, fourth, ... chunk are
    small. Of more than 32 devices every second, third, ... is shown.
    """
    every = -(-step.devices // MOST_ROWS)
    rows = range(0, step.devices, every)
    name_width = len(str(rows[-1])) + len("device ")
    columns = max(width - name_width - len("  100 %") - 2, NARROWEST)
    letters = _letters(step, columns)
    busy = step.busy_s / step.step_time_s if step.step_time_s > 0 else np.zeros(step.devices)
    lines = [f"{f'device {row}':<{name_width}} {letters[row]} {f'{100 * busy[row]:.0f} %':>6}" for row in rows]
    begin, end = "0", quantity(step.step_time_s, "s")
    lines.append(" " * (name_width + 1) + begin + end.rjust(columns - len(begin)) + "   busy")
    lines += textwrap.wrap(_legend(letters), max(width, name_width + columns))
    if every > 1:
        lines.append(f"(one of every {every} of {step.devices} devices)")
    return lines


def _letters(step: Timeline, columns: int) -> list[str]:
    shown = blocks(step)
    seconds = binned(shown, step.devices, step.step_time_s, columns)
    odd = _odd_chunks(step, columns)
    column_s = step.step_time_s / columns
    idle = column_s - seconds.sum(axis=2)
    most = np.where(idle > seconds.max(axis=2), len(Doing), seconds.argmax(axis=2))
    alphabet = np.array([doing.look.letter for doing in Doing] + [IDLE.letter])
    return [
        "".join(letter.lower() if small else letter for letter, small in zip(alphabet[row], smalls, strict=True))
        for row, smalls in zip(most, odd, strict=True)
    ]


def _odd_chunks(step: Timeline, columns: int) -> NDArray[np.bool_]:
    """bool[devices, columns], whether a device is with its second, fourth, ... chunk at the middle of a column."""
    odd = np.zeros((step.devices, columns), np.bool_)
    graph = step.graph
    middles = (np.arange(columns) + 0.5) * step.step_time_s / columns
    for device, chunks in enumerate(graph.chunks_of):
        own = np.flatnonzero((graph.device == device) & ~graph.joined)
        place = np.searchsorted(step.start_s[own], middles, side="right") - 1
        odd[device] = np.isin(graph.chunk[own][np.maximum(place, 0)], list(chunks)[1::2])
    return odd


def _legend(letters: list[str]) -> str:
    used = set("".join(letters).upper())
    entries = [f"{doing.look.letter} {doing.look.words}" for doing in Doing if doing.look.letter in used]
    if any(letter.islower() for letter in "".join(letters)):
        entries.append("small: second chunk")
    return ", ".join([*entries, f"{IDLE.letter} {IDLE.words}"])


def timeline_words(step: Timeline) -> list[str]:
    """What bounds the step, how much of the array's time is lost, and which device keeps the most activations."""
    path = critical_path(step)
    parts = parts_s(path)
    shares = sorted((part for part in PARTS if parts[part] > 0), key=lambda part: -parts[part])
    named = ", ".join(f"{percent(parts[part] / step.step_time_s)} {PART_WORDS[part]}" for part in shares)
    alive = step.activations_alive()
    fullest = int(alive.argmax())
    several = any(len(chunks) > 1 for chunks in step.graph.chunks_of)
    unit = "chunk's" if several else "stage's"
    lines = [
        f"{step.devices} device{'s' * (step.devices > 1)}, {step.graph.micro_batches} "
        f"micro-batch{'es' * (step.graph.micro_batches > 1)}: {quantity(step.step_time_s, 's')} a step, "
        f"bubble {percent(step.bubble_fraction)}",
        f"critical path: {named}",
    ]
    slowest = next(iter(stage_times_of(path).items()), None)
    if slowest and step.graph.chunk_count > 1:
        chunk, seconds = slowest
        what = "chunk" if several else "stage"
        lines.append(f"longest on it: {what} {chunk} with {percent(seconds / step.step_time_s)} of the step")
    lines.append(
        f"most activations: device {fullest} keeps {alive[fullest]:.0f} at a time, each a {unit} of one micro-batch"
    )
    return lines
