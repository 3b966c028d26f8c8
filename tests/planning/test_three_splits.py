"""The rule of the three splits against a group that is cut in two by hand, and the search against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks import Layer, Network, Shape
from hypar_exp.planning import (
    CommunicationModel,
    Fixed,
    HyPar,
    PairAmounts,
    PlanningProblem,
    Split,
    choices_above,
    partition_level,
    plan_communication,
    shard,
)

LABELS = ("dp", "mp", "op")
coefficients = st.integers(0, 8).map(lambda eighths: eighths / 8)
sizes = st.integers(1, 40)


@st.composite
def chains(draw: st.DrawFn, most_layers: int = 5) -> Network:
    channels = draw(st.lists(sizes, min_size=2, max_size=most_layers + 1))
    positions = draw(st.lists(st.integers(1, 9), min_size=len(channels), max_size=len(channels)))
    shapes = [Shape(count, positions[at]) for at, count in enumerate(channels)]
    layers = [
        Layer(f"l{at}", "conv", source, target, 9 * source.channels * target.channels, target.positions)
        for at, (source, target) in enumerate(itertools.pairwise(shapes))
    ]
    return Network.chain("random", tuple(layers))


@st.composite
def models(draw: st.DrawFn, labels: tuple[str, ...] = LABELS) -> CommunicationModel:
    within = ("weight_gradient", "output", "output_error", "input_error")
    return CommunicationModel(
        {label: {tensor: draw(coefficients) for tensor in within} for label in labels},
        {a: {b: {"feature": draw(coefficients), "error": draw(coefficients)} for b in labels} for a in labels},
    )


@st.composite
def plans_of(draw: st.DrawFn, network: Network, splits: int = 3) -> np.ndarray:
    levels = draw(st.integers(0, 4))
    layers = len(network.layers)
    row = st.lists(st.integers(0, splits - 1), min_size=layers, max_size=layers)
    return np.array(draw(st.lists(row, min_size=levels, max_size=levels)), dtype=np.uint8).reshape(levels, layers)


class Piece:
    """What one group holds of a layer: its part of the batch and of its channels, cut a choice at a time."""

    def __init__(self, layer: Layer, batch: float) -> None:
        self.layer, self.extent = layer, [batch, float(layer.input.channels), float(layer.output.channels)]

    def cut(self, choice: int) -> None:
        self.extent[choice] /= 2

    @property
    def weights(self) -> float:
        return 9 * self.extent[1] * self.extent[2]

    @property
    def input(self) -> float:
        return self.extent[0] * self.extent[1] * self.layer.input.positions

    @property
    def output(self) -> float:
        return self.extent[0] * self.extent[2] * self.layer.output.positions


@given(st.data())
def test_amounts_are_those_of_a_group_cut_by_hand(data: st.DataObject) -> None:
    network, model = data.draw(chains()), data.draw(models())
    plan = data.draw(plans_of(network))
    communication = plan_communication(network, 24, model, plan[None])
    pieces = [Piece(layer, 24) for layer in network.layers]
    for level, choices in enumerate(plan.tolist()):
        for at, piece in enumerate(pieces):
            row = model.within_layer[LABELS[choices[at]]]
            expected = row["weight_gradient"] * piece.weights + row["input_error"] * piece.input
            expected += (row["output"] + row["output_error"]) * piece.output
            assert communication.within[0, level, at] == pytest.approx(2**level * expected)
        for at, consumer in enumerate(pieces[1:]):
            row = model.between_layers[LABELS[choices[at]]][LABELS[choices[at + 1]]]
            expected = (row["feature"] + row["error"]) * consumer.input
            assert communication.between[0, level, at] == pytest.approx(2**level * expected)
        for piece, choice in zip(pieces, choices, strict=True):
            piece.cut(choice)
    leaf = shard(network, 24, choices_above(plan)[-1])
    assert leaf.weights == pytest.approx([piece.weights for piece in pieces])
    assert leaf.inputs == pytest.approx([piece.input for piece in pieces])
    assert leaf.outputs == pytest.approx([piece.output for piece in pieces])


@given(st.data(), st.sampled_from([2, 3]))
def test_one_level_is_the_least_and_lowest_of_all_choices(data: st.DataObject, splits: int) -> None:
    network = data.draw(chains())
    layers = len(network.layers)
    whole = st.integers(0, 6)
    amounts = PairAmounts(
        np.array(data.draw(st.lists(whole, min_size=layers * splits, max_size=layers * splits)), dtype=float).reshape(
            layers, splits
        ),
        np.array(
            data.draw(st.lists(whole, min_size=(layers - 1) * splits**2, max_size=(layers - 1) * splits**2)),
            dtype=float,
        ).reshape(layers - 1, splits, splits),
    )

    def cost(choices: tuple[int, ...]) -> float:
        within = sum(float(amounts.within[at, choice]) for at, choice in enumerate(choices))
        pairs = enumerate(itertools.pairwise(choices))
        return within + sum(float(amounts.between[at, a, b]) for at, (a, b) in pairs)

    every = list(itertools.product(range(splits), repeat=layers))
    found = tuple(partition_level(network, amounts).tolist())
    # the search decides from the last layer back, so among equals the one whose last choices are lowest
    assert found == min(every, key=lambda choices: (cost(choices), choices[::-1]))


@given(st.data())
def test_a_model_of_two_splits_is_the_model_of_three_without_the_third(data: st.DataObject) -> None:
    network, three = data.draw(chains()), data.draw(models())
    two = three.over([Split.DP, Split.MP])
    plan = data.draw(plans_of(network, splits=2))
    assert np.array_equal(
        plan_communication(network, 8, two, plan[None]).within, plan_communication(network, 8, three, plan[None]).within
    )
    problem = PlanningProblem(network, 8, 3, three)
    assert np.array_equal(HyPar().plan(problem), HyPar().plan(PlanningProblem(network, 8, 3, two)))


@given(st.data())
def test_splits_with_a_gap_in_their_numbers(data: st.DataObject) -> None:
    network, three = data.draw(chains()), data.draw(models())
    gapped = three.over([Split.DP, Split.OP])
    plan = data.draw(plans_of(network, splits=2)) * np.uint8(2)
    expected = plan_communication(network, 8, three, plan[None])
    found = plan_communication(network, 8, gapped, plan[None])
    assert np.array_equal(found.within, expected.within)
    assert np.array_equal(found.between, expected.between)
    chosen = HyPar("two", ("dp", "op")).plan(PlanningProblem(network, 8, 3, three))
    assert set(np.unique(chosen)) <= {0, 2}


TWO = CommunicationModel({"dp": {"weight_gradient": 2}, "mp": {"output": 2}})
LAYER = Layer("fc", "fc", Shape(4), Shape(2), 8, 1)
PROBLEM = PlanningProblem(Network.chain("one", (LAYER,)), 4, 1, TWO)


def test_a_split_without_a_price_is_refused_wherever_it_comes_from() -> None:
    sentence = "uses op, which accounting.within_layer does not price"
    with pytest.raises(UserError, match=f"the strategy {sentence}"):
        HyPar("accpar", LABELS).plan(PROBLEM)
    with pytest.raises(UserError, match=f"the plan {sentence}"):
        plan_communication(PROBLEM.network, 4, TWO, Fixed("op", "op").plan(PROBLEM).choices[None])
    with pytest.raises(UserError, match=rf"accounting.between_layers.dp.op {sentence}"):
        CommunicationModel(TWO.within_layer, {"dp": {"op": {"feature": 1}}})
    with pytest.raises(UserError, match="prices no split"):
        CommunicationModel({})


@pytest.mark.parametrize("types", ["dp", [], ["dp", "xp"]])
def test_types_that_are_none(types: object) -> None:
    with pytest.raises(UserError, match=r"strategy\.types must be"):
        HyPar("mine", types)  # type: ignore[arg-type]
