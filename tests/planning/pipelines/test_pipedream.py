"""PipeDream's planner: its program's plans under the program's rules, and the least of all plans under ours."""

import csv
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import Profile, load_profile
from hypar_exp.planning.pipelines.pipedream import Level, PipeDream, best_pipelines, linked, replicated
from hypar_exp.planning.pipelines.problem import Cluster, PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import ProfileCosts
from tests.planning.pipelines.profiles import random_profile, without_inputs

DATA = Path(__file__).parents[2] / "data"
ROWS = list(csv.DictReader((DATA / "pipelines/oracle_pipedream_optimizer.csv").read_text().splitlines()))


@dataclass
class Program:
    """A row of the program's output, and its rules: activations count only where they are told to, the mini-batches
    that a stage keeps leave out its own, all parts are used, and the first stage of a machine's pipelines exchanges its
    gradients faster by the accelerators of the level below.
    """

    row: dict[str, str]

    def __post_init__(self) -> None:
        self.costs = ProfileCosts.of(without_inputs(DATA / f"pipedream/{self.row['model']}.graph.txt"))
        batch = self.costs.profile.batch_size
        self.seconds = self.costs.forward_s(batch) + self.costs.backward_s(batch)
        self.weights = self.costs.weight_bytes()
        outputs = self.costs.cut_bytes(batch)
        self.outputs = outputs if self.row["activation_communication"] == "yes" else 0 * outputs
        self.kept = self.weights + self.costs.activation_bytes(batch)
        self.memory = float(self.row["memory_constraint_bytes"] or "inf")
        self.parts = [int(number) for number in self.row["machines_per_level"].split()]
        self.rates = [float(rate) for rate in self.row["bandwidth_Bps_per_level"].split()]

    def levels(self) -> list[Level]:
        levels: list[Level] = []
        seconds, below = self.seconds, 1
        for number, (parts, rate) in enumerate(zip(self.parts, self.rates, strict=True), 1):
            exchange_s = 4 * self.weights / rate
            whole = replicated(seconds, exchange_s / below, parts)
            last = linked(replicated(seconds, exchange_s, parts), 2 * self.outputs / rate)
            straight = self.row["straight"] == "True"
            final = number == len(self.parts)
            tables = (self._fitting(times) for times in (whole, last))
            levels.append(best_pipelines(parts, *tables, replicate=not straight, all_starts=not final))
            seconds, below = levels[-1].slowest[-1], parts
        return levels

    def _fitting(self, times: NDArray[np.float64]) -> Callable[[int, int], NDArray[np.float64]]:
        def seconds(behind: int, copies: int) -> NDArray[np.float64]:
            fits = self.kept <= self.memory / max(-(-behind // copies), 1e-300)
            return np.where(fits, times[copies - 1], np.inf)

        return seconds

    def stages(self) -> list[tuple[int, int, float, int]]:
        """(first, end, seconds, replicas) of the last level that the row prints, H1."""
        text = self.row["stages_top_level_first (first-last_exclusive:time_s xreplicas)"].split("Level 1 ")[1]
        found = re.findall(r"(\d+)-(\d+):(\S+) x(\d+)", text)
        return [(int(first), int(end), float(seconds), int(copies)) for first, end, seconds, copies in found]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(list(row.values())[2:7]).replace(" ", "x"))
def test_throughput_is_the_programs(row: dict[str, str]) -> None:
    program = Program(row)
    final = program.levels()[-1]
    assert final.slowest[-1, 0, -1] == pytest.approx(float(row["time_per_stage_s"]), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["model"] != "resnet18"],  # whose cuts it counts in an order that it does not print
    ids=lambda row: "-".join(list(row.values())[2:7]).replace(" ", "x"),
)
def test_the_programs_stages_take_as_long_here(row: dict[str, str]) -> None:
    program = Program(row)
    for first, end, seconds, _ in program.stages():
        assert program.seconds[first, end] == pytest.approx(seconds, abs=1.1e-6)


def test_stages_are_the_programs_where_only_one_plan_is_best() -> None:
    row = next(row for row in ROWS if row["machines_per_level"] == "4" and row["model"] == "vgg16")
    assert Program(row).levels()[0].stages(0, 40, 4) == [(0, 15, 3), (15, 40, 1)]


@st.composite
def problems(draw: st.DrawFn) -> PipelineProblem:
    profile = random_profile(draw, chain=True)
    machines, devices = draw(st.sampled_from([(1, 4), (4, 1), (1, 3)]))
    memory_bytes = draw(st.sampled_from([30.0, 80.0, float("inf")]))
    cluster = Cluster(machines, devices, inside_bytes_per_s=8.0, across_bytes_per_s=3.0, memory_bytes=memory_bytes)
    return PipelineProblem(ProfileCosts.of(profile), cluster, batch_size=8, micro_batches=2)


def slowest_of(problem: PipelineProblem, ends: tuple[int, ...], replicas: tuple[int, ...]) -> float:
    """Seconds of the slowest stage or link, from the formula in the paper."""
    profile = problem.costs.profile  # type: ignore[attr-defined]
    share = problem.samples / profile.batch_size
    rate = problem.cluster.point_to_point_bytes_per_s(across=problem.cluster.machines > 1)
    slowest, behind = 0.0, sum(replicas)
    for first, end, copies in zip(ends[:-1], ends[1:], replicas, strict=True):
        units = slice(first, end)
        compute = share * float((profile.forward_s + profile.backward_s)[units].sum())
        exchange = 2 * (copies - 1) / copies * float(profile.weight_bytes[units].sum()) / rate
        links = [2 * share * float(profile.output_bytes[end - 1]) / rate / copies] if end < ends[-1] else []
        links += [2 * share * float(profile.output_bytes[first - 1]) / rate / copies] if first else []
        slowest = max(slowest, (compute + exchange) / copies, *links)
        behind -= copies
        kept = float(profile.weight_bytes[units].sum() + share * profile.output_bytes[units].sum())
        if kept * (-(-behind // copies) + 1) > problem.cluster.memory_bytes:
            return np.inf
    return slowest


@given(problems())
def test_no_plan_is_faster(problem: PipelineProblem) -> None:
    units = len(problem.costs.profile.node_names)  # type: ignore[attr-defined]
    devices = problem.cluster.devices
    least = min(
        slowest_of(problem, (0, *inner, units), replicas)
        for stages in range(1, min(units, devices) + 1)
        for inner in itertools.combinations(range(1, units), stages - 1)
        for replicas in itertools.product(range(1, devices + 1), repeat=stages)
        if sum(replicas) <= devices
    )
    if least == np.inf:
        with pytest.raises(UserError, match=r"^no pipeline fits in array\.memory_bytes of"):
            PipeDream().plan(problem)
        return
    plan = PipeDream().plan(problem)
    ends = (*(stage.layers[0] for stage in plan.stages), units)
    assert slowest_of(problem, ends, tuple(stage.replicas for stage in plan.stages)) == pytest.approx(least)


def test_machines_add_versions_to_those_of_the_accelerators_inside() -> None:
    """Four nodes of 10 bytes on two machines of two: the first of four stages has 4 versions, of three 3."""
    ones = np.ones(4)
    names = ("a", "b", "c", "d")
    profile = Profile("four", names, names, 1, ones, ones, 0 * ones, 10 * ones, ((0, 1), (1, 2), (2, 3)))
    for memory_bytes, slowest in ((40.0, 2.0), (39.0, 4.0), (29.0, np.inf)):
        cluster = Cluster(2, 2, 1e9, 1e9, memory_bytes=memory_bytes)
        found, _ = PipeDream(replicate=False).search(
            PipelineProblem(ProfileCosts.of(profile), cluster, 1), memory_bytes
        )
        assert found == slowest, memory_bytes


def test_two_levels_use_each_machine_for_a_pipeline_of_its_own() -> None:
    profile = load_profile(str(DATA / "pipedream/vgg16.graph.txt"))
    cluster = Cluster(4, 4, inside_bytes_per_s=1e10, across_bytes_per_s=1e9)
    problem = PipelineProblem(ProfileCosts.of(profile), cluster, profile.batch_size)
    plan = PipeDream().plan(problem)
    assert sorted(unit for stage in plan.stages for unit in stage.layers) == list(range(41))
    assert sum(stage.devices for stage in plan.stages) <= 16


def test_the_sentence_says_how_much_memory_would_do() -> None:
    profile = load_profile(str(DATA / "pipedream/alexnet.graph.txt"))
    problem = PipelineProblem(ProfileCosts.of(profile), Cluster(4, 1, memory_bytes=100e6), profile.batch_size)
    with pytest.raises(UserError, match=r"^no pipeline fits in array\.memory_bytes of 100 MB; .* is [\d.]+ [GM]B$"):
        PipeDream().plan(problem)
    slowest, _ = PipeDream().search(problem, 100e6)
    assert slowest == np.inf
    sufficient = replace(problem, cluster=replace(problem.cluster, memory_bytes=20e9))
    assert PipeDream().plan(sufficient).stages
