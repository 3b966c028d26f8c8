"""What a sweep's picture shows: its axes, its labels, and a mark for every number."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.colors import to_hex

from hypar_exp.reporting.chart_forms import covering_lines
from hypar_exp.reporting.palette import STRATEGIES
from hypar_exp.reporting.sweep_chart import chart, chart_png
from hypar_exp.reporting.sweep_table import Row, column_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NETWORKS, STRATEGY_NAMES, LEVELS, BATCHES = ["sfc", "lenet_c"], ["dp", "hypar"], ["1", "2", "3"], ["32", "64"]
AxisNames = Mapping[str, list[str]]
LINK = "hardware.link_bandwidth_bits_per_s"


def rows_of(axes: AxisNames, metrics: Callable[[Mapping[str, str]], Mapping[str, float]]) -> list[Row]:
    places = (dict(zip(axes, place, strict=True)) for place in itertools.product(*axes.values()))
    return [Row(place, metrics(place)) for place in places]


def numbered(axes: AxisNames, **metrics: float) -> list[Row]:
    """Runs whose step times are 1, 2, 3, ... seconds."""
    count = itertools.count(1)
    return rows_of(axes, lambda _: {"step_time_s": float(next(count)), **metrics})


def drawn(figure: Figure | None) -> tuple[Figure, list[Axes]]:
    """The figure, and its panels without the scale of colours."""
    assert figure is not None
    return figure, [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def ticks(axes: Axes, which: str) -> list[str]:
    axis = axes.xaxis if which == "x" else axes.yaxis
    return [label.get_text() for label in axis.get_ticklabels()]


def heights(axes: Axes) -> list[float]:
    return [bar.get_y() + bar.get_height() for bars in axes.containers for bar in bars]


def test_a_line_over_numbers() -> None:
    axes = {"array.levels": LEVELS}
    figure, (panel,) = drawn(chart(axes, numbered(axes), "title"))
    (line,) = panel.lines
    assert np.asarray(line.get_xdata()).tolist() == [1, 2, 3]
    assert np.asarray(line.get_ydata()).tolist() == [1, 2, 3]
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("levels", "step time")
    assert ticks(panel, "x") == LEVELS
    assert figure.get_suptitle() == "title: step time"
    assert not figure.legends


def test_numbers_on_both_axes_have_their_units() -> None:
    axes = {LINK: ["1.6e9", "3.2e9", "6.4e9"]}
    figure, (panel,) = drawn(chart(axes, numbered(axes), "title"))
    assert ticks(panel, "x") == ["1.6 Gb/s", "3.2 Gb/s", "6.4 Gb/s"]
    assert panel.get_xlabel() == "link bandwidth"
    figure.canvas.draw()
    assert {word.partition(" ")[2] for word in ticks(panel, "y")} <= {"s", "ms"}


def test_bars_have_their_strategy_s_colour_and_their_number() -> None:
    axes = {"strategy": ["dp", "mp", "hypar"]}
    _, (panel,) = drawn(chart(axes, numbered(axes), "title"))
    (bars,) = panel.containers
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [STRATEGIES[name].colour for name in axes["strategy"]]
    assert heights(panel) == [1, 2, 3]
    assert [text.get_text() for text in panel.texts] == ["1 s", "2 s", "3 s"]


def test_bars_in_groups_have_a_series_for_each_strategy() -> None:
    axes = {"network": NETWORKS, "strategy": STRATEGY_NAMES}
    figure, (panel,) = drawn(chart(axes, numbered(axes), "title"))
    assert [len(series) for series in panel.containers] == [2, 2]
    assert sorted(heights(panel)) == [1, 2, 3, 4]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == STRATEGY_NAMES
    assert ticks(panel, "x") == NETWORKS


def test_a_bar_of_exactly_1_on_a_logarithmic_axis_is_seen() -> None:
    axes = {"strategy": ["dp", "mp", "hypar"]}
    speedups = {"dp": 1.0, "mp": 0.03, "hypar": 2.7}
    figure, (panel,) = drawn(chart(axes, rows_of(axes, lambda at: {"speedup": speedups[at["strategy"]]}), "title"))
    assert panel.get_yscale() == "log"
    figure.canvas.draw()
    pixels = [bar.get_window_extent().height for bar in panel.containers[0]]
    assert min(pixels) > 10
    assert pixels[1] < pixels[0] < pixels[2]


def test_lines_that_coincide_are_all_seen() -> None:
    axes = {"strategy": ["hypar", "optimal", "dp"], "array.levels": LEVELS}
    times = {"hypar": 2.0, "optimal": 2.0, "dp": 3.0}
    _, (panel,) = drawn(chart(axes, rows_of(axes, lambda at: {"step_time_s": times[at["strategy"]]}), "title"))
    widths = {str(line.get_label()): line.get_linewidth() for line in panel.lines}
    assert widths["hypar"] > widths["optimal"] + 2, "the lower one looks out on both sides"
    assert widths["dp"] == widths["optimal"]
    assert len({line.get_marker() for line in panel.lines}) == 3


def test_which_lines_cover_which() -> None:
    flat, same, other = {1.0: 1.0, 2.0: 1.0, 3.0: 1.0}, {1.0: 1.0, 2.0: 1.001, 3.0: 5.0}, {1.0: 1.0, 2.0: 2.0, 3.0: 1.0}
    assert covering_lines([flat, same, other]) == [1, 0, 0], "those that only meet do not cover each other"
    assert covering_lines([flat, flat, flat]) == [2, 1, 0]
    assert covering_lines([{1.0: 1.0}, {1.0: 1.0}]) == [1, 0]


def test_a_heat_map_has_a_cell_for_each_run() -> None:
    axes = {"array.levels": LEVELS, "batch_size": BATCHES}
    figure, (panel,) = drawn(chart(axes, numbered(axes), "title"))
    (image,) = panel.images
    assert image.get_array().tolist() == [[1, 3, 5], [2, 4, 6]]  # type: ignore[union-attr]
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("levels", "batch size")
    assert [text.get_text() for text in panel.texts] == ["1.00 s", "3.00 s", "5.00 s", "2.00 s", "4.00 s", "6.00 s"]
    assert len(figure.axes) == 2, "one scale of colours"


def test_panels_share_their_scale() -> None:
    axes = {"network": NETWORKS, "strategy": STRATEGY_NAMES, "array.levels": LEVELS}
    _, panels = drawn(chart(axes, numbered(axes), "title"))
    assert [panel.get_title() for panel in panels] == ["network sfc", "network lenet_c"]
    assert panels[0].get_ylim() == panels[1].get_ylim()
    assert panels[0].get_xlim() == panels[1].get_xlim()
    assert [len(panel.lines) for panel in panels] == [2, 2]
    maps = {"network": NETWORKS, "batch_size": BATCHES, "array.levels": LEVELS}
    figure, panels = drawn(chart(maps, numbered(maps), "title"))
    assert {panel.images[0].get_clim() for panel in panels} == {(1.0, 12.0)}
    assert len(figure.axes) == 3


def test_swept_objectives_are_drawn_by_what_each_makes_least() -> None:
    axes = {"objective": ["communication", "time", "energy"], "network": NETWORKS}
    metrics = {"step_time_s": 1.0, "communication_bytes": 2e9, "step_energy_j": 3.0, "speedup": 4.0}
    figure, panels = drawn(chart(axes, rows_of(axes, lambda _: metrics), "title"))
    assert [panel.get_ylabel() for panel in panels] == ["communication", "step time", "energy"]
    assert [len(panel.containers) for panel in panels] == [3, 3, 3]
    assert [heights(panel)[0] for panel in panels] == [2e9, 1, 3]
    assert figure.get_suptitle() == "title"


def test_runs_without_a_value_are_told() -> None:
    axes = {"strategy": ["dp", "mp", "hypar"]}
    rows = [row for row in numbered(axes) if row.axes["strategy"] != "mp"]
    _, (panel,) = drawn(chart(axes, rows, "title"))
    assert [text.get_text() for text in panel.texts if text.get_text()] == ["1 s", "3 s", "no value"]
    lines = {"schedule": ["gpipe", "1f1b"], "pipeline.micro_batches": ["4", "8"]}
    figure, _ = drawn(chart(lines, [row for row in numbered(lines) if row.axes["schedule"] == "gpipe"], "title"))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["gpipe", "1f1b (no value)"]


def test_the_objective_of_all_runs_is_drawn() -> None:
    axes = {"strategy": STRATEGY_NAMES}
    rows = numbered(axes, step_energy_j=3.0, speedup=2.0)
    _, (panel,) = drawn(chart(axes, rows, "title", objective="energy"))
    assert panel.get_ylabel() == "energy"
    _, (panel,) = drawn(chart(axes, rows, "title"))
    assert panel.get_ylabel() == "speedup over the baseline"
    _, (panel,) = drawn(chart(axes, rows, "title", objective="a user's own"))
    assert panel.get_ylabel() == "speedup over the baseline"


def test_axes_of_one_value_play_no_part() -> None:
    axes = {"network": NETWORKS, "strategy": ["dp"]}
    _, (panel,) = drawn(chart(axes, numbered(axes), "title"))
    assert ticks(panel, "x") == NETWORKS


@pytest.mark.filterwarnings("error")
def test_names_with_signs_of_other_languages_are_text() -> None:
    axes = {"network": ["$a$", "b_c"]}
    picture = chart_png(axes, numbered(axes), "100 $")
    assert picture is not None
    assert picture.startswith(b"\x89PNG")


def test_no_picture_of_nothing_or_of_too_much() -> None:
    four = {"network": NETWORKS, "strategy": STRATEGY_NAMES, "array.levels": LEVELS, "batch_size": BATCHES}
    assert chart(four, numbered(four), "title") is None
    assert chart({"strategy": ["dp"]}, numbered({"strategy": ["dp"]}), "title") is None
    assert chart({"strategy": STRATEGY_NAMES}, [], "title") is None
    failed = [Row({"strategy": name}, {}, "FAILED") for name in STRATEGY_NAMES]
    assert chart({"strategy": STRATEGY_NAMES}, failed, "title") is None


def test_numbers_that_are_asked_for_have_a_panel_each() -> None:
    axes = {"schedule": ["gpipe", "1f1b"]}
    columns = [column_of("step_time_s"), column_of("bubble_fraction"), column_of("memory_per_accelerator_bytes")]
    rows = numbered(axes, bubble_fraction=0.25, memory_per_accelerator_bytes=3e9)
    _, panels = drawn(chart(axes, rows, "title", columns))
    assert [panel.get_title() for panel in panels] == ["step time", "bubble", "memory"]
    assert [heights(panel) for panel in panels] == [[1.0, 2.0], [0.25, 0.25], [3e9, 3e9]]
    assert "25 %" in [words.get_text() for words in panels[1].texts]
    three = {"network": NETWORKS, "strategy": STRATEGY_NAMES, "array.levels": LEVELS}
    _, panels = drawn(chart(three, numbered(three), "title", columns[:1]))
    assert [panel.get_title() for panel in panels] == ["network sfc", "network lenet_c"]
