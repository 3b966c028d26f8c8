"""Plan spaces against itertools."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.planning import PlanSpace, Split

TYPES = st.sampled_from([(Split.DP, Split.MP), (Split.DP, Split.MP, Split.OP), (Split.MP, Split.OP), (Split.MP,)])


@st.composite
def spaces(draw: st.DrawFn) -> PlanSpace:
    levels, layers = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    entries = st.lists(st.integers(0, 2), min_size=levels * layers, max_size=levels * layers)
    base = np.array(draw(entries), dtype=np.uint8).reshape(levels, layers)
    open_entries = draw(st.permutations(range(levels * layers)))[: draw(st.integers(0, 6))]
    free = np.isin(np.arange(levels * layers), open_entries).reshape(levels, layers)
    return PlanSpace(base, free, draw(TYPES))


@given(spaces(), st.integers(1, 100))
def test_chunks_count_out_every_plan_in_order(space: PlanSpace, most: int) -> None:
    chunks = list(space.chunks(most))
    assert max(map(len, chunks)) <= most
    expected = []
    for choices in itertools.product(space.splits, repeat=int(space.free.sum())):
        plan = space.base.copy()
        plan[space.free] = choices
        expected.append(plan)
    assert np.array_equal(np.concatenate(chunks), np.array(expected))
    assert len(expected) == space.count
    assert np.array_equal(space.plans(), np.array(expected))


@given(spaces(), st.integers(0, 3), st.integers(1, 9))
def test_samples_are_plans_of_the_space_and_repeat_with_the_seed(space: PlanSpace, seed: int, most: int) -> None:
    drawn = np.concatenate(list(space.samples(20, seed, most)))
    assert drawn.shape == (20, *space.base.shape)
    assert np.isin(drawn[:, space.free], space.splits).all()
    assert (drawn[:, ~space.free] == space.base[~space.free]).all()
    assert np.array_equal(drawn, np.concatenate(list(space.samples(20, seed, most))))


def test_samples_are_even() -> None:
    space = PlanSpace(np.zeros((2, 3), dtype=np.uint8), np.ones((2, 3), dtype=bool), tuple(Split))
    drawn = np.concatenate(list(space.samples(9000, seed=1)))
    shares = (drawn[..., None] == np.arange(3)).mean(axis=0)
    assert shares == pytest.approx(1 / 3, abs=0.03)


def test_counts_beyond_any_integer_type() -> None:
    assert PlanSpace(np.zeros((16, 50), np.uint8), np.ones((16, 50), bool)).count == 2**800
