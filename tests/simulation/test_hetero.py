"""Arrays of two kinds of accelerators, against a tree of groups that is cut by hand down to every accelerator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import Fixed, HyPar, Optimal, PlanningProblem
from hypar_exp.simulation import Accounting, CostModel, Hardware, Hetero, HTree, PlanCosts, Time, kinds_of, simulate

FAST = Hardware("fast", 168, 500e6, 0.8, 1600e6, 320e9, 8e9, 4, 0.9e-12, 3.7e-12, 5e-12, 640e-12)
LABELS = ("dp", "mp", "op")
ACCOUNTING = Accounting(
    "three",
    {"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}, "op": {"input_error": 2}},
    {
        "dp": {"mp": {"feature": 0.5, "error": 0.5}, "op": {"feature": 1}},
        "mp": {"mp": {"error": 1}, "dp": {"error": 1}},
        "op": {"dp": {"feature": 0.5, "error": 0.5}, "op": {"feature": 1}},
    },
)
BATCH = 32


@dataclass
class Group:
    """Accelerators that work together: what part of each layer's batch, input and output channels they have."""

    hardware: list[Hardware]
    parts: list[tuple[float, float, float]]

    def speed(self) -> float:
        return sum(one.processing_elements * one.operations_per_s_per_pe * one.utilisation for one in self.hardware)

    def halves(self, choices: list[int]) -> tuple[Group, Group]:
        middle = len(self.hardware) // 2
        sides = self.hardware[:middle], self.hardware[middle:]
        speeds = [Group(side, []).speed() for side in sides]
        pair = []
        for side, speed in zip(sides, speeds, strict=True):
            parts = [list(part) for part in self.parts]
            for part, choice in zip(parts, choices, strict=True):
                part[choice] *= speed / sum(speeds)
            pair.append(Group(side, [(part[0], part[1], part[2]) for part in parts]))
        return pair[0], pair[1]

    def sizes(self, network: Network, at: int) -> tuple[float, float, float]:
        """Elements of a layer's weights, input and output."""
        layer, (batch, channels_in, channels_out) = network.layers[at], self.parts[at]
        return (
            layer.weights * channels_in * channels_out,
            BATCH * layer.input.elements * batch * channels_in,
            BATCH * layer.output.elements * batch * channels_out,
        )

    def exchanged(self, network: Network, choices: list[int]) -> float:
        """Elements that the two halves of the group exchange."""
        mine, other = self.halves(choices)
        total = 0.0
        for at, choice in enumerate(choices):
            weights, inputs, outputs = self.sizes(network, at)
            total += {0: 2 * weights, 1: 2 * outputs, 2: 2 * inputs}[choice]
        for edge in network.edges:
            pair = LABELS[choices[edge.producer]], LABELS[choices[edge.consumer]]
            inputs = self.sizes(network, edge.consumer)[1]
            share = mine.speed() / (mine.speed() + other.speed())
            if pair in (("dp", "mp"), ("op", "dp")):
                lacking = 2 * share * (1 - share)  # each half holds a share of its own share
                total += 2 * lacking * inputs  # of the feature and of the error
            else:
                row = ACCOUNTING.between_layers.get(pair[0], {}).get(pair[1], {})
                total += sum(row.values()) * inputs
        return total


@st.composite
def arrays(draw: st.DrawFn) -> tuple[Hetero, Hardware]:
    levels = draw(st.integers(1, 4))
    second: dict[str, Any] = {
        "processing_elements": draw(st.sampled_from([42, 84, 168, 500])),
        "link_bandwidth_bits_per_s": draw(st.sampled_from([400e6, 1600e6, 3200e6])),
        "dram_bandwidth_bytes_per_s": draw(st.sampled_from([1e6, 160e9])),
        "dram_energy_j_per_element": draw(st.sampled_from([320e-12, 640e-12])),
    }
    return Hetero("hetero", levels, draw(st.integers(1, levels)), second), replace(FAST, **second)


@st.composite
def chains(draw: st.DrawFn) -> Network:
    sizes = draw(st.lists(st.integers(1, 300), min_size=2, max_size=4))
    return networks.build("random", sizes[:1], {f"fc{at}": {"fc": size} for at, size in enumerate(sizes[1:])})


@settings(max_examples=60)
@given(arrays(), chains(), st.data())
def test_a_step_is_that_of_the_tree_of_groups(
    drawn: tuple[Hetero, Hardware], network: Network, data: st.DataObject
) -> None:
    array, slow = drawn
    layers = len(network.layers)
    row = st.lists(st.integers(0, 2), min_size=layers, max_size=layers)
    plan = data.draw(st.lists(row, min_size=array.levels, max_size=array.levels))
    below = 2 ** (array.levels - array.mixed_level)
    groups = [Group(([FAST] * below + [slow] * below) * 2 ** (array.mixed_level - 1), [(1.0, 1.0, 1.0)] * layers)]
    exchanged_bytes, exchange_s = [], []
    for choices in plan:
        sent = [4 * group.exchanged(network, choices) for group in groups]
        rates = [min(one.link_bandwidth_bits_per_s for one in group.hardware) for group in groups]
        exchanged_bytes.append(sum(sent))
        exchange_s.append(sum(8 * amount / rate for amount, rate in zip(sent, rates, strict=True)))
        groups = [half for group in groups for half in group.halves(choices)]

    report = simulate(network, np.array(plan, dtype=np.uint8), array, FAST, ACCOUNTING, BATCH)
    assert report.communication_bytes_by_level == pytest.approx(exchanged_bytes)
    assert report.communication_time_s_by_level == pytest.approx(exchange_s)
    for at, layer in enumerate(network.layers):
        touched = [3 * sum(group.sizes(network, at)) for group in groups]
        macs = [3 * BATCH * layer.weights * np.prod(group.parts[at]) for group in groups]
        times = [
            max(
                2 * mac / (one.processing_elements * 500e6 * 0.8),
                4 * elements / one.dram_bandwidth_bytes_per_s,
            )
            for mac, elements, group in zip(macs, touched, groups, strict=True)
            for one in group.hardware
        ]
        assert report.compute_time_s_by_layer[at] == pytest.approx(max(times))
        assert sum(macs) == pytest.approx(3 * BATCH * layer.weights)
        joules = [
            elements * one.dram_energy_j_per_element
            for elements, group in zip(touched, groups, strict=True)
            for one in group.hardware
        ]
        assert report.energy.dram_j[at] == pytest.approx(sum(joules))
    costs = PlanCosts(CostModel(network, array, FAST, ACCOUNTING, BATCH)).of(np.array([plan], dtype=np.uint8))
    assert costs.step_time_s == pytest.approx([report.step_time_s])
    assert costs.communication_bytes == pytest.approx([report.communication_bytes])


@pytest.mark.parametrize("mixed_level", [1, 2, 4])
def test_two_kinds_that_are_alike_are_an_h_tree(mixed_level: int) -> None:
    network = networks.load("alexnet")
    for strategy in (Fixed("dp", "dp"), HyPar(), HyPar("accpar", LABELS)):
        reports = []
        for array in (HTree(), Hetero("hetero", 4, mixed_level)):
            problem = problem_of(network, array)
            reports.append(simulate(network, strategy.plan(problem), array, FAST, ACCOUNTING))
        even, mixed = reports
        assert mixed.step_time_s == pytest.approx(even.step_time_s, rel=1e-14)
        assert mixed.step_energy_j == pytest.approx(even.step_energy_j, rel=1e-14)
        assert mixed.memory.total_bytes == even.memory.total_bytes


HALF_SPEED = Hetero("hetero", 4, 1, {"processing_elements": 84, "dram_capacity_bytes": 1e9})


def problem_of(network: Network, array: HTree | Hetero) -> PlanningProblem:
    groups = tuple(kind.group for kind in kinds_of(array, FAST))
    return PlanningProblem(network, 256, array.levels, ACCOUNTING.communication, kinds=groups)


def test_shares_follow_the_speed_so_that_both_kinds_compute_as_long() -> None:
    fast, slow = kinds_of(HALF_SPEED, FAST)
    assert fast.group.shares == pytest.approx((2 / 3, 0.5, 0.5, 0.5))
    assert slow.group.shares == pytest.approx((1 / 3, 0.5, 0.5, 0.5))
    network = networks.load("lenet_c")
    plan = HyPar().plan(problem_of(network, HALF_SPEED))
    mixed, even = (simulate(network, plan, array, FAST, ACCOUNTING) for array in (HALF_SPEED, HTree()))
    assert mixed.compute_time_s == pytest.approx(
        even.compute_time_s * 4 / 3
    )  # of 16 accelerators 8 have half the speed


def test_the_kind_with_the_least_memory_to_spare_decides() -> None:
    network = networks.load("vgg_e")
    plan = np.zeros((4, 19), dtype=np.uint8)
    roomy = replace(HALF_SPEED, second={"processing_elements": 84})
    for array, fits in ((HALF_SPEED, False), (roomy, True)):
        assert simulate(network, plan, array, FAST, ACCOUNTING).fits_in_memory is fits


@settings(max_examples=20)
@given(chains(), st.sampled_from([1, 2, 3]))
def test_the_optimum_is_the_least_of_all_plans(network: Network, mixed_level: int) -> None:
    array = Hetero("hetero", 3, mixed_level, {"processing_elements": 30})
    network = replace(network, layers=network.layers[:2], edges=network.edges[:1])
    problem = problem_of(network, array)
    optimal = Optimal().plan(problem)
    cells = 3 * len(network.layers)
    every = (np.arange(2**cells)[:, None] >> np.arange(cells) & 1).astype(np.uint8).reshape(-1, 3, len(network.layers))
    least, hypar = problem.cost_of(every).min(), problem.cost_of(HyPar().plan(problem).choices[None])[0]
    assert problem.cost_of(optimal.choices[None])[0] == pytest.approx(least)
    assert hypar >= least * (1 - 1e-12)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"levels": 0}, r"array.levels must be a whole number from 1 to 16 \(got 0\)"),
        ({"mixed_level": 5}, r"array.mixed_level must be a whole number from 1 to 4 \(got 5\)"),
        (
            {"second": {"processing_element": 2}},
            r"array.second has no key 'processing_element'; did you mean processing_",
        ),
        ({"second": {"element_bytes": 2}}, r"array.second has no key 'element_bytes'"),
    ],
)
def test_what_is_no_hetero_array(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Hetero(**fields)  # type: ignore[arg-type]


def test_values_that_hardware_cannot_have() -> None:
    with pytest.raises(UserError, match=r"^array.second: processing_elements must be a whole number"):
        kinds_of(Hetero(second={"processing_elements": 0}), FAST)


def test_objectives_that_need_one_kind() -> None:
    with pytest.raises(UserError, match="objective=time is a sum over accelerators of one kind"):
        Time().costs(CostModel(networks.load("sfc"), HALF_SPEED, FAST, ACCOUNTING))
