"""Operators on accelerators and CPUs: dnn-partitioning's exact loads, and the least of all pipelines."""

import csv
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks.operator_graph import OperatorGraph, load_operator_graph
from hypar_exp.networks.profile import PROFILES
from hypar_exp.planning.pipelines.placement import Device, Place, Placement, latency_s
from hypar_exp.planning.pipelines.placement_loads import Kind

DATA = Path(__file__).parents[2] / "data"
SHARED = Path(__file__).parents[4] / "shared/pipelines/inputs/dnn_partitioning/throughput-inputs"


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DATA / f"pipelines/{name}.csv").read_text().splitlines()))


ROWS = rows("oracle_dnn_partitioning")
LATENCIES = {
    (row["workload"], row["graph"], row["method"]): row["single_sample_latency"]
    for row in rows("oracle_dnn_partitioning_latency")
}
KINDS: list[Kind] = ["accelerator", "cpu"]


def file_of(workload: str, graph: str) -> Path:
    own = PROFILES / f"{workload}.json"
    return own if own.exists() else SHARED / graph / f"{workload}.json"


WORKLOADS = sorted(
    {
        (row["workload"], row["graph"])
        for row in ROWS
        if file_of(row["workload"], row["graph"]).exists()  # the package has BERT's; the others may be beside it
    }
)


def graph_of(workload: str, graph: str) -> OperatorGraph:
    return load_operator_graph(str(file_of(workload, graph)))


@pytest.mark.parametrize(("workload", "kind"), WORKLOADS)
def test_maximum_loads_are_the_program_s(workload: str, kind: str) -> None:
    graph = graph_of(workload, kind)
    loads = {row["method"]: float(row["max_load"]) for row in ROWS if row["workload"] == workload}
    placement = Place().place(graph)
    assert placement.max_load_s * 1e3 == pytest.approx(loads.pop("dp over ideals (exact contiguous)"), rel=1e-9)
    for method, load in loads.items():  # its expert, its heuristics, and all on one
        assert placement.max_load_s * 1e3 <= load * (1 + 1e-5), method
    check_placement(graph, placement)
    one = Placement((Device("accelerator", tuple(range(len(graph.node_names))), 0.0),))
    assert load_of(graph, one.devices[0]) * 1e3 == pytest.approx(loads["all on one"], rel=1e-5)


def check_placement(graph: OperatorGraph, placement: Placement) -> None:
    """Every operator once, in an order that the graph allows, on no more devices and memory than there are."""
    owner = {node: at for at, device in enumerate(placement.devices) for node in device.nodes}
    assert len(owner) == sum(len(device.nodes) for device in placement.devices) == len(graph.node_names)
    for producer, consumer in graph.edges:
        if not graph.backward[consumer]:
            assert owner[producer] <= owner[consumer]
    for group in np.unique(graph.together):
        assert len({owner[int(node)] for node in np.flatnonzero(graph.together == group)}) == 1
    kinds = [device.kind for device in placement.devices]
    assert kinds.count("accelerator") <= graph.accelerators
    assert kinds.count("cpu") <= graph.cpus
    for device in placement.devices:
        assert device.load_s == pytest.approx(load_of(graph, device), abs=1e-12)
        if device.kind == "accelerator":
            assert graph.memory_bytes[list(device.nodes)].sum() <= graph.accelerator_memory_bytes


def load_of(graph: OperatorGraph, device: Device) -> float:
    """Its definition: times, and on an accelerator every tensor that arrives or leaves, once."""
    inside = set(device.nodes)
    if device.kind == "cpu":
        return float(graph.cpu_s[list(inside)].sum())
    crossing = {producer for producer, consumer in graph.edges if (producer in inside) != (consumer in inside)}
    return float(graph.accelerator_s[list(inside)].sum() + graph.transfer_s[sorted(crossing)].sum())


def latency_input(workload: str, memory_bytes: float, accelerators: int) -> OperatorGraph:
    """The program's latency inputs are the others with dearer transfers and smaller devices."""
    graph = graph_of(workload, "LayerGraphs")
    return replace(
        graph,
        transfer_s=graph.transfer_s * 1000,
        accelerator_memory_bytes=memory_bytes,
        accelerators=accelerators,
        cpus=8,
    )


def split(graph: OperatorGraph, *ranges: tuple[int, int]) -> Placement:
    """Accelerators that each take nodes of following numbers."""
    at = {name: index for index, name in enumerate(graph.node_names)}
    nodes = (tuple(at[f"node{number}"] for number in range(first, last + 1)) for first, last in ranges)
    return Placement(tuple(Device("accelerator", part, 0.0) for part in nodes))


def test_latencies_of_bert() -> None:
    graph = latency_input("bert24_inference", 629145600.0, 5)
    latency = latency_s(graph, Place("latency").place(graph))
    assert latency * 1e3 <= float(LATENCIES["bert24_inference", "LayerGraphs", "greedy"])
    assert latency * 1e3 == pytest.approx(100.219, abs=6e-4)
    assert latency_s(graph, Place().place(graph)) * 1e3 == pytest.approx(108.031, abs=6e-4)
    expert = split(graph, (1, 8), (9, 12), (13, 16), (17, 20), (21, 24), (25, 32))
    assert latency_s(graph, expert) * 1e3 == pytest.approx(
        float(LATENCIES["bert24_inference", "LayerGraphs", "human expert split"]), abs=6e-4
    )


def test_latencies_of_resnet50() -> None:
    graph = latency_input("resnet50_inference", 2147483648.0, 14)
    expert = split(graph, (1, 5), (6, 37), (38, 79), (80, 121), (122, 163), (164, 177))
    assert latency_s(graph, expert) * 1e3 == pytest.approx(1014.927, abs=6e-4)
    latency = latency_s(graph, Place("latency").place(graph))
    assert latency * 1e3 <= float(LATENCIES["resnet50_inference", "LayerGraphs", "greedy"])


@st.composite
def graphs(draw: st.DrawFn) -> OperatorGraph:
    count = draw(st.integers(1, 4))
    training = draw(st.booleans())
    nodes = 2 * count if training else count
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.sets(st.sampled_from(pairs), max_size=5)) if pairs else set()
    if training:
        edges = edges | {(count + b, count + a) for a, b in edges} | {(node, count + node) for node in range(count)}
    numbers = st.lists(st.integers(0, 9), min_size=nodes, max_size=nodes)
    accelerator_s, cpu_s, transfer_s, memory = (np.array(draw(numbers), dtype=np.float64) for _ in range(4))
    return OperatorGraph(
        "random",
        tuple(f"node{node}" for node in range(nodes)),
        accelerator_s,
        cpu_s,
        transfer_s,
        memory,
        np.array(draw(st.lists(st.sampled_from([True, True, False]), min_size=nodes, max_size=nodes))),
        np.arange(nodes) >= count,
        np.arange(nodes) % count,
        tuple(sorted(edges)),
        draw(st.integers(0, 3)),
        1,
        draw(st.sampled_from([20.0, 1e9])),
    )


def pipelines(graph: OperatorGraph) -> list[Placement]:
    """All ways to give the units to at most so many devices in a row."""
    units = int(graph.together.max()) + 1
    kinds: list[tuple[Kind, ...]] = [
        order
        for accelerators in range(graph.accelerators + 1)
        for cpus in range(graph.cpus + 1)
        for order in set(itertools.permutations(KINDS[:1] * accelerators + KINDS[1:] * cpus))
    ]
    found = []
    for order in kinds:
        for owner in itertools.product(range(len(order)), repeat=units):
            edges = [(graph.together[a], graph.together[b]) for a, b in graph.edges if not graph.backward[b]]
            if any(owner[a] > owner[b] for a, b in edges):
                continue
            members = [np.isin(graph.together, np.flatnonzero(np.array(owner) == at)) for at in range(len(order))]
            devices = [
                Device(kind, tuple(np.flatnonzero(inside).tolist()), 0.0)
                for kind, inside in zip(order, members, strict=True)
            ]
            fits = all(
                device.kind == "cpu"
                or (
                    graph.memory_bytes[list(device.nodes)].sum() <= graph.accelerator_memory_bytes
                    and graph.on_accelerator[list(device.nodes)].all()
                )
                for device in devices
            )
            if fits:
                found.append(Placement(tuple(devices)))
    return found


@settings(max_examples=60)
@given(graphs())
def test_no_pipeline_has_a_smaller_maximum_load(graph: OperatorGraph) -> None:
    placement = Place().place(graph)
    check_placement(graph, placement)
    least = min(max(load_of(graph, device) for device in plan.devices) for plan in pipelines(graph) if plan.devices)
    assert placement.max_load_s == pytest.approx(least)
    plan = placement.stage_plan()
    assert [stage.layers for stage in plan.stages] == [device.nodes for device in placement.devices]


def test_what_does_not_fit() -> None:
    graph = replace(graph_of("bert24_inference", "LayerGraphs"), cpus=0)
    with pytest.raises(UserError, match=r"does not fit on 2 accelerators of 500 MB each; the least that would do is"):
        Place(accelerators=2, memory_bytes=5e8).place(graph)
    unsupported = replace(graph, on_accelerator=np.zeros(len(graph.node_names), np.bool_))
    with pytest.raises(UserError, match=r"has operators that none of 6 accelerators runs; it needs a CPU$"):
        Place().place(unsupported)
    with pytest.raises(UserError, match=r"^objective must be max_load or latency \(got 'cost'\)$"):
        Place("cost")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"^accelerators must be a whole number of at least 0 \(got -1\)$"):
        Place(accelerators=-1)


NODE = {"id": 1, "supportedOnFpga": 1, "cpuLatency": 1.0, "fpgaLatency": 1.0, "isBackwardNode": 0}
GRAPH: dict[str, Any] = {
    "maxSizePerFPGA": 1.0,
    "maxFPGAs": 1,
    "maxCPUs": 1,
    "nodes": [NODE, NODE | {"id": 2}],
    "edges": [],
}
EDGE = {"sourceId": 1, "destId": 2, "cost": 1.0}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"maxFPGAs": -1}, "maxFPGAs must be a number of at least 0 (got -1)"),
        ({"nodes": [{"id": 1}]}, "node 1 has no fpgaLatency"),
        ({"nodes": [NODE, NODE]}, "node 2: the id 1 appears twice"),
        (
            {"nodes": [NODE | {"fpgaLatency": "fast"}]},
            "node 1: fpgaLatency must be a number of at least 0 (got 'fast')",
        ),
        ({"edges": [EDGE | {"destId": 7}]}, "edge 1: there is no node with the id 7"),
        ({"edges": [EDGE, EDGE | {"cost": 2}]}, "edge 2: another edge from the same node costs 1 (got 2)"),
        ({"edges": [EDGE, EDGE | {"sourceId": 2, "destId": 1}]}, "its nodes read each other in a circle"),
        ({"nodes": []}, "has no nodes"),
        ({"nodes": 3}, "nodes must be a list of objects"),
    ],
)
def test_mistakes_in_a_file_are_one_sentence(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(GRAPH | changes))
    with pytest.raises(UserError) as error:
        load_operator_graph(str(file))
    assert sentence in str(error.value)


def test_no_json(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    for text in ("{", "[1]"):
        file.write_text(text)
        with pytest.raises(UserError, match=r"graph\.json (is not JSON|should be a graph of operators)"):
            load_operator_graph(str(file))


def test_units_that_read_each_other_in_a_circle_are_on_one_device() -> None:
    """Operators 0 and 2 belong together, and 1 lies between them: all three are one unit."""
    zeros = np.zeros(4)
    graph = OperatorGraph(
        "circle",
        ("a", "b", "c", "d"),
        np.array([1.0, 2.0, 3.0, 4.0]),
        zeros,
        zeros,
        zeros,
        np.ones(4, np.bool_),
        np.zeros(4, np.bool_),
        np.array([0, 1, 0, 2]),
        ((0, 1), (1, 2), (2, 3)),
        4,
        0,
        1.0,
    )
    placement = Place().place(graph)
    assert [device.nodes for device in placement.devices] == [(0, 1, 2), (3,)]
    assert placement.max_load_s == 6.0


def test_an_accelerator_that_waits_for_another_takes_two_pieces() -> None:
    """a and c on one accelerator, b between them on another: a, its output moved out and in, b, moved again, c."""
    graph = OperatorGraph(
        "chain",
        ("a", "b", "c"),
        np.array([1.0, 2.0, 3.0]),
        np.zeros(3),
        np.array([10.0, 20.0, 0.0]),
        np.zeros(3),
        np.ones(3, np.bool_),
        np.zeros(3, np.bool_),
        np.arange(3),
        ((0, 1), (1, 2)),
        2,
        0,
        1.0,
    )
    split = Placement((Device("accelerator", (0, 2), 0.0), Device("accelerator", (1,), 0.0)))
    assert latency_s(graph, split) == (1 + 10) + (10 + 2 + 20) + (20 + 3)
    joined = replace(graph, edges=((1, 2),))
    assert latency_s(joined, split) == (2 + 20) + (20 + 1 + 3)  # a waits for b as well: one piece
