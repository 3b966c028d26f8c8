"""Plans of many layers: nothing is lost by writing layers that are split alike on one line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hypar_exp.planning import DOTS, Plan
from hypar_exp.reporting.plan_picture import plan_svg
from hypar_exp.reporting.plan_runs import run_lines


@pytest.mark.parametrize(("levels", "layers", "splits"), [(1, 1, 2), (4, 156, 2), (3, 40, 3), (0, 5, 2)])
def test_the_lines_say_the_whole_plan(levels: int, layers: int, splits: int) -> None:
    plan = np.random.default_rng(levels).integers(0, splits, (levels, layers), dtype=np.uint8)
    plan[:, layers // 3 : layers // 2] = 0
    names = [f"layer{at}" for at in range(layers)]
    head, *lines = run_lines(Plan(plan), names, DOTS)
    assert head.split() == [f"H{level + 1}" for level in range(levels)]
    columns: list[list[int]] = []
    for line in lines:
        matched = re.fullmatch(r" (\w+)(?: to (\w+))? +(\d+)((?: +[○●◆])*) *", line)
        assert matched is not None, line
        assert matched[1] == names[len(columns)]
        columns += [[DOTS.index(dot) for dot in matched[4].split()]] * int(matched[3])
        assert (matched[2] or matched[1]) == names[len(columns) - 1]
    assert np.array_equal(np.array(columns, dtype=np.uint8).reshape(layers, levels).T, plan)


def test_a_picture_of_many_layers_is_drawn_in_blocks_of_a_readable_width() -> None:
    plan = np.zeros((4, 156), dtype=np.uint8)
    svg = plan_svg(Plan(plan), [f"layer{at}" for at in range(156)], "title")
    width = re.search(r'width="(\d+)"', svg)
    assert width is not None
    assert int(width[1]) < 1600
    assert svg.count("<circle") == 4 * 156 + 2, "every choice, and two in the legend"
    assert svg.count(">H4<") == 3
