"""Virtual workers of unlike devices: pipelines inside, a parameter server across (Park et al., HetPipe, ATC 2020).

A virtual worker has k devices, each with a contiguous part of the network, and N_m minibatches in flight, which are a
wave. After a wave it pushes its updates and starts the next clock; clock c may start when all workers have pushed their
clock c - D - 1, for a clock distance D.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network

PHASES, OPERATIONS_PER_MAC = 3, 2


@dataclass(frozen=True)
class Device:
    """One accelerator; those of a kind are in one node."""

    kind: str
    operations_per_s: float
    memory_bytes: float


@dataclass(frozen=True)
class Links:
    """Bytes a second between devices of a node, and between nodes, where the parameter server is too."""

    in_node_bytes_per_s: float
    between_nodes_bytes_per_s: float

    def rate(self, one: Device, other: Device) -> float:
        return self.in_node_bytes_per_s if one.kind == other.kind else self.between_nodes_bytes_per_s


@dataclass(frozen=True)
class Work:
    """A network's layers for one minibatch.

    Attributes:
        operations: float64[layers], forward and backward.
        weights_bytes: float64[layers].
        activations_bytes: float64[layers], inputs, which wait for the backward pass.
        cut_bytes: float64[layers + 1], what crosses a cut in front of each layer, one way.
    """

    operations: NDArray[np.float64]
    weights_bytes: NDArray[np.float64]
    activations_bytes: NDArray[np.float64]
    cut_bytes: NDArray[np.float64]

    @classmethod
    def of(cls, network: Network, minibatch: int, element_bytes: int) -> Work:
        macs = np.array([layer.macs_at_output for layer in network.layers], dtype=np.float64)
        cut = np.zeros(len(macs) + 1)
        readers: dict[int, int] = {}
        elements: dict[int, int] = {}
        for edge in network.edges:
            readers[edge.producer] = max(readers.get(edge.producer, 0), edge.consumer)
            elements[edge.producer] = max(elements.get(edge.producer, 0), edge.elements)
        for producer, last in readers.items():  # a tensor that several layers behind a cut read crosses it once
            cut[producer + 1 : last + 1] += elements[producer]
        bytes_each = minibatch * element_bytes
        return cls(
            operations=PHASES * OPERATIONS_PER_MAC * minibatch * macs,
            weights_bytes=element_bytes * network.weights,
            activations_bytes=bytes_each * network.input_elements,
            cut_bytes=bytes_each * cut,
        )


@dataclass(frozen=True)
class Worker:
    """A virtual worker with its part of the network on each device.

    Attributes:
        devices: in the order of the pipeline.
        starts: the first layer of each.
        stage_s: seconds of one minibatch on each, there and back, with what it receives.
    """

    devices: tuple[Device, ...]
    starts: tuple[int, ...]
    stage_s: tuple[float, ...]

    def minibatch_s(self, in_flight: int) -> float:
        """Seconds from one minibatch to the next: the slowest stage, or the whole way where too few are in flight."""
        return max(max(self.stage_s), sum(self.stage_s) / in_flight)


def best_worker(work: Work, devices: Sequence[Device], links: Links, in_flight: int) -> Worker | None:
    """The order of the devices, and the split into them, with the least bottleneck; None where none fits in memory."""
    orders = sorted(set(itertools.permutations(devices)), key=lambda order: [device.kind for device in order])
    workers = [worker for order in orders if (worker := _split(work, order, links, in_flight)) is not None]
    return min(workers, key=lambda worker: worker.minibatch_s(in_flight), default=None)


def _split(work: Work, devices: Sequence[Device], links: Links, in_flight: int) -> Worker | None:
    """The contiguous split with the least bottleneck, by dynamic programming over the ends of the stages."""
    layers, stages = len(work.operations), len(devices)
    if layers < stages:
        return None
    done = _sums(work.operations)
    best = np.full((stages + 1, layers + 1), np.inf)
    chosen = np.zeros((stages + 1, layers + 1), dtype=np.int64)
    best[0, 0] = 0.0
    for stage, device in enumerate(devices):
        received = _received_s(work, devices, links, stage)
        for end in range(stage + 1, layers + 1):
            starts = np.arange(stage, end)
            seconds = (done[end] - done[starts]) / device.operations_per_s + received[starts]
            kept = memory_bytes(work, starts, end, in_flight, stage)
            bottleneck = np.where(kept <= device.memory_bytes, np.maximum(best[stage, starts], seconds), np.inf)
            chosen[stage + 1, end] = starts[bottleneck.argmin()]
            best[stage + 1, end] = bottleneck.min()
    if not math.isfinite(best[stages, layers]):
        return None
    ends = [layers]
    for stage in range(stages, 1, -1):
        ends.append(int(chosen[stage, ends[-1]]))
    starts_of = (0, *ends[:0:-1])
    seconds_of = tuple(
        float((done[end] - done[start]) / device.operations_per_s + _received_s(work, devices, links, at)[start])
        for at, (start, end, device) in enumerate(zip(starts_of, (*starts_of[1:], layers), devices, strict=True))
    )
    return Worker(tuple(devices), starts_of, seconds_of)


def memory_bytes(work: Work, starts: NDArray[np.int64], end: int, in_flight: int, stage: int) -> NDArray[np.float64]:
    """float64[starts]: what a stage from each start to `end` keeps.

    The minibatches in flight behind it have their activations and the weights that they went forward with; the
    gradients are as large as the weights once more.
    """
    waiting = max(1, in_flight - stage)
    weights, activations = _sums(work.weights_bytes), _sums(work.activations_bytes)
    kept = (waiting + 1) * (weights[end] - weights[starts]) + waiting * (activations[end] - activations[starts])
    return np.asarray(kept, dtype=np.float64)


def _received_s(work: Work, devices: Sequence[Device], links: Links, stage: int) -> NDArray[np.float64]:
    """float64[layers + 1]: seconds for activations from the stage before and errors back to it, by the cut."""
    if stage == 0:
        return np.zeros_like(work.cut_bytes)
    return np.asarray(2 * work.cut_bytes / links.rate(devices[stage - 1], devices[stage]), dtype=np.float64)


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(values)])


@dataclass(frozen=True)
class Progress:
    """How workers get on under a clock distance.

    Attributes:
        minibatches_per_s: of all workers, in the later half of the clocks.
        waiting: share of the time that workers wait for others, or for weights.
        most_missing_waves: the most waves of another worker that one did not have when it began a clock.
    """

    minibatches_per_s: float
    waiting: float
    most_missing_waves: int


def clocks(
    wave_s: Sequence[float], in_flight: int, distance: int | None, transfer_s: float, count: int = 400
) -> Progress:
    """Carry out `count` clocks of all workers.

    start(c) = max(end(c - 1), max over workers of end(c - D - 1) + push, + pull).

    Args:
        wave_s: seconds of a wave of each worker.
        in_flight: minibatches a wave.
        distance: D; None for none, where workers never wait and the clocks of each are as many as it comes to.
        transfer_s: seconds for the push of a worker's updates, and as many for the pull of the weights.
        count: clocks of the slowest.
    """
    wave = np.array(wave_s)
    if distance is None:
        missing = 0 if len(wave) == 1 else count
        return Progress(float((in_flight / wave).sum()), 0.0, missing)
    ends = np.zeros((count + 1, len(wave)))
    starts = np.zeros((count + 1, len(wave)))
    most = 0
    for clock in range(1, count + 1):
        ready = ends[clock - 1]
        if clock - distance - 1 >= 1:
            ready = np.maximum(ready, ends[clock - distance - 1].max() + 2 * transfer_s)
        starts[clock] = ready
        ends[clock] = ready + wave
        had = (ends[1:clock, None, :] + 2 * transfer_s <= ready[None, :, None] + 1e-12).sum(axis=0)
        most = max(most, int((clock - 1 - had).max()))
    half = count // 2
    elapsed = ends[count] - ends[half]
    working = (count - half) * wave
    rate = float((in_flight * (count - half) / elapsed).sum())
    return Progress(rate, round(float(1 - (working / elapsed).mean()), 9) + 0.0, most)
