"""Profiles of every way to run a layer: on one device or tensor-parallel on several, with or without recomputation.

The form is Piper's (github.com/msr-fiddle/piper; Tarnawski et al., NeurIPS 2021): JSON with `nodes`, whose `TMPCs` hold
for each number of devices one or two ways, `edges` with bytes, and the devices, their memory and bandwidth. Times are
seconds of a micro-batch, forward and backward together; `syncTimeFw` and `syncTimeBw` are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks.json_files import Fields, read_json
from hypar_exp.networks.profile import topological_order

WAYS = 2
"""At most: activations kept, or computed again."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The ways to run every node on a number of devices; where a node has one way, both are the same.

    Attributes:
        seconds: float64[nodes, 2], forward and backward of a micro-batch.
        weight_bytes: float64[nodes], on each device.
        bytes_per_micro_batch: float64[nodes, 2], kept for each micro-batch in flight.
        fixed_bytes: float64[nodes, 2], whatever is in flight.
        edge_bytes: float64[edges, 2, 2], what a cut edge costs at its consumer and at its producer beside its tensor,
            by the way of that node.
        recomputes: bool[nodes, 2].
        possible: bool[nodes], whether the node runs on so many devices at all.
    """

    seconds: NDArray[np.float64]
    weight_bytes: NDArray[np.float64]
    bytes_per_micro_batch: NDArray[np.float64]
    fixed_bytes: NDArray[np.float64]
    edge_bytes: NDArray[np.float64]
    recomputes: NDArray[np.bool_]
    possible: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ParallelProfile:
    """Layers, and how they run on 1, 2, ... devices.

    Attributes:
        name: of the network.
        node_names: as the file has them; nodes are in topological order.
        edges: (producer, consumer).
        tensor_bytes: float64[edges], of a micro-batch.
        ways: number of devices -> the ways on so many.
        devices, memory_bytes, bytes_per_s, micro_batches: what the file offers, and a step's micro-batches.
    """

    name: str
    node_names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    tensor_bytes: NDArray[np.float64]
    ways: Mapping[int, Ways]
    devices: int
    memory_bytes: float
    bytes_per_s: float
    micro_batches: int


def load_parallel_profile(path: str, name: str | None = None) -> ParallelProfile:
    """A profile in Piper's form.

    Raises:
        UserError: the file cannot be read or does not have this form, a node lacks a time or a size, has more than two
            ways on one number of devices, or the nodes read each other in a circle.
    """
    file = read_json(path, "profile of Piper")
    nodes = file.objects("nodes", "node")
    if not nodes:
        raise UserError(f"{path} has no nodes")
    identities = [str(node.whole("id")) for node in nodes]
    for node, identity in zip(nodes, identities, strict=True):
        if identities.count(identity) > 1:
            raise UserError(f"{node.place}: the id {identity} appears twice")
    ends, tensor_bytes = [], []
    for edge in file.objects("edges", "edge"):
        both = str(edge.whole("sourceId")), str(edge.whole("destId"))
        for end in both:
            if end not in identities:
                raise UserError(f"{edge.place}: there is no node with the id {end}")
        if both in ends:
            raise UserError(f"{edge.place}: the edge from {both[0]} to {both[1]} appears twice")
        ends.append(both)
        tensor_bytes.append(edge.number("communicationCost"))
    order = topological_order(path, identities, ends)
    by_identity = dict(zip(identities, nodes, strict=True))
    listed = [_ways_by_devices(by_identity[identity]) for identity in order]
    degrees = sorted({degree for ways in listed for degree in ways})
    rate = file.number("bandwidth")
    if rate <= 0:
        raise UserError(f"{path}: bandwidth must be above 0 (got {rate:g})")
    return ParallelProfile(
        name or Path(path).stem,
        tuple(by_identity[identity].text("name", f"node{identity}") for identity in order),
        tuple((order.index(producer), order.index(consumer)) for producer, consumer in ends),
        np.array(tensor_bytes),
        {degree: _ways([ways.get(degree, []) for ways in listed], order, ends) for degree in degrees},
        file.whole("maxDevices", least=1),
        file.number("maxMemoryPerDevice"),
        rate,
        file.whole("mbsInBatch", least=1),
    )


def _ways_by_devices(node: Fields) -> dict[int, list[Fields]]:
    ways: dict[int, list[Fields]] = {}
    listed = Fields(node.place, node.mapping("TMPCs"))
    for degree in listed.values:
        if not degree.isdecimal() or not int(degree):
            raise UserError(f"{node.place}: TMPCs has the key {degree[:40]!r}, which is no number of devices")
        ways[int(degree)] = listed.objects(degree, f"{degree} devices, way")
        if len(ways[int(degree)]) > WAYS:
            raise UserError(
                f"{node.place}: there are {len(ways[int(degree)])} ways on {degree} devices, more than {WAYS}"
            )
    return ways


def _ways(listed: list[list[Fields]], order: list[str], ends: list[tuple[str, str]]) -> Ways:
    count = len(listed)
    seconds, kept, fixed = (np.zeros((count, WAYS)) for _ in range(3))
    weights, recomputes = np.zeros(count), np.zeros((count, WAYS), np.bool_)
    edge_bytes = np.zeros((len(ends), 2, WAYS))
    for node, ways in enumerate(listed):
        for number, way in enumerate(ways * WAYS if len(ways) == 1 else ways):
            seconds[node, number] = way.number("timePerSample")
            kept[node, number], fixed[node, number] = way.number("memoryUsageA"), way.number("memoryUsageB")
            recomputes[node, number] = "recomp" in way.text("id")
            if number and way.number("parameterSize") != weights[node]:
                raise UserError(f"{way.place}: parameterSize must be that of the other way, {weights[node]:g}")
            weights[node] = way.number("parameterSize")
            for side, key in enumerate(("syncTimeFw", "syncTimeBw")):
                bytes_by_other = Fields(f"{way.place}, {key}", way.mapping(key))
                for edge, both in enumerate(ends):
                    if both[1 - side] == order[node]:
                        edge_bytes[edge, side, number] = bytes_by_other.number(both[side])
    return Ways(seconds, weights, kept, fixed, edge_bytes, recomputes, np.array([bool(ways) for ways in listed]))
