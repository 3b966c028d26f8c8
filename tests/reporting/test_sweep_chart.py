"""Which picture a sweep gets; what is in it was looked at."""

from __future__ import annotations

import itertools

import pytest

from hypar_exp.reporting.sweep_chart import chart_png
from hypar_exp.reporting.sweep_table import Row

NETWORKS, STRATEGIES, LEVELS, BATCHES = ["sfc", "lenet_c"], ["dp", "hypar"], ["1", "2", "3"], ["32", "64"]


def _rows(axes: dict[str, list[str]], **metrics: float) -> list[Row]:
    return [
        Row(dict(zip(axes, place, strict=True)), {"step_time_s": 1.0 + at, **metrics})
        for at, place in enumerate(itertools.product(*axes.values()))
    ]


@pytest.mark.parametrize(
    "axes",
    [
        {"array.levels": LEVELS},
        {"strategy": STRATEGIES},
        {"network": NETWORKS, "strategy": STRATEGIES},
        {"array.levels": LEVELS, "batch_size": BATCHES},
        {"strategy": STRATEGIES, "array.levels": LEVELS},
        {"network": NETWORKS, "strategy": STRATEGIES, "array.levels": LEVELS},
        {"network": NETWORKS, "strategy": ["dp"]},
    ],
    ids=["line", "bars", "grouped bars", "heat map", "lines", "panels", "one value"],
)
def test_up_to_three_axes_have_a_picture(axes: dict[str, list[str]]) -> None:
    picture = chart_png(axes, _rows(axes, speedup=2.0), "title")
    assert picture is not None
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_picture_of_nothing_or_of_too_much() -> None:
    four = {"network": NETWORKS, "strategy": STRATEGIES, "array.levels": LEVELS, "batch_size": BATCHES}
    assert chart_png(four, _rows(four), "title") is None
    assert chart_png({"strategy": ["dp"]}, _rows({"strategy": ["dp"]}), "title") is None
    assert chart_png({"strategy": STRATEGIES}, [], "title") is None
    failed = [Row({"strategy": name}, {}, "FAILED") for name in STRATEGIES]
    assert chart_png({"strategy": STRATEGIES}, failed, "title") is None
