"""The hierarchical search against every way to cut a small network, on the timeline."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from hypar_exp.errors import UserError
from hypar_exp.planning import Choices, Half, Plan
from hypar_exp.simulation import CostModel, Interconnect, SharedLink, TreeLinks, step_report
from hypar_exp.simulation.halves import Halves
from hypar_exp.simulation.pipelined import pipelined_report
from hypar_exp.simulation.schedules import OneFOneB
from hypar_exp.simulation.stage_model import stage_costs
from tests.simulation.test_pipelined import by_hypar, of


def step_time_s(model: CostModel, plan: Plan) -> float:
    if not plan.has_stages:
        return step_report(model, plan).step_time_s
    return pipelined_report(model, plan, OneFOneB("long")).step_time_s


def every_cut(model: CostModel, first: int, last: int, level: int) -> Iterator[Choices]:
    """All ways to put layers on a group at a level, HyPar inside the stages: uint8[levels from there on, layers]."""
    levels = model.array.levels
    yield by_hypar(stage_costs(model, range(first, last), tuple(range(level, levels)), 1)).choices
    if level < levels:
        for cut in range(first + 1, last):
            for before in every_cut(model, first, cut, level + 1):
                for after in every_cut(model, cut, last, level + 1):
                    row = np.full((1, last - first), Half.SECOND, np.uint8)
                    row[0, : cut - first] = Half.FIRST
                    yield np.concatenate([row, np.concatenate([before, after], axis=1)])


@pytest.mark.parametrize("name", ["lenet_c", "sfc", "cifar_c"])
@pytest.mark.parametrize("interconnect", [SharedLink(), TreeLinks()], ids=lambda links: links.name)
def test_is_the_fastest_of_all_cuts(name: str, interconnect: Interconnect) -> None:
    model = of(name, interconnect, levels=2)
    plans = [Plan(choices, 16) for choices in every_cut(model, 0, len(model.network.layers), 0)]
    alone = step_time_s(model, by_hypar(model))
    least = min(alone, *(step_time_s(model, plan) for plan in plans if plan.has_stages))
    found = Halves(micro_batches=16).plan(model, by_hypar, lambda plan: step_time_s(model, plan))
    assert step_time_s(model, found) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize(("name", "shared"), [("lenet_c", 2.64), ("alexnet", 1.31), ("vgg_a", 1.24), ("sfc", 4.0)])
def test_more_than_two_stages_gain_more_on_the_shared_link(name: str, shared: float) -> None:
    """At least the best two stages' 1.80, 1.05, 1.25 and 1.99 times HyPar's speed (see test_pipelined)."""
    model = of(name)
    found = Halves().plan(model, by_hypar, lambda plan: step_time_s(model, plan))
    assert step_time_s(model, by_hypar(model)) / step_time_s(model, found) >= shared


def test_two_stages_at_most_and_replicas() -> None:
    model = of("vgg_a", TreeLinks())
    two = Halves(most_stages=2, micro_batches=16).plan(model, by_hypar, lambda plan: step_time_s(model, plan))
    assert len(two.stages()) <= 2
    replicas = Halves(replicas=2, micro_batches=16).plan(model, by_hypar, lambda plan: step_time_s(model, plan))
    if replicas.has_stages:
        assert (replicas.choices[0] == 0).all()


def test_a_deep_network_is_cut_at_some_places_only() -> None:
    model = of("vgg_e")
    found = Halves(most_cuts=6).plan(model, by_hypar, lambda plan: step_time_s(model, plan))
    assert found.has_stages
    assert step_time_s(model, found) < step_time_s(model, by_hypar(model))


def test_is_never_slower_than_no_stages() -> None:
    """vgg_e on a tree is best without stages at 64 micro-batches."""
    model = of("vgg_e", TreeLinks())
    found = Halves().plan(model, by_hypar, lambda plan: step_time_s(model, plan))
    assert not found.has_stages
    assert found == by_hypar(model)


@pytest.mark.parametrize("wrong", [{"most_stages": 0}, {"candidates": 0}, {"replicas": 3}, {"micro_batches": 0}])
def test_what_cannot_be(wrong: dict[str, int]) -> None:
    with pytest.raises(UserError, match=rf"pipeline\.{next(iter(wrong))} must be a"):
        Halves(**wrong)  # type: ignore[arg-type]
