"""Piper's planner (Tarnawski et al., NeurIPS 2021): stages x replicas x tensor parallelism x recomputation, in memory.

From the last stage to the first, the slowest stage of the best pipeline behind a cut, on at most k devices and with at
most s replicas over all stages, is

    A(cut, k, s) = min over stages from the cut, t, d of max( A(next cut, k - t d, s - d), T(stage, t, d, ceil(s / d)) )

Of a stage of d replicas on t devices each, a replica keeps the activations of y = ceil(s / d) micro-batches. Where they
do not fit, layers compute activations again, the cheapest for each byte that they save first. Instead of A itself, the
search asks for a bound on it how few devices do, which is a table smaller, and halves the bounds that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number, require_whole
from hypar_exp.errors import UserError
from hypar_exp.networks.parallel_profile import ParallelProfile, Ways
from hypar_exp.planning.pipelines.bottleneck import Stages, is_possible, least_slowest_stage
from hypar_exp.planning.pipelines.cuts import Cuts, cuts_of_graph
from hypar_exp.planning.pipelines.problem import least_sufficient
from hypar_exp.planning.plan import Split
from hypar_exp.planning.stages import Recompute, Stage, StagePlan
from hypar_exp.units import quantity

BOUNDS = (1.4, 2.5)
"""Times the least that any pipeline takes: only stages below it are looked at, and all where there is no plan then."""
ROUGHLY = 1.1
"""How near to the fastest pipeline without a choice of what is computed again the first bound has to be."""


@dataclass(frozen=True)
class PiperStage:
    """A stage: its nodes, replicas, devices of a replica, those nodes that compute activations again, and its time."""

    nodes: tuple[int, ...]
    replicas: int
    tensor_parallel: int
    recomputed: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class Piper:
    """The pipeline with the least time between two micro-batches; replicas take micro-batches in turn.

    Attributes:
        replicate, tensor_parallel, recompute: what it may make use of.
        devices, memory_bytes, bytes_per_s, micro_batches: what the profile's file offers where they are None.
        exchanges_per_weight: how often a weight crosses a device's link in a step's exchange of gradients; 4 is the
            authors', who model a parameter server, 2 that of a ring.

    Raises:
        UserError: a count or a size that cannot be.
    """

    replicate: bool = True
    tensor_parallel: bool = True
    recompute: bool = True
    devices: int | None = None
    memory_bytes: float | None = None
    bytes_per_s: float | None = None
    micro_batches: int | None = None
    exchanges_per_weight: float = 2.0

    def __post_init__(self) -> None:
        for name in ("devices", "micro_batches"):
            if getattr(self, name) is not None:
                require_whole("planner", name, getattr(self, name), least=1)
        given = [name for name in ("memory_bytes", "bytes_per_s") if getattr(self, name) is not None]
        require_number("planner", self, *given, "exchanges_per_weight")

    def plan(self, profile: ParallelProfile) -> StagePlan:
        """The stages; a replica's tensor parallelism is a split `mp` of all its layers at every level.

        Raises:
            UserError: no plan fits in the devices' memory, or a replica's devices are no power of two.
        """
        micro_batches = self.micro_batches or profile.micro_batches
        return StagePlan(tuple(_stage(stage) for stage in self.stages(profile)), micro_batches)

    def stages(self, profile: ParallelProfile) -> list[PiperStage]:
        """The stages, the first first.

        Raises:
            UserError: no plan fits in the devices' memory; the sentence says how much would do.
        """
        memory = self.memory_bytes or profile.memory_bytes
        search = _Search(profile, self)
        stages = search.stages(memory)
        if stages is None:
            raise UserError(search.nothing_fits(memory))
        return stages


@dataclass(eq=False)
class _Ranges:
    """All stages on t devices a replica.

    Attributes:
        ways: how nodes run on so many.
        tensor_parallel: t.
        pairs: intp[ranges], which pairs of cuts.
        inside: float64[ranges, nodes], 1 where a node is inside.
        fastest_s, extra_s: float64[ranges, nodes], of a micro-batch on one replica with the edges that are cut, in the
            faster way, and what the other way adds; infinity where it must not be taken.
        faster: intp[ranges, nodes], which way it is.
        seconds: float64[ranges], all nodes in their faster way.
        exchange_s: float64[ranges], of all weights, for one micro-batch.
    """

    ways: Ways
    tensor_parallel: int
    pairs: NDArray[np.intp]
    inside: NDArray[np.float64]
    fastest_s: NDArray[np.float64]
    extra_s: NDArray[np.float64]
    faster: NDArray[np.intp]
    seconds: NDArray[np.float64]
    exchange_s: NDArray[np.float64]

    def memory(self, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """float64[ranges, y], twice: bytes with y = 1, 2, ... micro-batches kept, all in the faster or lesser way."""
        kept = np.arange(1, most + 1)
        each = [
            np.ascontiguousarray(
                self.ways.bytes_per_micro_batch[:, way, None] * kept + self.ways.fixed_bytes[:, way, None]
            )
            for way in (0, 1)
        ]
        faster = self.inside @ each[0] + (self.inside * self.faster) @ (each[1] - each[0])
        free = np.asarray(np.isfinite(self.extra_s).all(axis=0))
        lesser = np.where(free[:, None], np.minimum(*each), each[0])
        return faster, self.inside @ lesser

    def swaps(
        self, rows: NDArray[np.intp], kept: NDArray[np.intp], memory_bytes: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """bool[rows, nodes]: nodes that give up their faster way with `kept` micro-batches, the cheapest for each byte
        first until the range fits; and float64[rows, nodes], what that costs.
        """
        memory = self.ways.bytes_per_micro_batch * kept[:, None, None] + self.ways.fixed_bytes
        second = self.faster[rows] == 1
        savings = np.where(second, memory[..., 1] - memory[..., 0], memory[..., 0] - memory[..., 1])
        fullest = (self.inside[rows] * np.where(second, memory[..., 1], memory[..., 0])).sum(axis=1)
        extra = self.extra_s[rows]
        useful = (self.inside[rows] > 0) & (savings > 0) & np.isfinite(extra)
        price = np.where(useful, extra / np.where(useful, savings, 1.0), np.inf)
        order = np.argsort(price, axis=1, kind="stable")
        saved = np.cumsum(np.take_along_axis(np.where(useful, savings, 0.0), order, axis=1), axis=1)
        before = np.concatenate([np.zeros((len(rows), 1)), saved[:, :-1]], axis=1)
        swaps = np.zeros_like(useful)
        np.put_along_axis(swaps, order, before < (fullest - memory_bytes)[:, None], axis=1)
        swaps &= useful
        return swaps, np.where(swaps, extra, 0.0)


class _Search:
    """The search over one profile."""

    def __init__(self, profile: ParallelProfile, options: Piper) -> None:
        self._profile, self._options = profile, options
        self._devices = options.devices or profile.devices
        self._rate = options.bytes_per_s or profile.bytes_per_s
        self._micro_batches = options.micro_batches or profile.micro_batches
        self._most_replicas = min(self._devices, self._micro_batches)
        self._cuts: Cuts = cuts_of_graph(len(profile.node_names), profile.edges, profile.name)
        self._begins, self._ends = np.nonzero(self._cuts.below)
        self._inside = self._cuts.inside[self._ends] & ~self._cuts.inside[self._begins]
        divisors = [count for count in range(1, self._most_replicas + 1) if self._micro_batches % count == 0]
        self._replicas = np.array(divisors if options.replicate else [1])
        degrees = [degree for degree in profile.ways if degree <= self._devices]
        self._ranges = [self._ranges_on(degree) for degree in degrees if options.tensor_parallel or degree == 1]

    def stages(self, memory_bytes: float) -> list[PiperStage] | None:
        """The best pipeline, or None where nothing fits.

        At first a stage that does not fit computes everything again; only stages that may be faster than what is found
        then are looked at closely.
        """
        fitting = [self._fitting(ranges, memory_bytes) for ranges in self._ranges]
        rough = [self._roughly(*pair) for pair in zip(self._ranges, fitting, strict=True)]
        last = len(self._cuts) - 1
        found = None
        for bound in (*(growth * self._least_s() for growth in BOUNDS), np.inf):
            found = least_slowest_stage(self._stages(rough, bound), self._devices, last, ROUGHLY)
            if found is not None:
                break
        if found is None:
            return None
        bound = found[0]
        closely = [
            self._closely(ranges, fits, memory_bytes, bound) for ranges, fits in zip(self._ranges, fitting, strict=True)
        ]
        best = least_slowest_stage(self._stages(closely, bound), self._devices, last)
        assert best is not None
        _, quick, pipeline = best
        return [self._finished(quick, index, ahead, memory_bytes) for index, ahead in pipeline]

    def _least_s(self) -> float:
        """No pipeline is faster: all devices busy with every layer's cheapest way."""
        work = [np.where(r.ways.possible, r.tensor_parallel * r.ways.seconds.min(axis=1), np.inf) for r in self._ranges]
        return float(np.min(work, axis=0).sum()) / self._devices if work else 0.0

    def nothing_fits(self, memory_bytes: float) -> str:
        """The sentence that says so, and what would do."""
        needed = [ranges.memory(self._most_replicas)[1].ravel() for ranges in self._ranges]
        candidates = np.unique(np.concatenate(needed)) if needed else np.zeros(0)
        candidates = candidates[candidates > memory_bytes]
        if not len(candidates) or not self._fits(float(candidates[-1])):
            return f"{self._profile.name} has layers that do not run on the devices allowed; give it more"
        least = least_sufficient(self._fits, candidates.tolist())
        return (
            f"{self._profile.name} does not fit on {self._devices} devices of {quantity(memory_bytes, 'B')} each; the "
            f"least that would do is {quantity(least, 'B')}"
        )

    def _fits(self, memory_bytes: float) -> bool:
        fitting = [self._fitting(ranges, memory_bytes) for ranges in self._ranges]
        rough = [self._roughly(*pair) for pair in zip(self._ranges, fitting, strict=True)]
        return is_possible(self._stages(rough, np.inf), self._devices, len(self._cuts) - 1)

    def _ranges_on(self, degree: int) -> _Ranges:
        profile, ways = self._profile, self._profile.ways[degree]
        pairs = np.flatnonzero(~(self._inside & ~ways.possible).any(axis=1))
        inside = self._inside[pairs]
        costs = np.where(inside, ways.seconds.T[:, None, :], 0.0)
        for (producer, consumer), tensor, extra in zip(
            profile.edges, profile.tensor_bytes, ways.edge_bytes, strict=True
        ):
            entering, leaving = inside[:, consumer] & ~inside[:, producer], inside[:, producer] & ~inside[:, consumer]
            for way in (0, 1):
                costs[way, entering, consumer] += 2 * (tensor + extra[0, way]) / self._rate
                costs[way, leaving, producer] += 2 * (tensor + extra[1, way]) / self._rate
        if not self._options.recompute:
            again = ways.recomputes & ~np.asarray(ways.recomputes.all(axis=1))[:, None]
            costs[again.T[:, None, :] & inside] = np.inf
        fastest_s = costs.min(axis=0)
        weights = inside.astype(np.float64) @ ways.weight_bytes
        return _Ranges(
            ways,
            degree,
            pairs,
            inside.astype(np.float64),
            fastest_s,
            costs.max(axis=0) - fastest_s,
            (costs[1] < costs[0]).astype(np.intp),
            fastest_s.sum(axis=1),
            self._options.exchanges_per_weight * weights / self._micro_batches / self._rate,
        )

    def _fitting(self, ranges: _Ranges, memory_bytes: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """bool[ranges, y], twice: whether it fits all in the faster way, and at all."""
        faster, lesser = ranges.memory(self._most_replicas)
        return faster <= memory_bytes, lesser <= memory_bytes

    def _roughly(self, ranges: _Ranges, fitting: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> NDArray[np.float64]:
        """float64[ranges, y]: what is added where all nodes give up their faster way, if it does not fit otherwise."""
        fits, can_fit = fitting
        everything_s = np.where(np.isfinite(ranges.extra_s), ranges.extra_s, 0.0).sum(axis=1)
        return np.where(fits, 0.0, np.where(can_fit, everything_s[:, None], np.inf))

    def _closely(
        self,
        ranges: _Ranges,
        fitting: tuple[NDArray[np.bool_], NDArray[np.bool_]],
        memory_bytes: float,
        bound: float,
    ) -> NDArray[np.float64]:
        """float64[ranges, y]: what recomputation adds; infinity where a stage would take longer than `bound`."""
        fits, can_fit = fitting
        extra_s = np.where(fits, 0.0, np.inf)
        kept = np.arange(1, self._most_replicas + 1)
        most = np.array([self._replicas[(y - 1) * self._replicas < self._most_replicas].max(initial=1) for y in kept])
        least_s = ranges.seconds[:, None] / most + ranges.exchange_s[:, None] * ((most - 1) / most)
        rows, columns = np.nonzero(can_fit & ~fits & (least_s <= bound))
        for first in range(0, len(rows), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            _, costs_s = ranges.swaps(rows[part], columns[part] + 1, memory_bytes)
            extra_s[rows[part], columns[part]] = costs_s.sum(axis=1)
        return extra_s

    def _stages(self, extra_s: list[NDArray[np.float64]], bound: float) -> Stages:
        """All stages that may take `bound` at most, by the replicas from them on."""
        ahead = np.arange(self._most_replicas + 1)
        found: list[Stages] = []
        for number, (ranges, added) in enumerate(zip(self._ranges, extra_s, strict=True)):
            for copies in self._replicas[self._replicas * ranges.tensor_parallel <= self._devices]:
                exchange_s = ranges.exchange_s * ((copies - 1) / copies)
                own = np.flatnonzero((ranges.seconds / copies + exchange_s <= bound) & np.isfinite(added[:, 0]))
                kept = np.maximum(-(-ahead // copies), 1)
                times = (ranges.seconds[own, None] + added[own][:, kept - 1]) / copies + exchange_s[own, None]
                times[:, :copies] = np.inf
                begins, ends = self._begins[ranges.pairs[own]], self._ends[ranges.pairs[own]]
                every = np.ones_like(own)
                degree = ranges.tensor_parallel
                found.append(Stages(begins, ends, copies * every, degree * every, number * every, own, times))
        return Stages.together(found, self._most_replicas)

    def _finished(self, stages: Stages, index: int, ahead: int, memory_bytes: float) -> PiperStage:
        ranges, row = self._ranges[stages.table[index]], stages.row[index]
        copies = int(stages.copies[index])
        swaps, _ = ranges.swaps(np.array([row]), np.array([-(-ahead // copies)]), memory_bytes)
        way = ranges.faster[row] ^ swaps[0]
        again = np.take_along_axis(ranges.ways.recomputes, way[:, None], axis=1)[:, 0]
        nodes = np.flatnonzero(ranges.inside[row])
        recomputed = tuple(nodes[again[nodes]].tolist())
        seconds = float(stages.times[index, ahead])
        return PiperStage(tuple(nodes.tolist()), copies, ranges.tensor_parallel, recomputed, seconds)


ROWS_AT_ONCE = 4096


def _stage(stage: PiperStage) -> Stage:
    levels = stage.tensor_parallel.bit_length() - 1
    if stage.tensor_parallel != 1 << levels:
        raise UserError(f"a replica has {stage.tensor_parallel} devices, which is no power of two")
    splits = np.full((levels, len(stage.nodes)), Split.MP, np.uint8)
    recompute: Recompute = "none"
    if stage.recomputed:
        recompute = "full" if len(stage.recomputed) == len(stage.nodes) else "selective"
    return Stage(stage.nodes, stage.replicas * stage.tensor_parallel, stage.replicas, splits, recompute=recompute)
