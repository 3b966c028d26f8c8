"""Every objective is the simulator's own number, and the optimum for it is the least of all plans simulated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks import Edge, Layer, Network, Shape
from hypar_exp.planning import CommunicationModel, HyPar, Optimal, Plan, PlanningProblem, PlanningWarning, Split
from hypar_exp.simulation import (
    AcceleratorArray,
    Accounting,
    Communication,
    CostModel,
    Energy,
    Hardware,
    HTree,
    Objective,
    StepReport,
    Time,
    Torus,
    simulate,
)
from tests.planning.random_networks import graphs
from tests.planning.test_optimum import TYPES, every_plan
from tests.planning.test_three_splits import models

OBJECTIVES: tuple[Objective, ...] = (Communication(), Time(), Energy())


CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]
RESIDUAL = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]


def hmc(dram_bandwidth_bytes_per_s: float = 320e9) -> Hardware:
    return Hardware(
        name="hmc",
        processing_elements=168,
        operations_per_s_per_pe=500e6,
        utilisation=0.8,
        link_bandwidth_bits_per_s=1600e6,
        dram_bandwidth_bytes_per_s=dram_bandwidth_bytes_per_s,
        dram_capacity_bytes=8e9,
        element_bytes=4,
        addition_energy_j=0.9e-12,
        multiplication_energy_j=3.7e-12,
        sram_energy_j_per_access=5e-12,
        dram_energy_j_per_element=640e-12,
    )


@dataclass(frozen=True)
class Scene:
    """All that a step is simulated with."""

    network: Network
    batch_size: int
    array: AcceleratorArray
    hardware: Hardware
    accounting: Accounting

    def measured(self, plan: Plan, objective: Objective) -> float:
        report = simulate(self.network, plan, self.array, self.hardware, self.accounting, self.batch_size)
        return measure(report, objective)

    def problem(self, objective: Objective) -> PlanningProblem:
        costs = objective.costs(CostModel(self.network, self.array, self.hardware, self.accounting, self.batch_size))
        return PlanningProblem(self.network, self.batch_size, self.array.levels, self.accounting.communication, costs)

    def level_by_level(self, types: tuple[str, ...]) -> Plan:
        return HyPar(types=types).plan(self.problem(Communication()))


def measure(report: StepReport, objective: Objective) -> float:
    return {
        "communication": report.communication_bytes,
        "time": report.step_time_s,
        "energy": report.step_energy_j,
    }[objective.name]


@st.composite
def scenes(draw: st.DrawFn, splits: int, most_plans: int, most_layers: int = 5) -> Scene:
    """DRAM from so slow that it bounds every layer to so fast that it bounds none, and both topologies."""
    network = draw(graphs(most_layers))
    levels = 3
    while splits ** (levels * len(network.layers)) > most_plans:
        levels -= 1
    levels = draw(st.integers(0, levels))
    model: CommunicationModel = draw(models())
    return Scene(
        network=network,
        batch_size=draw(st.integers(1, 300)),
        array=Torus(levels=levels) if draw(st.booleans()) else HTree(levels=levels),
        hardware=hmc(dram_bandwidth_bytes_per_s=draw(st.sampled_from([1e6, 1e8, 320e9]))),
        accounting=Accounting("random", model.within_layer, model.between_layers),
    )


@given(st.data(), st.sampled_from(OBJECTIVES))
def test_what_a_plan_pays_is_what_the_simulator_measures(data: st.DataObject, objective: Objective) -> None:
    scene = data.draw(scenes(splits=3, most_plans=3**15))
    shape = (scene.array.levels, len(scene.network.layers))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    plans = random.integers(0, len(Split), (5, *shape)).astype(np.uint8)
    expected = [scene.measured(plan, objective) for plan in plans]
    assert scene.problem(objective).cost_of(plans) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=40)
@given(st.data(), st.sampled_from(OBJECTIVES), st.sampled_from(TYPES))
def test_optimal_is_the_least_of_all_plans_simulated(
    data: st.DataObject, objective: Objective, types: tuple[str, ...]
) -> None:
    scene = data.draw(scenes(splits=len(types), most_plans=512))
    check_against_brute_force(scene, objective, types)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("types", "layers", "ends"),
    [(("dp", "mp"), 5, RESIDUAL), (("dp", "mp"), 4, CHAIN), (("dp", "mp", "op"), 3, RESIDUAL)],
    ids=["two-residual", "two-chain", "three-residual"],
)
def test_optimal_is_the_least_of_all_plans_of_three_levels(
    types: tuple[str, ...], layers: int, ends: list[tuple[int, int]]
) -> None:
    random = np.random.default_rng(len(types))
    sizes = [
        Layer(f"l{at}", "conv", *random_shapes(random), *random.integers(1, 4000, 2).tolist()) for at in range(layers)
    ]
    edges = tuple(Edge(*pair, elements=int(random.integers(1, 400))) for pair in ends if max(pair) < layers)
    accounting = Accounting(
        "random",
        {label: {"weight_gradient": random.random(), "output": random.random()} for label in types},
        {a: {b: {"feature": random.random()} for b in types} for a in types},
    )
    scene = Scene(Network("random", tuple(sizes), edges), 64, Torus(levels=3), hmc(1e8), accounting)
    every = every_plan(3, layers, types)
    reports = [simulate(scene.network, plan, scene.array, scene.hardware, accounting, 64) for plan in every]
    for objective in OBJECTIVES:
        least = min(measure(report, objective) for report in reports)
        found = scene.measured(Optimal(types=types).plan(scene.problem(objective)), objective)
        assert found == pytest.approx(least, rel=1e-12)


def random_shapes(random: np.random.Generator) -> tuple[Shape, Shape]:
    """What a layer reads and writes."""
    (channels_in, channels_out), (height_in, height_out) = random.integers(1, 9, (2, 2)).tolist()
    return Shape(channels_in, height_in), Shape(channels_out, height_out)


def check_against_brute_force(scene: Scene, objective: Objective, types: tuple[str, ...]) -> None:
    every = every_plan(scene.array.levels, len(scene.network.layers), types)
    least = min(scene.measured(plan, objective) for plan in every)
    found = scene.measured(Optimal(types=types).plan(scene.problem(objective)), objective)
    assert found == pytest.approx(least, rel=1e-12)
    assert found <= scene.measured(scene.level_by_level(types), objective) * (1 + 1e-12)


@given(st.data(), st.sampled_from(TYPES))
def test_where_dram_bounds_nothing_the_fastest_plan_is_that_of_least_communication(
    data: st.DataObject, types: tuple[str, ...]
) -> None:
    """And of the plans that are equally fast the same one: the closest to HyPar's."""
    scene = replace(data.draw(scenes(splits=len(types), most_plans=3**15)), hardware=hmc(1e30))
    try:
        fastest = Optimal(types=types).plan(scene.problem(Time()))
    except PlanningWarning:  # the densest graphs are not planned exactly
        reject()
    assert np.array_equal(fastest, Optimal(types=types).plan(scene.problem(Communication())))


@given(st.data())
def test_what_is_exchanged_may_cost_nothing(data: st.DataObject) -> None:
    scene = data.draw(scenes(splits=2, most_plans=256))
    free = replace(scene, accounting=replace(scene.accounting, dram_accesses_per_communicated_element=0.0))
    check_against_brute_force(free, Energy(), ("dp", "mp"))


def test_hypar_plans_for_communication_only() -> None:
    layer = Layer("fc", "fc", Shape(4), Shape(2), 8, 1)
    accounting = Accounting("free", {"dp": {}, "mp": {}}, {})
    scene = Scene(Network.chain("one", (layer,)), 8, HTree(), hmc(), accounting)
    with pytest.raises(UserError, match=r"hypar plans for the least communication only \(got objective=time\);"):
        HyPar().plan(scene.problem(Time()))
