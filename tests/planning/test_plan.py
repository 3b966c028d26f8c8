"""The plan type: what is one, the halves of a pipeline, and the stages that they come to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.planning import Half, Plan, Split, read_plan


def plan(*rows: str) -> Plan:
    return Plan(np.array([[int(entry) for entry in row] for row in rows], dtype=np.uint8))


def described(found: Plan) -> list[tuple[tuple[int, ...], int, tuple[int, ...], list[str]]]:
    """Layers, devices, levels and rows of every stage."""
    return [
        (stage.layers, stage.devices, stage.levels, ["".join(map(str, row)) for row in stage.splits.tolist()])
        for stage in found.stages()
    ]


def test_a_plan_without_halves_is_one_stage() -> None:
    assert described(plan("0011", "0000")) == [((0, 1, 2, 3), 4, (0, 1), ["0011", "0000"])]
    assert not plan("0011").has_stages
    assert described(Plan(np.zeros((0, 3), np.uint8))) == [((0, 1, 2), 1, (), [])]


def test_halves_above_splits_below() -> None:
    """Four accelerators each: the first two layers dp then mp, the third dp twice."""
    assert described(plan("334", "000", "110")) == [
        ((0, 1), 4, (1, 2), ["00", "11"]),
        ((2,), 4, (1, 2), ["0", "0"]),
    ]


def test_replicas_of_a_pipeline_and_a_pipeline_in_one_half_only() -> None:
    """dp at H1 with halves at H2; then 8 + 4 + 4 accelerators."""
    assert described(plan("000", "334", "010")) == [((0, 1), 4, (0, 2), ["00", "01"]), ((2,), 4, (0, 2), ["0", "0"])]
    assert [(stage.layers, stage.devices) for stage in plan("3444", "1334", "0000", "0000").stages()] == [
        ((0,), 8),
        ((1, 2), 4),
        ((3,), 4),
    ]


@pytest.mark.parametrize("rows", [("303",), ("43",), ("33",), ("3044",)])
def test_a_group_is_cut_at_one_place_or_split(rows: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=r"a plan cuts the layers of a group at one place.*H\d has \d+ for layers"):
        plan(*rows)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (np.zeros((2, 3)), r"a plan must be uint8\[levels, layers\] \(got float64\[2, 3\]\)"),
        (np.zeros(3, np.uint8), r"a plan must be uint8\[levels, layers\] \(got uint8\[3\]\)"),
        (np.full((1, 1), 5, np.uint8), r"a plan's entries must be 0 \(dp\), .* 4 \(second\) \(got 5\)"),
    ],
)
def test_what_is_no_plan(choices: NDArray[np.generic], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Plan(choices)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"must be uint8\[3, 2\] \(got uint8\[1, 2\]\)"):
        plan("00").checked(3, 2)


@st.composite
def staged(draw: st.DrawFn, levels: int = 4) -> Plan:
    """A plan with halves, cut level by level."""
    layers = draw(st.integers(1, 7))
    choices = np.zeros((levels, layers), dtype=np.uint8)

    def fill(first: int, last: int, level: int) -> None:
        if level == levels:
            return
        if last - first > 1 and draw(st.booleans()):
            cut = draw(st.integers(first + 1, last - 1))
            choices[level, first:cut], choices[level, cut:last] = Half.FIRST, Half.SECOND
            fill(first, cut, level + 1)
            fill(cut, last, level + 1)
        else:
            choices[level, first:last] = draw(
                st.lists(st.sampled_from([*Split]), min_size=last - first, max_size=last - first)
            )
            fill(first, last, level + 1)

    fill(0, layers, 0)
    return Plan(choices)


@given(staged())
def test_stages_share_out_the_layers_and_the_accelerators(found: Plan) -> None:
    stages = found.stages()
    assert [layer for stage in stages for layer in stage.layers] == list(range(found.layers))
    replicas = 2 ** sum(bool((found.choices[level] < Half.FIRST).all()) for level in range(found.levels))
    assert replicas <= min(stage.devices for stage in stages)
    assert sum(stage.devices for stage in stages) == 2**found.levels
    for stage in stages:
        assert np.array_equal(stage.splits, found.choices[list(stage.levels)][:, list(stage.layers)])


@given(staged())
def test_halves_are_written_and_read(found: Plan) -> None:
    import tempfile

    names = [f"l{at}" for at in range(found.layers)]
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        file.write(found.csv(names))
        file.flush()
        assert Plan(read_plan(file.name, names, found.levels)) == found


def test_equal_plans_are_equal() -> None:
    assert plan("01") == plan("01") != plan("10")
    assert len({plan("01"), plan("01"), Plan(plan("01").choices, micro_batches=2)}) == 2
    assert plan("01").rows() == ["01"]
    assert plan("34").legend() == [Split.DP, Split.MP, Half.FIRST, Half.SECOND]
