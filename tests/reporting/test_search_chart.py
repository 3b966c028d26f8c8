"""What a search's picture shows."""

from __future__ import annotations

import numpy as np

from hypar_exp.reporting.search_chart import Point, search_figure

POINTS = [
    Point((1.0, 50_000.0), within_bounds=True, on_front=True),
    Point((100.0, 100.0), within_bounds=True, on_front=True),
    Point((100.0, 200.0), within_bounds=True, on_front=False),
    Point((0.5, 10.0), within_bounds=False, on_front=False),
]


def test_two_objectives_have_a_front_and_ticks_with_units() -> None:
    objectives = ["step_time_s", "accelerators * hardware.processing_elements"]
    figure = search_figure(POINTS, objectives, ["minimize", "minimize"], {"step_energy_j": 34.0}, "title")
    (plot,) = figure.axes
    assert plot.get_xlabel() == "step time (less is better)"
    assert " ".join(plot.get_ylabel().split()) == "accelerators * hardware.processing_elements (less is better)"
    assert plot.get_title() == "energy at most 34 J"
    counts = {str(points.get_label()): len(np.asarray(points.get_offsets())) for points in plot.collections}
    assert counts == {"above a bound": 1, "trial": 1, "Pareto front (2)": 2}
    figure.canvas.draw()
    across, up = ([label.get_text() for label in axis.get_ticklabels()] for axis in (plot.xaxis, plot.yaxis))
    assert {"1 s", "10 s", "100 s"} <= set(across)
    assert {"100", "1 k", "10 k"} <= set(up)


def test_one_objective_has_its_best_so_far() -> None:
    figure = search_figure(POINTS, ["step_time_s"], ["minimize"], {}, "title")
    (plot,) = figure.axes
    (best,) = plot.lines
    assert np.asarray(best.get_ydata()).tolist() == [1, 1, 1]
    assert (plot.get_xlabel(), plot.get_ylabel()) == ("trial", "step time")


def test_a_product_has_no_unit_of_its_last_factor() -> None:
    figure = search_figure(POINTS, ["step_time_s * step_energy_j"], ["minimize"], {}, "title")
    figure.canvas.draw()
    assert not any("J" in label.get_text() for label in figure.axes[0].yaxis.get_ticklabels())
