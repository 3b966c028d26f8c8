"""What a device does at a time, as charts of a timeline show it: a letter, a colour and words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.operations import Kind
from hypar_exp.simulation.timeline import Timeline


@dataclass(frozen=True)
class Look:
    """How something a device does is shown: `letter` on the terminal, `colour` in pictures, `ink` on the colour."""

    letter: str
    colour: str
    ink: str
    words: str


class Doing(IntEnum):
    """What a device does; what is left of its time it is idle."""

    FORWARD = 0
    BACKWARD = 1
    """Both gradients, or where they are apart the input gradient."""
    WEIGHT_GRADIENT = 2
    RECOMPUTE = 3
    BOTH = 4
    GRADIENT_EXCHANGE = 5

    @property
    def look(self) -> Look:
        return LOOKS[self]


LOOKS = (
    Look("F", "#8ecae6", "#222222", "forward"),
    Look("B", "#0b5394", "#ffffff", "backward"),
    Look("W", "#f0b429", "#222222", "weight gradient"),
    Look("R", "#5e9c76", "#ffffff", "recompute"),
    Look("&", "#4a7fb5", "#ffffff", "forward and backward at once"),
    Look("G", "#a83e00", "#ffffff", "exchange of gradients"),
)
IDLE = Look(".", "#f2f2f2", "#222222", "idle")
OF_KIND = {
    Kind.FORWARD: Doing.FORWARD,
    Kind.BACKWARD: Doing.BACKWARD,
    Kind.INPUT_GRADIENT: Doing.BACKWARD,
    Kind.WEIGHT_GRADIENT: Doing.WEIGHT_GRADIENT,
    Kind.RECOMPUTE: Doing.RECOMPUTE,
}


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rectangles of a chart: what devices do from when to when.

    Attributes:
        device, doing, chunk, micro_batch: int64[blocks]; the micro-batch of an exchange of gradients is -1, chunk and
            micro-batch of two operations at once are those of the first.
        begin_s, end_s: float64[blocks].
    """

    device: NDArray[np.int64]
    doing: NDArray[np.int64]
    chunk: NDArray[np.int64]
    micro_batch: NDArray[np.int64]
    begin_s: NDArray[np.float64]
    end_s: NDArray[np.float64]


def blocks(step: Timeline) -> Blocks:
    """What the devices of a step do, and the exchanges of gradients that no compute hides, device after device."""
    graph = step.graph
    doing = np.array([OF_KIND[kind] for kind in Kind])[graph.kind]
    doing[np.append(graph.joined[1:], False)] = Doing.BOTH
    own = np.flatnonzero(~graph.joined)
    columns = [
        graph.device[own],
        doing[own],
        graph.chunk[own],
        graph.micro_batch[own],
        step.start_s[own],
        step.end_s[own],
    ]
    exposed = [] if step.gradients_behind else np.flatnonzero(~np.isnan(step.gradients_s[:, 0])).tolist()
    extra = [
        (device, Doing.GRADIENT_EXCHANGE, chunk, -1, *step.gradients_s[chunk])
        for device, chunks in enumerate(graph.chunks_of)
        for chunk in exposed
        if chunk in chunks
    ]
    if extra:
        columns = [np.append(column, added) for column, added in zip(columns, zip(*extra, strict=True), strict=True)]
    device, doing, chunk, part = (np.asarray(column, np.int64) for column in columns[:4])
    order = np.lexsort((columns[4], device))
    return Blocks(
        device[order], doing[order], chunk[order], part[order],
        np.asarray(columns[4], np.float64)[order], np.asarray(columns[5], np.float64)[order],
    )  # fmt: skip


def binned(shown: Blocks, devices: int, length_s: float, columns: int) -> NDArray[np.float64]:
    """Seconds of each column of time in which each device does each thing, float64[devices, columns, Doing]."""
    edges = np.linspace(0.0, length_s, columns + 1)
    seconds = np.zeros((devices, columns, len(Doing)))
    for device in range(devices):
        of_device = shown.device == device
        for doing in np.unique(shown.doing[of_device]):
            chosen = of_device & (shown.doing == doing)
            moments = np.stack([shown.begin_s[chosen], shown.end_s[chosen]], axis=1).ravel()
            lengths = np.stack([np.zeros(len(moments) // 2), shown.end_s[chosen] - shown.begin_s[chosen]], axis=1)
            seconds[device, :, doing] = np.diff(np.interp(edges, moments, np.cumsum(lengths.ravel())))
    return seconds
