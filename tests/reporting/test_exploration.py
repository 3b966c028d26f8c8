"""An exploration's files: the CSV says what each plan is and comes to, the picture has every bar and every mark."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from hypar_exp.planning import Exploration, Points
from hypar_exp.reporting.distribution_picture import distribution_svg
from hypar_exp.reporting.exploration import exploration_artifacts, points_csv

BINS = 2 * 24 * 128


def points(*relative_times: float) -> Points:
    count = len(relative_times)
    plans = np.arange(count * 2 * 3, dtype=np.uint8).reshape(count, 2, 3) % 3
    times = np.array(relative_times)
    return Points(plans, 1e6 * times, 2 * times, times)


def exploration(histogram: dict[int, int], *names: str) -> Exploration:
    """Plans in bins (0: performance 1 to 1.005) and known plans of performance 1, 2, 4, ..."""
    bins = np.zeros(BINS, dtype=np.int64)
    for at, count in histogram.items():
        bins[BINS // 2 + at] = count
    costed = int(bins.sum())
    named = points(*(0.5**at for at in range(len(names))))
    faster = np.zeros(len(names), dtype=np.int64)
    return Exploration(costed, costed, names[0], names, named, faster, points(0.5), bins, None)


def test_a_row_for_each_plan() -> None:
    assert points_csv(points(1.0, 0.25), ("dp", "mine")).splitlines() == [
        "strategy,H1,H2,communication_bytes,step_time_s,performance",
        "dp,012,012,1000000,2,1",
        "mine,012,012,250000,0.5,4",
    ]


def test_only_short_lists_are_files() -> None:
    assert set(exploration_artifacts(exploration({0: 3}, "dp"), "title")) == {
        "plan_space.svg", "best_plans.csv", "named_plans.csv",
    }  # fmt: skip


@pytest.mark.parametrize(
    "histogram", [{0: 1}, {0: 5, 1: 7}, {-128: 1, 128: 900}, {-3000: 2, 3000: 1}, dict.fromkeys(range(-500, 500), 20)]
)
def test_bars_hold_all_plans_and_every_strategy_is_marked(histogram: dict[int, int]) -> None:
    found = exploration(histogram, "dp", "a<b", "hypar")
    svg = distribution_svg(found, "plans & all")
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"dp 1.00", "a<b 2.00", "hypar 4.00", "plans & all"} <= set(texts)
    heights = [float(height) for height in re.findall(r'<rect x="[^"]*" y="[^"]*" width="[^"]*" height="([^"]*)"', svg)]
    assert 1 <= len(heights) <= 64
    tallest = max(heights)
    if len(histogram) <= 2:
        assert [round(height / tallest * max(histogram.values()), 0) for height in heights] == pytest.approx(
            [count for _, count in sorted(histogram.items())], abs=2
        )
