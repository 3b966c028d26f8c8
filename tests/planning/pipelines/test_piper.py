"""Piper's planner: its program's times between micro-batches, and the least over all plans of small graphs."""

import csv
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks.parallel_profile import ParallelProfile, Ways, load_parallel_profile
from hypar_exp.planning.pipelines.piper import Piper, PiperStage, _Search

DATA = Path(__file__).parents[2] / "data"
ROWS = list(csv.DictReader((DATA / "pipelines/oracle_piper.csv").read_text().splitlines()))
LESS: dict[str, dict[str, bool]] = {
    "tps_piper_s": {},
    "tps_no_dp": {"replicate": False},
    "tps_no_tensor": {"tensor_parallel": False},
    "tps_no_recompute": {"recompute": False},
}


@pytest.fixture(scope="module")
def bert() -> ParallelProfile:
    return load_parallel_profile(str(DATA / "piper/bert32a100.json"))


def piper_of(row: dict[str, str], **less: bool) -> Piper:
    """The row's planner; the program counts four transfers of each weight."""
    memory_bytes, rate = float(row["memory_GiB"]) * 2**30, float(row["bandwidth_GiBps"]) * 2**30
    step = int(row["microbatches_in_batch"])
    return Piper(
        devices=int(row["devices"]),
        memory_bytes=memory_bytes,
        bytes_per_s=rate,
        micro_batches=step,
        exchanges_per_weight=4.0,
        **less,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(list(row.values())[1:4]))
def test_times_are_the_program_s(bert: ParallelProfile, row: dict[str, str]) -> None:
    for column, less in LESS.items():
        planner, expected = piper_of(row, **less), float(row[column])
        if expected == -1:
            assert _Search(bert, planner).stages(planner.memory_bytes or 0.0) is None
            continue
        stages = planner.stages(bert)
        slowest = max(stage.seconds for stage in stages)
        assert slowest == pytest.approx(expected, rel=1e-8), column
        assert max(check_stages(bert, planner, stages)) == pytest.approx(slowest, rel=1e-12)
        if not less and float(row["tps_equi"]) > 0:
            assert slowest <= float(row["tps_equi"]) * (1 + 1e-8)


def check_stages(profile: ParallelProfile, planner: Piper, stages: list[PiperStage]) -> list[float]:
    """Seconds of each stage by the paper's definition; that all is there once, in order, within devices and memory."""
    owner = {node: at for at, stage in enumerate(stages) for node in stage.nodes}
    assert sorted(owner) == list(range(len(profile.node_names)))
    assert all(owner[producer] <= owner[consumer] for producer, consumer in profile.edges)
    devices, memory_bytes = planner.devices or profile.devices, planner.memory_bytes or profile.memory_bytes
    assert sum(stage.replicas * stage.tensor_parallel for stage in stages) <= devices
    ahead = sum(stage.replicas for stage in stages)
    seconds = []
    for stage in stages:
        ways = profile.ways[stage.tensor_parallel]
        way = {
            node: int(bool(ways.recomputes[node, 1]) and not ways.recomputes[node, 0] and node in stage.recomputed)
            for node in stage.nodes
        }
        seconds.append(seconds_of(profile, planner, stage, way))
        kept = math.ceil(ahead / stage.replicas)
        memory = sum(
            ways.bytes_per_micro_batch[node, number] * kept + ways.fixed_bytes[node, number]
            for node, number in way.items()
        )
        assert memory <= memory_bytes
        ahead -= stage.replicas
    return seconds


def seconds_of(profile: ParallelProfile, planner: Piper, stage: PiperStage, way: dict[int, int]) -> float:
    ways, copies = profile.ways[stage.tensor_parallel], stage.replicas
    rate, step = planner.bytes_per_s or profile.bytes_per_s, planner.micro_batches or profile.micro_batches
    compute = sum(ways.seconds[node, number] for node, number in way.items())
    crossing = 0.0
    for edge, (producer, consumer) in enumerate(profile.edges):
        if (producer in way) != (consumer in way):
            side, node = (0, consumer) if consumer in way else (1, producer)
            crossing += 2 * (profile.tensor_bytes[edge] + ways.edge_bytes[edge, side, way[node]])
    weights = sum(ways.weight_bytes[node] for node in way)
    exchange = planner.exchanges_per_weight * (copies - 1) / copies * weights / step
    return float((compute + crossing / rate) / copies + exchange / rate)


@st.composite
def profiles(draw: st.DrawFn) -> ParallelProfile:
    count = draw(st.integers(1, 3))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = sorted(draw(st.sets(st.sampled_from(pairs), max_size=3))) if pairs else []

    def numbers(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        size = math.prod(shape)
        values = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
        return np.array(values, dtype=np.float64).reshape(shape)

    def ways() -> Ways:
        seconds, kept = numbers(count, 2), numbers(count, 2)
        seconds[:, 1] += seconds[:, 0]
        kept[:, 0] += kept[:, 1]
        fixed = np.repeat(numbers(count, 1), 2, axis=1)
        recomputes = np.repeat([[False, True]], count, axis=0)
        edge_bytes = np.repeat(numbers(len(edges), 2, 1), 2, axis=2)
        return Ways(seconds, numbers(count), kept, fixed, edge_bytes, recomputes, np.ones(count, np.bool_))

    names = tuple(f"node{node}" for node in range(count))
    memory_bytes = float(draw(st.sampled_from([15, 40, 1000])))
    return ParallelProfile(
        "random", names, tuple(edges), numbers(len(edges)), {1: ways(), 2: ways()}, 4, memory_bytes, 2.0, 4
    )


def all_plans(profile: ParallelProfile) -> list[float]:
    """Seconds between micro-batches of every plan that fits."""
    planner, nodes, found = Piper(), range(len(profile.node_names)), []
    for count in range(1, len(nodes) + 1):
        for owner in itertools.product(range(count), repeat=len(nodes)):
            if set(owner) != set(range(count)) or any(owner[a] > owner[b] for a, b in profile.edges):
                continue
            for shape in itertools.product([(1, 1), (1, 2), (2, 1), (2, 2), (4, 1)], repeat=count):
                if sum(copies * degree for copies, degree in shape) > profile.devices:
                    continue
                for ways in itertools.product((0, 1), repeat=len(nodes)):
                    seconds = plan_s(profile, planner, owner, shape, ways)
                    if seconds is not None:
                        found.append(seconds)
    return found


def plan_s(
    profile: ParallelProfile,
    planner: Piper,
    owner: tuple[int, ...],
    shape: tuple[tuple[int, int], ...],
    ways: tuple[int, ...],
) -> float | None:
    slowest, ahead = 0.0, sum(copies for copies, _ in shape)
    for number, (copies, degree) in enumerate(shape):
        way = {node: ways[node] for node in range(len(owner)) if owner[node] == number}
        own, kept = profile.ways[degree], math.ceil(ahead / copies)
        memory = sum(own.bytes_per_micro_batch[n, w] * kept + own.fixed_bytes[n, w] for n, w in way.items())
        if memory > profile.memory_bytes:
            return None
        slowest = max(slowest, seconds_of(profile, planner, PiperStage(tuple(way), copies, degree, (), 0.0), way))
        ahead -= copies
    return slowest


@settings(max_examples=40, deadline=None)
@given(profiles())
def test_no_plan_is_faster_where_memory_is_enough_and_none_fits_where_it_finds_none(profile: ParallelProfile) -> None:
    plans = all_plans(profile)
    if not plans:
        with pytest.raises(UserError, match="does not fit"):
            Piper().stages(profile)
        return
    stages = Piper().stages(profile)
    slowest = max(check_stages(profile, Piper(), stages))
    assert slowest >= min(plans) * (1 - 1e-12)
    if profile.memory_bytes == 1000:  # what is computed again is chosen one after the other, not all together
        assert slowest == pytest.approx(min(plans))


def test_the_sentence_says_how_much_memory_would_do(bert: ParallelProfile) -> None:
    planner = piper_of(ROWS[0])
    with pytest.raises(UserError, match=r"^bert32a100 does not fit on 8 devices of 1\.07 GB each; the least ") as error:
        planner.stages(bert)
    least = float(str(error.value).split()[-2])
    assert replace(planner, memory_bytes=least * 1.01e9).stages(bert)
    with pytest.raises(UserError):
        replace(planner, memory_bytes=least * 0.99e9).stages(bert)


def test_counts_and_sizes_that_cannot_be() -> None:
    with pytest.raises(UserError, match=r"^planner\.devices must be a whole number of at least 1 \(got 0\)$"):
        Piper(devices=0)
    with pytest.raises(UserError, match=r"^planner\.memory_bytes must be a finite number above 0 \(got -1\)$"):
        Piper(memory_bytes=-1)


def test_a_plan_of_stages(bert: ParallelProfile) -> None:
    row = next(row for row in ROWS if (row["devices"], row["memory_GiB"]) == ("32", "2"))
    plan = piper_of(row).plan(bert)
    assert sum(stage.devices for stage in plan.stages) <= 32
    tensor_parallel = [stage for stage in plan.stages if stage.devices == 2 * stage.replicas]
    assert tensor_parallel
    assert all(stage.splits.shape == (1, len(stage.layers)) for stage in tensor_parallel)
    assert {"none", "full"} <= {stage.recompute for stage in plan.stages}
    assert plan.micro_batches == 480


def test_mistakes_in_a_file_are_one_sentence(tmp_path: Path) -> None:
    good = json.loads((DATA / "piper/bert32a100.json").read_text())
    file = tmp_path / "profile.json"

    def sentence_of(change: dict[str, Any]) -> str:
        file.write_text(json.dumps(good | change))
        with pytest.raises(UserError) as error:
            load_parallel_profile(str(file))
        return str(error.value)

    node, edge = good["nodes"][1], good["edges"][0]
    without_time = json.loads(json.dumps(node))
    del without_time["TMPCs"]["1"][0]["timePerSample"]
    others = [n for n in good["nodes"] if n is not node]
    assert "node 1, 1 devices, way 1 has no timePerSample" in sentence_of({"nodes": [without_time, *others]})
    three = json.loads(json.dumps(node))
    three["TMPCs"]["1"] *= 2
    assert "there are 4 ways on 1 devices, more than 2" in sentence_of({"nodes": [three, *others]})
    odd = json.loads(json.dumps(node))
    odd["TMPCs"]["many"] = []
    assert "TMPCs has the key 'many', which is no number of devices" in sentence_of({"nodes": [odd, *others]})
    assert "appears twice" in sentence_of({"nodes": [node, *good["nodes"]]})
    assert "there is no node with the id 99" in sentence_of({"edges": [edge | {"destId": 99}]})
    assert "the edge from 0 to" in sentence_of({"edges": [edge, edge]})
    assert "bandwidth must be above 0" in sentence_of({"bandwidth": 0})
    assert "has no nodes" in sentence_of({"nodes": []})
    assert "maxDevices must be a whole number of at least 1" in sentence_of({"maxDevices": 0})
