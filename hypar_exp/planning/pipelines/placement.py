"""Operators on accelerators and CPUs (Tarnawski et al., NeurIPS 2020): which device runs what.

Forward and backward operators that belong together are one unit; each device takes the units between two downsets of
the graph, so that devices form a pipeline. A device's load is its time and, on an accelerator, a transfer for each
tensor that arrives or leaves, once; nothing overlaps, and a CPU pays for no transfer. The slowest device sets the
throughput; `latency_s` is the time of one sample alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number, require_whole, shortened
from hypar_exp.errors import UserError
from hypar_exp.networks.operator_graph import OperatorGraph
from hypar_exp.planning.pipelines.placement_loads import Kind, Loads
from hypar_exp.planning.pipelines.problem import least_sufficient
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.units import quantity

Combine = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""From the cost of the devices before and the load of the next to their cost together."""


@dataclass(frozen=True)
class Device:
    """What one device runs.

    Attributes:
        kind: of the device.
        nodes: positions in the graph.
        load_s: its time and, on an accelerator, its transfers.
    """

    kind: Kind
    nodes: tuple[int, ...]
    load_s: float


@dataclass(frozen=True)
class Placement:
    """Devices in the order of the pipeline."""

    devices: tuple[Device, ...]

    @property
    def max_load_s(self) -> float:
        """Seconds between two samples: the load of the slowest device."""
        return max(device.load_s for device in self.devices)

    def stage_plan(self) -> StagePlan:
        """The same as stages of one device each."""
        return StagePlan(tuple(Stage(device.nodes) for device in self.devices))


@dataclass(frozen=True)
class Place:
    """The least maximum load, exact over all pipelines of downsets; or the least latency of one sample among pipelines.

    Attributes:
        objective: `max_load`, or `latency` (of the pipelines with the least sum of loads, and with the least maximum).
        accelerators, cpus: at most so many; as many as the graph's file offers where they are None.
        memory_bytes: of an accelerator; what the file says where it is None.
    """

    objective: Literal["max_load", "latency"] = "max_load"
    accelerators: int | None = None
    cpus: int | None = None
    memory_bytes: float | None = None

    def __post_init__(self) -> None:
        if self.objective not in ("max_load", "latency"):
            raise UserError(f"objective must be max_load or latency (got {shortened(self.objective)})")
        for name in ("accelerators", "cpus"):
            if getattr(self, name) is not None:
                require_whole("", name, getattr(self, name), least=0)
        if self.memory_bytes is not None:
            require_number("workload", self, "memory_bytes")

    def place(self, graph: OperatorGraph) -> Placement:
        """The devices, and what each of them runs.

        Raises:
            UserError: it fits on no such devices, or there are too many downsets.
        """
        memory = graph.accelerator_memory_bytes if self.memory_bytes is None else self.memory_bytes
        loads = Loads(graph)
        placed = self._best(loads, memory, np.maximum)
        if placed is None:
            raise UserError(self._nothing_fits(loads, memory))
        if self.objective == "max_load":
            return placed
        sequential = self._best(loads, memory, np.add)
        return min((plan for plan in (placed, sequential) if plan), key=lambda plan: latency_s(graph, plan))

    def _best(self, loads: Loads, memory_bytes: float, combine: Combine) -> Placement | None:
        graph = loads.graph
        accelerators = graph.accelerators if self.accelerators is None else self.accelerators
        cpus = graph.cpus if self.cpus is None else self.cpus
        return _pipeline(loads, accelerators, cpus, memory_bytes, combine)

    def _nothing_fits(self, loads: Loads, memory_bytes: float) -> str:
        accelerators = loads.graph.accelerators if self.accelerators is None else self.accelerators
        needed = loads.memory_needs()
        needed = needed[needed > memory_bytes]

        def fits(memory: float) -> bool:
            return self._best(loads, memory, np.maximum) is not None

        if not len(needed) or not fits(needed[-1]):
            return f"{loads.graph.name} has operators that none of {accelerators} accelerators runs; it needs a CPU"
        least = least_sufficient(fits, needed.tolist())
        return (
            f"{loads.graph.name} does not fit on {accelerators} accelerators of {quantity(memory_bytes, 'B')} each; "
            f"the least that would do is {quantity(least, 'B')}"
        )


def _pipeline(loads: Loads, accelerators: int, cpus: int, memory_bytes: float, combine: Combine) -> Placement | None:
    """The best pipeline of at most so many devices, or None where nothing fits."""
    everything = len(loads.cuts) - 1
    costs: dict[tuple[int, int], NDArray[np.float64]] = {}
    for used_cpus in range(cpus + 1):
        for used in range(accelerators + 1):
            best = np.full(everything + 1, np.inf)
            best[0] = 0.0
            for kind, before in _devices_before(used_cpus, used):
                if before in costs:
                    last_only = (used_cpus, used) == (cpus, accelerators)
                    first_end = everything if last_only else 0
                    reached = _one_more(loads, kind, costs[before], memory_bytes, combine, first_end)
                    best[first_end:] = np.minimum(best[first_end:], reached)
            costs[used_cpus, used] = best
    least = costs[cpus, accelerators][everything]
    if not np.isfinite(least):
        return None
    state = min((used for used in costs if costs[used][everything] == least), key=lambda used: (sum(used), used))
    devices: list[Device] = []
    end = everything
    while end:
        for kind, before in _devices_before(*state):
            if before in costs:
                row = loads.rows(kind, end, end + 1, memory_bytes)[0]
                together = combine(costs[before][: end + 1], row)
                begin = int(together.argmin())
                if together[begin] == costs[state][end]:
                    break
        if begin != end:
            devices.append(Device(kind, loads.nodes_between(begin, end), float(row[begin])))
        end, state = begin, before
    return Placement(tuple(reversed(devices)))


def _devices_before(cpus: int, accelerators: int) -> tuple[tuple[Kind, tuple[int, int]], ...]:
    """The last device of so many, and how many (CPUs, accelerators) there are before it."""
    return ("cpu", (cpus - 1, accelerators)), ("accelerator", (cpus, accelerators - 1))


ROWS_AT_ONCE = 64
"""So many fit in a processor's cache together with what is made of them."""


def _one_more(
    loads: Loads, kind: Kind, before: NDArray[np.float64], memory_bytes: float, combine: Combine, first_end: int
) -> NDArray[np.float64]:
    """float64[ends]: the least cost up to each cut from `first_end` on, with one more device behind."""
    reached = []
    for first in range(first_end, len(before), ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, len(before))
        reached.append(combine(before[:last], loads.rows(kind, first, last, memory_bytes)).min(axis=1))
    return np.concatenate(reached)


def load_s(graph: OperatorGraph, kind: Kind, nodes: Sequence[int]) -> float:
    """Seconds of a device that runs these operators: their times and, on an accelerator, what arrives or leaves."""
    own = list(nodes)
    if kind == "cpu":
        return float(graph.cpu_s[own].sum())
    inside = set(own)
    crossing = {producer for producer, consumer in graph.edges if (producer in inside) != (consumer in inside)}
    return float(graph.accelerator_s[own].sum() + graph.transfer_s[sorted(crossing)].sum())


Block = tuple[Kind, int, int]
"""What runs at once: an operator on a CPU, or a piece of an accelerator's operators."""


def latency_s(graph: OperatorGraph, placement: Placement) -> float:
    """Seconds of one sample alone: an accelerator starts when all that it reads is there, moves it in, computes
    everything, and moves its results out; a CPU runs each operator as soon as it can. An accelerator whose operators
    wait for others that wait for it takes them in as few pieces as can be.
    """
    block = _blocks(graph, placement)
    members: dict[Block, list[int]] = {}
    for node, key in block.items():
        members.setdefault(key, []).append(node)
    sources: dict[Block, set[int]] = {key: set() for key in members}
    leaving: set[int] = set()
    for producer, consumer in graph.edges:
        if block[producer] != block[consumer]:
            sources[block[consumer]].add(producer)
            leaving.add(producer)
    ready: dict[Block, float] = {}
    needs = {key: {block[node] for node in nodes} for key, nodes in sources.items()}
    for key in TopologicalSorter(needs).static_order():
        start = max((ready[block[producer]] for producer in sources[key]), default=0.0)
        if key[0] == "cpu":
            ready[key] = start + float(graph.cpu_s[members[key]].sum())
        else:
            arriving = sum(float(graph.transfer_s[producer]) for producer in sources[key])
            returned = sum(float(graph.transfer_s[node]) for node in members[key] if node in leaving)
            ready[key] = start + arriving + float(graph.accelerator_s[members[key]].sum()) + returned
    return max(ready.values())


def _blocks(graph: OperatorGraph, placement: Placement) -> dict[int, Block]:
    """The block of each operator."""
    reads: dict[int, list[int]] = {node: [] for node in range(len(graph.node_names))}
    for producer, consumer in graph.edges:
        reads[consumer].append(producer)
    order = list(TopologicalSorter(reads).static_order())
    block: dict[int, Block] = {}
    for number, device in enumerate(placement.devices):
        if device.kind == "cpu":
            block |= {node: ("cpu", number, node) for node in device.nodes}
            continue
        own, piece = set(device.nodes), dict.fromkeys(order, 0)
        for node in order:
            inside = node in own
            earlier = (piece[before] + (inside and before not in own) for before in reads[node])
            piece[node] = max([int(inside), *earlier])
        block |= {node: ("accelerator", number, piece[node]) for node in own}
    return block
