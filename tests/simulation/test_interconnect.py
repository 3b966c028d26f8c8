"""Links: the shared one of the paper, a tree's, and routes over real ones, against routes followed one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.planning import GroupKind, HyPar, Optimal, Plan, PlanningProblem
from hypar_exp.simulation import (
    AcceleratorKind,
    CostModel,
    Energy,
    Hardware,
    Hetero,
    HTree,
    Interconnect,
    MeshLinks,
    Objective,
    PlanCosts,
    RingLinks,
    SharedLink,
    SwitchLinks,
    Time,
    Torus,
    TorusLinks,
    TreeLinks,
    load_accounting,
    load_hardware,
    simulate,
    step_report,
)
from tests.planning.test_optimum import every_plan

HARDWARE, ACCOUNTING = load_hardware(), load_accounting()
RATE = HARDWARE.link_bandwidth_bits_per_s
ALL = (
    SharedLink(),
    SharedLink(latency_s=1e-4, energy_per_hop=True),
    TreeLinks(),
    TreeLinks(latency_s=1e-3, energy_per_hop=True),
    TorusLinks(latency_s=1e-4, energy_per_hop=True),
    MeshLinks(),
    RingLinks(energy_per_hop=True),
    SwitchLinks(link_bandwidth_bits_per_s=4e9, latency_s=1e-5),
)


def model(name: str, interconnect: Interconnect, levels: int = 4, batch: int = 256) -> CostModel:
    return CostModel(networks.load(name), HTree(levels=levels), HARDWARE, ACCOUNTING, batch, interconnect)


def problem(costs: CostModel, objective: Objective) -> PlanningProblem:
    return PlanningProblem(
        costs.network, costs.batch_size, costs.array.levels, ACCOUNTING.communication, objective.costs(costs)
    )


def hypar(name: str, levels: int = 4) -> Plan:
    return HyPar().plan(PlanningProblem(networks.load(name), 256, levels, ACCOUNTING.communication))


def test_shared_is_the_paper_rule_and_the_default() -> None:
    network, plan = networks.load("vgg_e"), hypar("vgg_e")
    report = simulate(network, plan, Torus(), HARDWARE, ACCOUNTING)
    assert step_report(CostModel(network, Torus(), HARDWARE, ACCOUNTING), plan).step_time_s == report.step_time_s
    assert report.communication_time_s == pytest.approx(report.communication_bytes * 8 * 2.0 / RATE)  # 2 hops in 4x4


def test_all_pairs_of_a_tree_exchange_at_once() -> None:
    plan = hypar("alexnet")
    shared = step_report(model("alexnet", SharedLink()), plan)
    tree = step_report(model("alexnet", TreeLinks()), plan)
    assert tree.communication_bytes == shared.communication_bytes
    assert tree.compute_time_s == shared.compute_time_s
    assert tree.communication_time_s_by_level == pytest.approx(shared.communication_time_s_by_level / [1, 2, 4, 8])
    rates = [RATE, RATE / 2, RATE / 4, RATE / 8]
    thin = step_report(model("alexnet", TreeLinks(link_bandwidth_bits_per_s=rates)), plan)
    assert thin.communication_time_s == pytest.approx(shared.communication_time_s)


def test_latency_is_paid_for_each_tensor() -> None:
    """By hand: data parallelism exchanges one gradient of each of vgg_a's 11 layers at each of 2 levels, no feature."""
    plan = np.zeros((2, 11), dtype=np.uint8)
    without = step_report(model("vgg_a", TreeLinks(), levels=2), plan)
    latency = step_report(model("vgg_a", TreeLinks(latency_s=[0.5, 0.25]), levels=2), plan)
    assert latency.communication_time_s - without.communication_time_s == pytest.approx(11 * 0.75)
    shared = step_report(model("vgg_a", SharedLink(latency_s=0.5), levels=2), plan)  # the pairs wait for one another
    paper = step_report(model("vgg_a", SharedLink(), levels=2), plan)
    assert shared.communication_time_s - paper.communication_time_s == pytest.approx(11 * 0.5 * (1 + 2))


@pytest.mark.parametrize("levels", range(1, 9))
@pytest.mark.parametrize("interconnect", [MeshLinks(), TorusLinks(), RingLinks(), SwitchLinks()], ids=lambda i: i.name)
def test_the_most_loaded_link_by_routes_followed_one_by_one(interconnect: Interconnect, levels: int) -> None:
    links = interconnect.links(HTree(levels=levels), np.full(levels, RATE))
    for level in range(levels):
        loads, longest = _loads(interconnect.name, level, levels)
        share = 1 / 2 ** (levels - level)  # of what a group exchanges, for each of its accelerators
        assert links.load[level] == max(loads.values()) * share
        assert links.hops[level] == longest
    assert links.at_once


def _loads(name: str, level: int, levels: int) -> tuple[Counter[tuple[object, object]], int]:
    """Transfers over every link, undirected, where each accelerator sends to its partner; and the longest route."""
    loads: Counter[tuple[object, object]] = Counter()
    longest = 0
    columns, rows = (2**levels, 1) if name == "ring" else (2 ** (levels - levels // 2), 2 ** (levels // 2))
    along_columns = name == "ring" or level % 2 == 0
    nodes = columns if along_columns else rows
    distance = nodes // 2 ** ((level if name == "ring" else level // 2) + 1)
    for line in range(rows if along_columns else columns):
        for node in range(nodes):
            partner = node ^ distance
            if name == "switch":
                route: list[object] = [("out", node), ("out", partner)]
                longest = 2
            elif name != "mesh" and 2 * distance == nodes:  # both ways around are as long: all take the same
                route = [(node + step) % nodes for step in range(distance)]
            else:
                route = list(range(min(node, partner), max(node, partner)))
            longest = max(longest, len(route))
            for link in route:
                loads[(line, link)] += 1
    return loads, longest


@pytest.mark.parametrize("interconnect", ALL, ids=lambda i: f"{i.name} {i.latency_s:g}")
@pytest.mark.parametrize("name", ["sfc", "alexnet", "resnet18"])
def test_many_plans_cost_what_the_simulator_says(interconnect: Interconnect, name: str) -> None:
    costs = model(name, interconnect, levels=3, batch=64)
    plans = np.random.default_rng(1).integers(0, 2, (5, 3, len(costs.network.layers)), dtype=np.uint8)
    many = PlanCosts(costs).of(plans)
    for place, plan in enumerate(plans):
        report = step_report(costs, plan)
        assert many.step_time_s[place] == pytest.approx(report.step_time_s, rel=1e-12)
        for objective, value in ((Time(), report.step_time_s), (Energy(), report.step_energy_j)):
            assert problem(costs, objective).cost_of(plan[None])[0] == pytest.approx(value, rel=1e-12)


@settings(max_examples=15)
@given(st.sampled_from(ALL), st.sampled_from(["lenet_c", "sconv"]), st.sampled_from([1, 8, 256]), st.booleans())
def test_the_optimum_is_that_of_the_links(interconnect: Interconnect, name: str, batch: int, for_time: bool) -> None:
    """Against every plan there is."""
    costs = model(name, interconnect, levels=2, batch=batch)
    objective: Objective = Time() if for_time else Energy()
    of_all = problem(costs, objective).cost_of(np.array(every_plan(2, len(costs.network.layers), ("dp", "mp"))))
    plan = Optimal().plan(problem(costs, objective))
    assert problem(costs, objective).cost_of(plan.choices[None])[0] == pytest.approx(of_all.min(), rel=1e-12)


def test_energy_by_hop_and_not() -> None:
    plan = hypar("vgg_a")
    once = step_report(model("vgg_a", MeshLinks()), plan)
    by_hop = step_report(model("vgg_a", MeshLinks(energy_per_hop=True)), plan)
    by_level = once.communication_bytes_by_level / once.communication_bytes
    communication = once.energy.by_part_j["communication"]
    assert by_hop.energy.by_part_j["communication"] == pytest.approx(communication * (by_level @ [2, 2, 1, 1]))


def test_an_array_of_one_kind_with_links_of_its_own_has_every_objective() -> None:
    """A user's own array that says its kinds itself: one of them, with a rate for each level."""

    class Tapered(HTree):
        def kinds(self, hardware: Hardware) -> tuple[AcceleratorKind, ...]:
            return (AcceleratorKind(hardware, GroupKind(), RATE / np.array([1.0, 2.0, 8.0])),)

    costs = CostModel(networks.load("lenet_c"), Tapered(levels=3), HARDWARE, ACCOUNTING, 256)
    of_all = problem(costs, Time()).cost_of(np.array(every_plan(3, 4, ("dp", "mp"))))
    plan = Optimal().plan(problem(costs, Time()))
    assert step_report(costs, plan).step_time_s == pytest.approx(of_all.min(), rel=1e-12)


@pytest.mark.parametrize(
    ("interconnect", "message"),
    [
        (lambda: TreeLinks(latency_s=-1.0), r"interconnect\.latency_s must be a finite number of at least 0 \(got -1"),
        (lambda: TreeLinks(link_bandwidth_bits_per_s=[1e9, 0.0]), r"link_bandwidth_bits_per_s must be a finite number"),
        (lambda: MeshLinks(link_bandwidth_bits_per_s=0.0), r"link_bandwidth_bits_per_s must be a finite number above"),
        (lambda: SharedLink(latency_s=float("nan")), r"interconnect\.latency_s must be a finite number"),
    ],
)
def test_what_no_link_has_is_refused(interconnect: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        interconnect()  # type: ignore[operator]


def test_a_list_is_as_long_as_there_are_levels() -> None:
    sentence = r"interconnect\.latency_s has 2 numbers and array\.levels is 4; give one number for all levels, or one"
    with pytest.raises(UserError, match=sentence):
        step_report(model("sfc", TreeLinks(latency_s=[1e-6, 1e-6])), hypar("sfc"))


def test_arrays_of_several_kinds_are_on_the_shared_link() -> None:
    array = Hetero(second={"utilisation": 0.5})
    with pytest.raises(UserError, match=r"interconnect=tree has links for accelerators of one kind, and array=hetero"):
        simulate(networks.load("sfc"), hypar("sfc"), array, HARDWARE, ACCOUNTING, 256, TreeLinks())
