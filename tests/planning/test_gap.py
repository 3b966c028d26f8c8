"""The optimality gap: its size, where the least costs nothing, and over which splits it is taken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hypar_exp import networks
from hypar_exp.networks import Layer, Network, Shape
from hypar_exp.planning import CommunicationModel, HyPar, PlanningProblem, optimality_gap
from tests.planning.test_paper_plans import AS_EVALUATED

LAYER = Layer("fc", "fc", Shape(4), Shape(2), weights=8, output_positions=1)
ONE = Network.chain("one", (LAYER,))


def test_the_gap_of_vgg_a_at_six_levels_is_one_choice() -> None:
    problem = PlanningProblem(networks.load("vgg_a"), 256, 6, AS_EVALUATED)
    gap = optimality_gap(problem, HyPar().plan(problem))
    assert (round(gap.excess, 3), gap.differing, gap.exact) == (0.019, 1, True)
    assert optimality_gap(problem, gap.optimal).excess == 0


def test_what_the_least_costs_may_be_nothing() -> None:
    """One layer of 8 weights and a batch of 4: dp exchanges nothing in inference, mp the 8 elements of the output."""
    problem = PlanningProblem(ONE, 4, 1, CommunicationModel({"dp": {}, "mp": {"output": 1}}))
    assert optimality_gap(problem, np.array([[0]], dtype=np.uint8)).excess == 0
    assert optimality_gap(problem, np.array([[1]], dtype=np.uint8)).excess == math.inf


def test_the_least_is_among_the_splits_that_the_strategy_chooses_from() -> None:
    """By hand: dp exchanges 8 weights, mp 8 outputs, op 1/2 x 16 inputs; op alone is half of the others."""
    model = CommunicationModel({"dp": {"weight_gradient": 2}, "mp": {"output": 2}, "op": {"input_error": 0.5}})
    problem = PlanningProblem(ONE, 4, 1, model)
    plan = np.array([[0]], dtype=np.uint8)
    assert optimality_gap(problem, plan).excess == 0
    assert optimality_gap(problem, plan, ("dp", "mp", "op")).excess == pytest.approx(1.0)
