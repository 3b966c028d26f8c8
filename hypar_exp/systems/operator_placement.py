"""Of `workload=placement`: the operators of a graph on accelerators and CPUs, for throughput or for latency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from hypar_exp.networks.operator_graph import OperatorGraph, load_operator_graph
from hypar_exp.planning.pipelines.placement import Device, Place, Placement, latency_s
from hypar_exp.planning.pipelines.placement_file import placement_json, read_placement
from hypar_exp.systems.published_values import published_rows
from hypar_exp.systems.workload import Cell, Findings, Setting, Table
from hypar_exp.units import percent, quantity, significant

SAME = 1e-9
"""Share by which two loads may differ and be the same."""
COLUMNS = ("device", "kind", "operators", "first", "last", "load_s", "compute_s", "memory_bytes")


@dataclass(frozen=True)
class OperatorPlacement:
    """Operators on devices, as in dnn-partitioning (Tarnawski et al., NeurIPS 2020).

    Attributes:
        graph: the path of a graph in dnn-partitioning's form, or the name of one that comes with the package.
        objective: the least maximum load (seconds between two samples), or the least latency of one sample.
        accelerators, cpus, memory_bytes: of the machine; what the graph's file offers where they are None.
        split: the path of a placement in dnn-partitioning's form, an expert's, that is costed instead of a planned one.
    """

    graph: str
    objective: Literal["max_load", "latency"] = "max_load"
    accelerators: int | None = None
    cpus: int | None = None
    memory_bytes: float | None = None
    split: str | None = None
    name: str = "placement"
    uses: ClassVar[tuple[str, ...]] = ()

    def run(self, setting: Setting) -> Findings:
        """The devices and their loads, beside all operators on one accelerator."""
        graph = load_operator_graph(self.graph)
        planner = Place(self.objective, self.accelerators, self.cpus, self.memory_bytes)
        placement = planner.place(graph) if self.split is None else read_placement(self.split, graph)
        alone, load = float(graph.accelerator_s.sum()), placement.max_load_s
        training = bool(graph.backward.any())
        words = [
            f"The slowest of {len(placement.devices)} devices is busy for {quantity(load, 's')} a sample: "
            f"{significant(1 / load)} samples per second, {significant(alone / load)} times those of one accelerator "
            "that holds everything",
        ]
        metrics = {
            "max_load_s": load,
            "samples_per_s": 1 / load,
            "speedup_over_one_accelerator": alone / load,
            "devices": float(len(placement.devices)),
            "operators": float(len(graph.node_names)),
        }
        if not training:
            metrics["latency_s"] = latency_s(graph, placement)
            words.append(f"One sample alone takes {quantity(metrics['latency_s'], 's')}")
        words += _published(graph.name, placement, load)
        idle = 1 - sum(device.load_s for device in placement.devices) / (load * len(placement.devices))
        words.append(f"Devices wait {percent(idle)} of the time")
        return Findings(
            title=f"{graph.name}: {len(graph.node_names)} operators, "
            f"{'training' if training else 'inference'}, "
            + (f"by {self.objective.replace('_', ' ')}" if self.split is None else "as given"),
            words=words,
            tables=[Table("devices", COLUMNS, _rows(graph, placement)), _operators(graph, placement)],
            metrics=metrics,
            files={"placement.json": placement_json(graph, placement)},
            series={"stage/load_s": [device.load_s for device in placement.devices]},
        )


def _published(name: str, placement: Placement, load_s: float) -> list[str]:
    """What the authors' program prints for the same graph and accelerators, where it does."""
    used = sum(device.kind != "cpu" for device in placement.devices)
    words = []
    for row in published_rows("placement"):
        if row["graph"] == name and int(row["accelerators"]) == used:
            exact_s, pipedream_s, expert_s = (float(row[f"{of}_ms"]) / 1e3 for of in ("exact", "pipedream", "expert"))
            same = (
                "the same" if abs(load_s / exact_s - 1) < SAME else f"ours is {significant(load_s / exact_s)} times it"
            )
            words.append(
                f"The authors' program prints {quantity(exact_s, 's')} by its exact search ({same}), "
                f"{quantity(pipedream_s, 's')} by PipeDream's and {quantity(expert_s, 's')} for an expert's split"
            )
    return words


def _rows(graph: OperatorGraph, placement: Placement) -> list[list[Cell]]:
    return [
        [
            *(number, device.kind, len(device.nodes)),
            *(graph.node_names[device.nodes[0]], graph.node_names[device.nodes[-1]]),
            *(device.load_s, _compute_s(graph, device), float(graph.memory_bytes[list(device.nodes)].sum())),
        ]
        for number, device in enumerate(placement.devices, 1)
    ]


def _compute_s(graph: OperatorGraph, device: Device) -> float:
    seconds = graph.cpu_s if device.kind == "cpu" else graph.accelerator_s
    return float(seconds[list(device.nodes)].sum())


def _operators(graph: OperatorGraph, placement: Placement) -> Table:
    """Where each operator is, in the order of the file."""
    device = {node: number for number, device in enumerate(placement.devices, 1) for node in device.nodes}
    rows: list[list[Cell]] = [[name, device[node]] for node, name in enumerate(graph.node_names)]
    return Table("placement", ("operator", "device"), rows)
