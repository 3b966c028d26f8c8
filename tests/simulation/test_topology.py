"""Hop factors of the torus, against walking every pair of nodes."""

from __future__ import annotations

import itertools
import math

import pytest

from hypar_exp.errors import UserError
from hypar_exp.simulation import HTree, Torus


@pytest.mark.parametrize(("levels", "published"), [(4, 2.0), (3, 1.5), (0, 1.0), (1, 1.0)])
def test_hop_factor_of_the_torus(levels: int, published: float) -> None:
    assert Torus(levels=levels).hop_factor == published


@pytest.mark.parametrize("levels", range(7))
def test_hop_factor_is_the_mean_distance_of_all_pairs(levels: int) -> None:
    rows, columns = 2 ** (levels // 2), 2 ** math.ceil(levels / 2)
    nodes = list(itertools.product(range(rows), range(columns)))
    hops = [
        min(abs(a - c), rows - abs(a - c)) + min(abs(b - d), columns - abs(b - d))
        for (a, b), (c, d) in itertools.product(nodes, repeat=2)
    ]
    assert Torus(levels=levels).hop_factor == pytest.approx(max(1.0, sum(hops) / len(hops)))


@pytest.mark.parametrize("array", [HTree, Torus])
@pytest.mark.parametrize("levels", [-1, 17, 1.5, True])
def test_levels_out_of_range_are_refused(array: type[HTree] | type[Torus], levels: int) -> None:
    with pytest.raises(UserError, match=r"array\.levels must be a whole number from 0 to 16"):
        array(levels=levels)
