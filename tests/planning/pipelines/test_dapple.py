"""DAPPLE's planner: the lengths that its program gives its plans, plans at least as good by its own measure, and the
comparison with PipeDream's plans that its authors published.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import PROFILES, Profile
from hypar_exp.planning.pipelines.cuts import Cuts
from hypar_exp.planning.pipelines.dapple import Dapple
from hypar_exp.planning.pipelines.links import ClusterLinks, Devices, placements
from hypar_exp.planning.pipelines.problem import Cluster, PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import ProfileCosts, Ranges
from hypar_exp.planning.pipelines.synchronous import exact_length, pivot_latency
from tests.planning.pipelines.profiles import random_profile, without_inputs

DATA = Path(__file__).parents[2] / "data"


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DATA / f"pipelines/{name}.csv").read_text().splitlines()))


PLANNED, CANDIDATES, VS_PIPEDREAM = map(
    rows, ("oracle_dapple_planner", "oracle_dapple_candidates", "oracle_dapple_vs_pipedream")
)
FILES = {"vgg19": "vgg19", "amoebanet36": "amoebanet_36", "amoebanet18": "amoebanet_18", "VGG-19": "vgg19"}
FILES["BERT Large"] = "bert_large"
PROFILED = {"vgg19": 32, "amoebanet36": 1, "amoebanet18": 8, "VGG-19": 32, "BERT Large": 2}


@dataclass(frozen=True)
class ProgramLinks(ClusterLinks):
    """An all-reduce inside a machine runs over as many rings as there are pairs."""

    def all_reduce_s(self, devices: Devices, nbytes: NDArray[np.float64]) -> NDArray[np.float64]:
        rings = 1 if np.count_nonzero(devices) > 1 else max(1, int(devices.sum()) // 2)
        return super().all_reduce_s(devices, nbytes) / rings


@dataclass(frozen=True, eq=False)
class ProgramCosts(ProfileCosts):
    """The weights of the first layer of the next stage are exchanged as well."""

    def weight_bytes(self) -> Ranges:
        weights = super().weight_bytes()
        return np.concatenate([weights[:, 1:], weights[:, -1:]], axis=1)


@cache
def costs_of(model: str) -> ProgramCosts:
    """Cut only where the program does: before each node that its first source leads to, with all that it reads."""
    profile = without_inputs(PROFILES / f"{FILES[model]}.graph.txt", PROFILED[model])
    units = len(profile.node_names)
    needed = np.eye(units, dtype=np.bool_)
    for producer, consumer in sorted(profile.edges, key=lambda edge: edge[1]):
        needed[consumer] |= needed[producer]
    first = profile.descriptions.index("attention_mask") if "attention_mask" in profile.descriptions else 0
    inside = np.concatenate([np.zeros((1, units), np.bool_), needed[needed[:, first]]])
    return ProgramCosts(profile, Cuts(inside[np.argsort(inside.sum(axis=1))]))


@dataclass
class Program:
    """The program's measures of a plan, for one model, batch and cluster."""

    model: str
    batch: int
    micro_batch: int
    cluster: Cluster

    def __post_init__(self) -> None:
        self.costs = costs_of(self.model)
        self.total_s = self.compute_s(0, len(self.costs.cuts) - 2)

    def compute_s(self, first: int, last: int) -> float:
        """Seconds of the whole batch, of states `first` to `last`."""
        batch = self.batch
        return float((self.costs.forward_s(batch) + self.costs.backward_s(batch))[first, last + 1])

    def latency(
        self,
        forward_s: NDArray[np.float64],
        backward_s: NDArray[np.float64],
        all_reduce_s: NDArray[np.float64],
        micro_batches: int,
    ) -> NDArray[np.float64]:
        """The slowest stage, or link forward and back for all copies (in plans of two stages forward only), in every
        round, all compute of a micro-batch, all links, and the all-reduce that is late.
        """
        stage_s, link_s = (forward_s + backward_s)[..., ::2], forward_s[..., 1::2]
        copies = self.batch // self.micro_batch // micro_batches
        stages = (np.cumsum(stage_s, axis=-1) > 0).cumsum(axis=-1)
        once = (copies == 1) & (stages[..., -1] == 2)
        slowest_link = link_s.max(axis=-1, initial=0) * np.where(once, 1, 2 * copies)
        block = np.maximum(stage_s.max(axis=-1), slowest_link)
        length = block * (micro_batches - 1) + self.total_s / copies / micro_batches + link_s.sum(axis=-1)
        late = all_reduce_s[..., ::2] - np.maximum(stages - 1, 0) * block[..., None]
        return np.asarray(length + np.maximum(late.max(axis=-1), 0))

    def parts(self, plan: str, copies: int, *, whole: bool) -> tuple[list[float], list[float], list[float]]:
        """Stages and links of a printed plan: compute (where `whole`, with a boundary layer in both stages), transfer,
        all-reduce.
        """
        micro_batches = self.batch // copies // self.micro_batch
        links = ProgramLinks(self.cluster)
        found = re.findall(r"(\d+)-(\d+)x(\d+)@\[([\d ]+)\]", plan)
        stages = [(int(first), int(last), int(count), self.devices(ids)) for first, last, count, ids in found]
        compute, transfer, all_reduce = [], [], []
        crossing = self.costs.cut_bytes(self.batch / copies / micro_batches)
        for at, (first, last, count, devices) in enumerate(stages):
            inner = last if whole or at == len(stages) - 1 else last - 1
            compute.append(self.compute_s(first, inner) / count / copies / micro_batches)
            weights = ProfileCosts.weight_bytes(self.costs)[first, last + 1]
            all_reduce.append(float(links.all_reduce_s(devices, np.array(weights))))
            if at < len(stages) - 1:
                transfer.append(float(links.transfer_s(devices, stages[at + 1][3], crossing[last])))
        return compute, transfer, all_reduce

    def devices(self, ids: str) -> Devices:
        machine = np.array([int(number) for number in ids.split()]) // self.cluster.devices_per_machine
        return np.bincount(machine, minlength=self.cluster.machines)

    def speedup(self, plan: str, copies: int) -> float:
        compute, transfer, all_reduce = self.parts(plan, copies, whole=False)
        forward = np.zeros(2 * len(compute) - 1)
        backward, exchange = forward.copy(), forward.copy()
        forward[::2], forward[1::2], exchange[::2] = compute, transfer, all_reduce
        length = self.latency(forward, backward, exchange, self.batch // copies // self.micro_batch)
        return self.total_s / float(length)

    def exact_speedup(self, plan: str, copies: int) -> float:
        """By the exact length, half of the compute forward, links carrying what all copies of a pipeline send."""
        compute, transfer, all_reduce = self.parts(plan, copies, whole=True)
        times = [0.0] * (2 * len(compute) - 1)
        exchange = times.copy()
        times[::2] = [seconds / 2 for seconds in compute]
        times[1::2], exchange[::2] = [seconds * copies for seconds in transfer], all_reduce
        return self.total_s / exact_length(times, times, exchange, self.batch // copies // self.micro_batch)


def program_of(row: dict[str, str]) -> Program:
    planned = next(p for p in PLANNED if (p["model"], p["config"]) == (row["model"], row["config"]))
    machines = (2, 8) if row["config"] == "A" else (16, 1)
    rates = [float(planned[f"{name}_GBps"]) * 1e9 for name in ("nvlink", "ethernet_p2p", "nvlink", "ethernet_nccl")]
    return Program(row["model"], int(row["global_batch"]), int(planned["micro_batch"]), Cluster(*machines, *rates))


def test_the_program_s_latency_of_all_its_candidates() -> None:
    for row in CANDIDATES:
        program = program_of(row)
        if int(row["global_batch"]) // int(row["outer_replication"]) // program.micro_batch == 0:
            assert float(row["speedup_analytical"]) == 0
            continue
        speedup = program.speedup(row["plan"], int(row["outer_replication"]))
        assert speedup == pytest.approx(float(row["speedup_analytical"]), rel=1e-9), row


def test_the_exact_length_of_all_its_candidates() -> None:
    for row in CANDIDATES:
        if float(row["speedup_recursive"]):
            speedup = program_of(row).exact_speedup(row["plan"], int(row["outer_replication"]))
            assert speedup == pytest.approx(float(row["speedup_recursive"]), rel=1e-9), row


@pytest.mark.parametrize(
    "row", PLANNED, ids=lambda row: "-".join(row[key] for key in ("model", "global_batch", "config"))
)
def test_plans_are_the_program_s_or_better_by_its_own_latency(row: dict[str, str]) -> None:
    program = program_of(row)
    problem = PipelineProblem(program.costs, program.cluster, program.batch, program.batch // program.micro_batch)
    best = Dapple(latency=program.latency, links=ProgramLinks).search(problem)[0]
    assert program.total_s / best.latency_s >= float(row["best_speedup_analytical"]) * (1 - 1e-9)


@pytest.mark.parametrize("row", VS_PIPEDREAM, ids=lambda row: f"{row['model']}-{row['planner']}")
def test_dapple_against_pipedream_as_published(row: dict[str, str]) -> None:
    cluster = Cluster(2, 8, 25e9, 1e9, 25e9, 3e9)
    program = Program(row["model"], int(row["global_batch"]), int(row["micro_batch"]), cluster)
    speedup = program.exact_speedup(row["plan"], 1)
    assert speedup == pytest.approx(float(row["speedup_over_1_gpu"]), rel=1e-9)


def test_vgg_19_is_3_23_times_as_fast_as_pipedream_s_plan() -> None:
    dapple, pipedream = (float(row["speedup_over_1_gpu"]) for row in VS_PIPEDREAM[:2])
    assert dapple / pipedream == pytest.approx(3.2347, abs=5e-5)


@pytest.mark.parametrize("model", ["vgg19", "amoebanet36", "amoebanet18"])
@pytest.mark.parametrize("machines", [(2, 8), (16, 1)])
def test_the_exact_score_takes_the_shortest_of_the_best_by_the_pivot(model: str, machines: tuple[int, int]) -> None:
    costs = ProfileCosts.of(without_inputs(PROFILES / f"{FILES[model]}.graph.txt", PROFILED[model]))
    problem = PipelineProblem(costs, Cluster(*machines, 25e9, 1e9, 25e9, 3e9), 32 * PROFILED[model], 32)
    plans = Dapple().search(problem)
    shortest = min(plans[:32], key=lambda plan: plan.exact_length_s())
    assert shortest.latency_s <= shortest.exact_length_s() * (1 + 1e-12)
    plan = Dapple("exact").plan(problem)
    assert [stage.devices * plan.replicas for stage in plan.stages] == [sum(s.devices) for s in shortest.stages]
    assert sum(stage.devices for stage in plan.stages) * plan.replicas == 16
    assert [unit for stage in plan.stages for unit in stage.layers] == list(range(len(costs.profile.node_names)))


@given(st.composite(lambda draw: random_profile(draw, chain=True))())
def test_all_plans_of_two_stages_are_looked_at(profile: Profile) -> None:
    profile = replace(profile, forward_s=profile.forward_s + 1)
    problem = PipelineProblem(ProfileCosts.of(profile), Cluster(2, 2, 8.0, 3.0), 8, 4)
    best = Dapple().search(problem)[0].latency_s
    costs, links = problem.costs, ClusterLinks(problem.cluster)
    full = np.array([2, 2])
    for cut in range(1, len(profile.node_names)):
        for count in (1, 2, 3):
            for first in placements(full, 2, count):
                rest = full - first
                link_s = float(links.transfer_s(first, rest, costs.cut_bytes(2.0)[cut]))
                forward_s = [costs.forward_s(2.0)[0, cut] / count, link_s, costs.forward_s(2.0)[cut, -1] / (4 - count)]
                backward_s = [
                    costs.backward_s(2.0)[0, cut] / count,
                    link_s,
                    costs.backward_s(2.0)[cut, -1] / (4 - count),
                ]
                exchange_s = [
                    float(links.all_reduce_s(first, costs.weight_bytes()[0, cut])),
                    0.0,
                    float(links.all_reduce_s(rest, costs.weight_bytes()[cut, -1])),
                ]
                latency = pivot_latency(np.array(forward_s), np.array(backward_s), np.array(exchange_s), 4)
                assert best <= float(latency) * (1 + 1e-12)


TIMES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7)


@given(TIMES, st.integers(1, 12))
def test_the_pivot_s_latency_is_a_lower_bound(times: list[tuple[int, int]], micro_batches: int) -> None:
    forward_s, backward_s = (np.array(column, dtype=np.float64) for column in zip(*times, strict=True))
    nothing = np.zeros(len(times))
    latency = float(pivot_latency(forward_s, backward_s, nothing, micro_batches))
    exact = exact_length(forward_s.tolist(), backward_s.tolist(), nothing.tolist(), micro_batches)
    assert latency <= exact + 1e-9
    if len(times) == 1:
        assert latency == exact == micro_batches * sum(times[0])


def test_exact_lengths_are_the_program_s() -> None:
    def numbers(text: str, of: Callable[[str], float] = float) -> list[float]:
        return [of(part) for part in text.split()]

    for row in csv.DictReader((DATA / "pipelines" / "oracle_dapple_length.csv").read_text().splitlines()):
        length = exact_length(
            numbers(row["forward_s"]),
            numbers(row["backward_s"]),
            numbers(row["allreduce_s"]),
            int(row["micro_batches"]),
            [int(part) for part in row["warmup_K"].split()],
        )
        assert length == pytest.approx(float(row["pipeline_length_s"]), rel=1e-12)


def test_placements_fresh_append_and_scatter_first() -> None:
    assert [chosen.tolist() for chosen in placements(np.array([2, 4, 4]), 4, 3)] == [[0, 3, 0], [2, 1, 0], [1, 1, 1]]
    assert [chosen.tolist() for chosen in placements(np.array([1, 0]), 4, 1)] == [[1, 0]]


def test_a_score_that_is_none() -> None:
    problem = PipelineProblem(costs_of("vgg19"), Cluster(1, 2), 64, 2)
    with pytest.raises(UserError, match=r"^planner\.score must be pivot or exact \(got 'best'\)$"):
        Dapple("best").plan(problem)  # type: ignore[arg-type]
