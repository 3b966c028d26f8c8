"""Operator graphs: forward and backward operators with times on an accelerator and on a CPU.

The form is that of dnn-partitioning (github.com/msr-fiddle/dnn-partitioning; Tarnawski et al., NeurIPS 2020): JSON with
`nodes`, `edges`, and how many devices of which memory there are. Times are milliseconds, and so is an edge's `cost`,
the time to move its source's output to or from an accelerator.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks.json_files import read_json
from hypar_exp.networks.profile import PROFILES, topological_order

SHIPPED_GRAPHS = ("bert24_inference", "bert24_training")
"""Graphs that come with the package."""
SAME_COST_MS = 1e-6
"""Costs of the edges from one node differ by no more than this."""


@dataclass(frozen=True, eq=False)
class OperatorGraph:
    """Operators in the order of their file.

    Attributes:
        name: of the network.
        node_names: as the file has them.
        accelerator_s, cpu_s: float64[nodes], seconds of one sample or micro-batch.
        transfer_s: float64[nodes], to move a node's output to or from an accelerator; 0 where nobody reads it.
        memory_bytes: float64[nodes], what a node takes on an accelerator.
        on_accelerator: bool[nodes], whether an accelerator can run it.
        backward: bool[nodes], whether it belongs to the backward pass.
        together: intp[nodes], operators of one number have to be on one device.
        edges: (producer, consumer).
        accelerators, cpus: devices that the file offers.
        accelerator_memory_bytes: of each accelerator.
        identities: the nodes' numbers in the file.
    """

    name: str
    node_names: tuple[str, ...]
    accelerator_s: NDArray[np.float64]
    cpu_s: NDArray[np.float64]
    transfer_s: NDArray[np.float64]
    memory_bytes: NDArray[np.float64]
    on_accelerator: NDArray[np.bool_]
    backward: NDArray[np.bool_]
    together: NDArray[np.intp]
    edges: tuple[tuple[int, int], ...]
    accelerators: int
    cpus: int
    accelerator_memory_bytes: float
    identities: tuple[int, ...] = ()


def load_operator_graph(path: str, name: str | None = None) -> OperatorGraph:
    """An operator graph in dnn-partitioning's form: a file, or the name of one of `SHIPPED_GRAPHS`.

    Raises:
        UserError: the file cannot be read or does not have this form, a size or time is missing, an edge names a node
            that does not exist, edges from one node cost differently, or the nodes read each other in a circle.
    """
    if path in SHIPPED_GRAPHS and not Path(path).exists():
        path = str(PROFILES / f"{path}.json")
    file = read_json(path, "graph of operators")
    nodes = file.objects("nodes", "node")
    if not nodes:
        raise UserError(f"{path} has no nodes")
    position: dict[int, int] = {}
    for node in nodes:
        if node.whole("id") in position:
            raise UserError(f"{node.place}: the id {node.whole('id')} appears twice")
        position[node.whole("id")] = len(position)
    costs_ms: dict[int, float] = {}
    edges = []
    for edge in file.objects("edges", "edge"):
        ends = edge.whole("sourceId"), edge.whole("destId")
        for end in ends:
            if end not in position:
                raise UserError(f"{edge.place}: there is no node with the id {end}")
        cost_ms = edge.number("cost")
        if abs(costs_ms.setdefault(ends[0], cost_ms) - cost_ms) > SAME_COST_MS:
            raise UserError(
                f"{edge.place}: another edge from the same node costs {costs_ms[ends[0]]:g} (got {cost_ms:g})"
            )
        edges.append((position[ends[0]], position[ends[1]]))
    names = tuple(node.text("name", f"node{node.whole('id')}") for node in nodes)
    topological_order(path, [str(number) for number in position.values()], [(str(a), str(b)) for a, b in edges])
    classes: dict[int, int] = {}
    together = [
        classes.setdefault(node.whole("colorClass", default=-1), len(classes))
        if "colorClass" in node.values
        else -1 - index
        for index, node in enumerate(nodes)
    ]
    return OperatorGraph(
        name or Path(path).stem,
        names,
        np.array([node.number("fpgaLatency") for node in nodes]) / 1e3,
        np.array([node.number("cpuLatency") for node in nodes]) / 1e3,
        np.array([costs_ms.get(identity, 0.0) for identity in position]) / 1e3,
        np.array([node.number("size", 0.0) for node in nodes]),
        np.array([bool(node.number("supportedOnFpga")) for node in nodes]),
        np.array([bool(node.number("isBackwardNode")) for node in nodes]),
        np.unique(together, return_inverse=True)[1],
        tuple(edges),
        file.whole("maxFPGAs"),
        file.whole("maxCPUs"),
        file.number("maxSizePerFPGA"),
        tuple(position),
    )
