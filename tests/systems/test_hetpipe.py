"""HetPipe's clocks and partitions: limits, brute force, and workers that fit."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks import load
from hypar_exp.systems.hetpipe import HetPipe
from hypar_exp.systems.virtual_workers import Device, Links, Work, best_worker, clocks, memory_bytes
from tests.systems.settings import setting, workload

waves = st.lists(st.floats(0.5, 5.0), min_size=2, max_size=5)


@given(wave_s=waves, transfer_s=st.floats(0, 1))
def test_without_distance_every_clock_lasts_as_long_as_the_slowest(wave_s: list[float], transfer_s: float) -> None:
    ran = clocks(wave_s, 3, 0, transfer_s, count=50)
    assert ran.minibatches_per_s == pytest.approx(3 * len(wave_s) / (max(wave_s) + 2 * transfer_s))
    assert ran.most_missing_waves == 0


@given(wave_s=waves)
def test_unbounded_the_rates_add_up(wave_s: list[float]) -> None:
    assert clocks(wave_s, 2, None, 9.0).minibatches_per_s == pytest.approx(sum(2 / wave for wave in wave_s))


@given(wave_s=waves, distance=st.integers(0, 6), transfer_s=st.floats(0, 1))
def test_no_worker_misses_more_waves_than_the_distance(wave_s: list[float], distance: int, transfer_s: float) -> None:
    ran = clocks(wave_s, 1, distance, transfer_s, count=60)
    assert ran.most_missing_waves <= distance
    assert clocks(wave_s, 1, distance + 1, transfer_s, count=60).minibatches_per_s >= ran.minibatches_per_s * (1 - 1e-9)


@settings(max_examples=40)
@given(seed=st.integers(0, 999), layers=st.integers(3, 6), in_flight=st.integers(1, 4), memory=st.floats(20, 200))
def test_the_partition_has_the_least_bottleneck_of_all(seed: int, layers: int, in_flight: int, memory: float) -> None:
    draw = np.random.default_rng(seed)
    work = Work(*(draw.uniform(1, 10, size) for size in (layers, layers, layers, layers + 1)))
    devices = (Device("a", 1.0, memory), Device("b", 2.0, memory / 2), Device("b", 2.0, memory / 2))
    links = Links(5.0, 1.0)
    best = np.inf
    for order in itertools.permutations(devices):
        for cuts in itertools.combinations(range(1, layers), 2):
            stages = []
            for at, (start, end) in enumerate(itertools.pairwise((0, *cuts, layers))):
                if memory_bytes(work, np.array([start]), end, in_flight, at)[0] > order[at].memory_bytes:
                    break
                received = 2 * work.cut_bytes[start] / links.rate(order[at - 1], order[at]) if at else 0.0
                stages.append(work.operations[start:end].sum() / order[at].operations_per_s + received)
            else:
                best = min(best, max(stages))
    found = best_worker(work, devices, links, in_flight=in_flight)
    if found is None:
        assert best == np.inf
    else:
        assert max(found.stage_s) >= best - 1e-9
        if in_flight >= 3:
            assert max(found.stage_s) == pytest.approx(best)


def test_memory_by_position_by_hand() -> None:
    """Two layers of 3 and 5 bytes of weights, 7 and 11 of inputs; three in flight."""
    work = Work(np.ones(2), np.array([3.0, 5.0]), np.array([7.0, 11.0]), np.zeros(3))
    assert memory_bytes(work, np.array([0]), 2, 3, 0)[0] == 4 * 8 + 3 * 18
    assert memory_bytes(work, np.array([1]), 2, 3, 2)[0] == 2 * 5 + 11


def test_a_tensor_that_several_layers_read_crosses_a_cut_once() -> None:
    work = Work.of(load("resnet18"), 1, 4)
    names = load("resnet18").layer_names
    behind = names.index("conv2_1b")  # conv1's output goes to conv2_1a and is added behind conv2_1b
    assert work.cut_bytes[behind] == 4 * (64 * 56 * 56 + 64 * 56 * 56)
    assert work.cut_bytes[0] == work.cut_bytes[-1] == 0


def test_allocations_of_the_preset() -> None:
    made = workload("hetpipe")
    assert isinstance(made, HetPipe)
    kinds = {
        name: [[device.kind for device in worker] for worker in made.workers_of(name)] for name in ("np", "ed", "hd")
    }
    assert kinds["np"][0] == ["titan_rtx"] * 4
    assert kinds["ed"] == [["titan_rtx", "titan_v", "rtx_2060", "quadro_p4000"]] * 4
    assert kinds["hd"][0] == ["titan_rtx"] * 2 + ["quadro_p4000"] * 2
    for workers in kinds.values():
        assert sorted(itertools.chain(*workers)) == sorted([name for name in made.kinds for _ in range(4)])


def test_even_workers_wait_less_than_uneven_ones() -> None:
    made = workload("hetpipe")
    assert isinstance(made, HetPipe)
    found = made.run(setting(network="vgg_e"))
    for distance in ("D_0", "D_4", "D_32"):
        assert found.metrics[f"waiting/ed/{distance}"] < 0.2 < found.metrics[f"waiting/np/{distance}"]
    assert any("published, other hardware" in words for words in found.words)


def test_bad_values() -> None:
    made = workload("hetpipe")
    assert isinstance(made, HetPipe)
    with pytest.raises(UserError, match=r"workload\.kinds\.slow\.memory_bytes must be a number above 0 \(got None\)"):
        replace(made, kinds={"slow": {"operations_per_s": 1.0}})
    with pytest.raises(UserError, match="hd needs an even number of kinds"):
        replace(made, kinds={"one": {"operations_per_s": 1.0, "memory_bytes": 1.0}}).workers_of("hd")
    with pytest.raises(UserError, match=r"workload\.allocations must be of np, ed, hd \(got 'all'\)"):
        replace(made, allocations=["all"])
