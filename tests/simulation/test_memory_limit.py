"""Plans that have to fit: the best of those that the simulator says fit, or what every plan needs at least."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.planning import Choices, DoesNotFitError, HyPar, Optimal, PlanningProblem, PlanningWarning
from hypar_exp.simulation import Accounting, Communication, CostModel, HTree, Objective, memory_limit, simulate
from tests.planning.test_optimum import TYPES, every_plan
from tests.simulation.test_objectives import OBJECTIVES, Scene, hmc, measure, scenes


def limited(scene: Scene, problem: PlanningProblem) -> PlanningProblem:
    limit = memory_limit(CostModel(scene.network, HTree(), scene.hardware, scene.accounting, scene.batch_size))
    return replace(problem, memory=limit)


def needs(scene: Scene, plans: Choices) -> list[float]:
    arguments = scene.array, scene.hardware, scene.accounting, scene.batch_size
    return [simulate(scene.network, plan, *arguments).memory_per_accelerator_bytes for plan in plans]


@settings(max_examples=60)
@given(st.data(), st.sampled_from(OBJECTIVES), st.sampled_from(TYPES), st.booleans())
def test_the_best_plan_that_fits_is_that_of_brute_force(
    data: st.DataObject, objective: Objective, types: tuple[str, ...], inference: bool
) -> None:
    scene = data.draw(scenes(splits=len(types), most_plans=256))
    if inference and scene.network.is_chain:
        scene = replace(scene, accounting=scene.accounting.inference())
    every = every_plan(scene.array.levels, len(scene.network.layers), types)
    needed = np.array(needs(scene, every))
    # a capacity among the plans' needs, so that some fit and some do not
    capacity = float(np.quantile(needed, data.draw(st.floats(0, 1)), method="nearest"))
    scene = replace(scene, hardware=replace(scene.hardware, dram_capacity_bytes=capacity))
    costs = np.array([scene.measured(plan, objective) for plan in every])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if not scene.network.is_chain else "error", PlanningWarning)
        least = Optimal(types=types).least(limited(scene, scene.problem(objective)))
    report = simulate(scene.network, least.plan, scene.array, scene.hardware, scene.accounting, scene.batch_size)
    assert report.fits_in_memory
    best = costs[needed <= capacity].min()
    found = measure(report, objective)
    if scene.network.is_chain:
        assert found == pytest.approx(best, rel=1e-12)
        if objective.name == "communication":  # whole numbers: costs that are equal compare as equal
            problem = scene.problem(objective)
            hypar = HyPar(types=types).plan(problem).choices
            differing = (every != hypar).sum(axis=(1, 2))
            assert (least.plan != hypar).sum() == differing[(needed <= capacity) & (costs == best)].min()
    assert least.bound <= best * (1 + 1e-12)
    assert found >= best * (1 - 1e-12)


@given(st.data(), st.sampled_from(TYPES))
def test_where_no_plan_fits_the_least_need_is_told(data: st.DataObject, types: tuple[str, ...]) -> None:
    scene = data.draw(scenes(splits=len(types), most_plans=128))
    every = every_plan(scene.array.levels, len(scene.network.layers), types)
    least = min(needs(scene, every))
    scene = replace(scene, hardware=replace(scene.hardware, dram_capacity_bytes=least * 0.999))
    with pytest.raises(DoesNotFitError, match=r"no plan of network .* fits") as raised:
        Optimal(types=types).plan(limited(scene, scene.problem(Communication())))
    assert raised.value.needed_bytes == pytest.approx(least, rel=1e-12)
    assert raised.value.capacity_bytes == least * 0.999


def test_of_plans_that_fit_and_cost_the_same_the_closest_to_hypars_is_taken() -> None:
    layers = {
        "l0": {"layer": "fc", "input": [4], "output": [1], "weights": 2},
        "l1": {"layer": "conv", "input": [1], "output": [2], "weights": 4},
        "l2": {"layer": "conv", "input": [1], "output": [8], "weights": 8},
    }
    hardware = replace(hmc(), element_bytes=1, dram_capacity_bytes=49)
    scene = Scene(networks.build("tie", [4], layers), 2, HTree(levels=1), hardware, AS_EVALUATED)
    assert Optimal().plan(limited(scene, scene.problem(Communication()))).choices.tolist() == [[1, 0, 0]]


AS_EVALUATED = Accounting(
    "as_evaluated",
    {"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}},
    {"dp": {"mp": {"feature": 0.5, "error": 0.5}}},
)


@pytest.mark.parametrize(("levels", "fitting"), [(0, False), (1, True), (2, True)])
def test_vgg_e_at_batch_256_fits_from_two_accelerators_on(levels: int, fitting: bool) -> None:
    scene = Scene(networks.load("vgg_e"), 256, HTree(levels=levels), hmc(), AS_EVALUATED)
    problem = limited(scene, scene.problem(Communication()))
    if fitting:
        assert needs(scene, Optimal().plan(problem).choices[None])[0] <= 8e9
    else:
        with pytest.raises(DoesNotFitError, match=r"each of 2\^0 accelerators needs at least 15.93 GB"):
            Optimal().plan(problem)


def test_inference_of_a_graph_keeps_tensors_in_no_sum_over_layers() -> None:
    with pytest.raises(UserError, match=r"memory=enforce cannot plan inference for network resnet18"):
        memory_limit(CostModel(networks.load("resnet18"), HTree(), hmc(), AS_EVALUATED.inference(), 8))
