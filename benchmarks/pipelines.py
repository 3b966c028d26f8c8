"""How long planners of pipelines take, beside the programs whose plans they equal, and how the time grows.

`python -m benchmarks.pipelines`. Every row is a plan in process, the best of three, without reading its input; seconds
of programs are those of their output files (PipeDream's with the start of Python, which takes most of it).
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from hypar_exp.errors import UserError
from hypar_exp.networks.operator_graph import load_operator_graph
from hypar_exp.networks.parallel_profile import load_parallel_profile
from hypar_exp.networks.profile import Profile, load_profile
from hypar_exp.planning.pipelines import (
    Balanced,
    Cluster,
    Dapple,
    PipeDream,
    PipelineProblem,
    Piper,
    Place,
    ProfileCosts,
)

DATA = Path(__file__).parents[1] / "tests/data"
SHARED = Path(__file__).parents[2] / "shared/pipelines/inputs/dnn_partitioning/throughput-inputs"
REPEATS = 3


def main() -> None:
    print(f"{'':58}{'ours':>12}{'program':>12}{'ratio':>9}")
    for rows in (pipedream_rows(), placement_rows(), piper_rows(), dapple_rows()):
        for what, work, program_s in rows:
            _row(what, work, program_s)
    print("\ngrowth, a chain of L nodes on N devices with M micro-batches:")
    for what, problem in growth():
        for planner in (Balanced(), PipeDream(), Dapple()):
            _row(f"{type(planner).__name__}, {what}", lambda planner=planner, at=problem: planner.plan(at))  # type: ignore[misc]


def pipedream_rows() -> Iterator[tuple[str, Callable[[], object], float]]:
    for row in _oracle("pipedream_optimizer"):
        if row["straight"] == "True" or row["memory_constraint_bytes"]:
            continue
        parts, rates = row["machines_per_level"].split(), [float(r) for r in row["bandwidth_Bps_per_level"].split()]
        devices = int(parts[0]) if len(parts) > 1 else 1
        cluster = Cluster(int(parts[-1]), devices, rates[0], rates[-1])
        profile = load_profile(str(DATA / f"pipedream/{row['model']}.graph.txt"), batch_size=1)
        problem = PipelineProblem(ProfileCosts.of(profile), cluster, 1)
        what = f"pipedream, {row['model']}, {'x'.join(parts)} at {row['bandwidth_Bps_per_level']}"
        yield what, lambda at=problem: PipeDream().plan(at), float(row["runtime_s"])  # type: ignore[misc]


def placement_rows() -> Iterator[tuple[str, Callable[[], object], float]]:
    for row in _oracle("dnn_partitioning"):
        own, other = (
            DATA / f"dnn_partitioning/{row['workload']}.json",
            SHARED / row["graph"] / f"{row['workload']}.json",
        )
        file = own if own.exists() else other
        if row["method"].startswith("dp over ideals") and file.exists():
            graph = load_operator_graph(str(file))
            yield f"placement, {row['workload']}", lambda at=graph: Place().place(at), float(row["seconds_here"])  # type: ignore[misc]


def piper_rows() -> Iterator[tuple[str, Callable[[], object], float]]:
    profile = load_parallel_profile(str(DATA / "piper/bert32a100.json"))
    for row in _oracle("piper"):
        if row["microbatches_in_batch"] == "480" and float(row["tps_piper_s"]) > 0:
            memory = float(row["memory_GiB"]) * 2**30
            planner = Piper(devices=int(row["devices"]), memory_bytes=memory, micro_batches=480)
            what = f"piper, {row['model']}, {row['devices']} devices of {row['memory_GiB']} GiB"
            yield what, lambda at=planner: at.stages(profile), float(row["runtime_s"])  # type: ignore[misc]


def dapple_rows() -> Iterator[tuple[str, Callable[[], object], None]]:
    for name, cluster in (("vgg16", Cluster(2, 8)), ("vgg16", Cluster(16, 1)), ("alexnet", Cluster(2, 8))):
        profile = load_profile(str(DATA / f"pipedream/{name}.graph.txt"))
        costs, batch = ProfileCosts.of(profile), profile.batch_size
        problem = PipelineProblem(costs, cluster, 32 * batch, 32)
        what = f"dapple, {name}, {cluster.machines} x {cluster.devices_per_machine}"
        yield what, lambda at=problem: Dapple().plan(at), None  # type: ignore[misc]


def growth() -> Iterator[tuple[str, PipelineProblem]]:
    base = PipelineProblem(ProfileCosts.of(_chain(20)), Cluster(1, 4), 64, 8)
    for nodes in (20, 40, 80):
        yield f"L = {nodes}, N = 4, M = 8", replace(base, costs=ProfileCosts.of(_chain(nodes)))
    for devices in (8, 16):
        yield f"L = 20, N = {devices}, M = 8", replace(base, cluster=Cluster(1, devices))
    for micro_batches in (32, 64):
        yield f"L = 20, N = 4, M = {micro_batches}", replace(base, micro_batches=micro_batches)


def _chain(nodes: int) -> Profile:
    random = np.random.default_rng(7)
    names = tuple(f"node{node}" for node in range(nodes))
    forward, backward, outputs, weights = random.uniform(1, 9, (4, nodes)) * np.array([[1e-3], [2e-3], [1e6], [1e7]])
    edges = tuple((node - 1, node) for node in range(1, nodes))
    return Profile("chain", names, names, 1, forward, backward, outputs, weights, edges)


def _oracle(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DATA / f"pipelines/oracle_{name}.csv").read_text().splitlines()))


def _row(what: str, work: Callable[[], object], program_s: float | None = None) -> None:
    seconds = min(_seconds(work) for _ in range(REPEATS))
    program = "" if program_s is None else f"{program_s * 1e3:>9.1f} ms{program_s / seconds:>8.1f}x"
    print(f"{what:58}{seconds * 1e3:>9.2f} ms{program}")


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    try:
        work()
    except UserError as error:
        print(error)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
