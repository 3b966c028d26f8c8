"""The picture of a search: two objectives with their Pareto front, or one objective and its best value so far."""

from __future__ import annotations

import io
import itertools
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypar_exp.reporting.chart_forms import scale_axis
from hypar_exp.reporting.palette import FAINT, STRATEGIES
from hypar_exp.reporting.sweep_table import Column, column_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FRONT, OTHER, OUTSIDE = STRATEGIES["hypar"].colour, STRATEGIES["dp"].colour, FAINT


@dataclass(frozen=True)
class Point:
    """A trial: its objectives, whether it keeps the bounds, and whether none that keeps them is better."""

    values: Sequence[float]
    within_bounds: bool
    on_front: bool


def search_png(
    points: Sequence[Point],
    objectives: Sequence[str],
    directions: Sequence[str],
    bounds: Mapping[str, float],
    title: str,
) -> bytes:
    """The picture of a search; of more than two objectives the first two.

    Args:
        points: the trials, in the order in which they were made; at least one.
        objectives: what each value of a point is.
        directions: `minimize` or `maximize`, for each objective.
        bounds: the most that some quantities may be.
        title: above it.
    """
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):  # names are text, also with a $ in them
        picture = io.BytesIO()
        search_figure(points, objectives, directions, bounds, title).savefig(picture, format="png")
        return picture.getvalue()


def search_figure(
    points: Sequence[Point],
    objectives: Sequence[str],
    directions: Sequence[str],
    bounds: Mapping[str, float],
    title: str,
) -> Figure:
    """What `search_png` makes a file of."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.2), layout="constrained", dpi=120)
    figure.suptitle(textwrap.fill(title, 80), fontsize=12)
    plot = figure.add_subplot()
    columns = [column_of(objective) for objective in objectives]
    if len(objectives) == 1:
        _best_so_far(plot, points, columns[0], min if directions[0] == "minimize" else max)
    else:
        _front(plot, points, columns, directions)
    if bounds:
        of = {text: column_of(text) for text in bounds}
        words = ", ".join(f"{of[text].title} at most {of[text].tick(bound)}" for text, bound in bounds.items())
        plot.set_title(words, fontsize=9, color="#555555")
    plot.grid(alpha=0.25)
    for side in ("top", "right"):
        plot.spines[side].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _front(plot: Axes, points: Sequence[Point], columns: Sequence[Column], directions: Sequence[str]) -> None:
    across, up = columns[:2]
    groups = {
        "above a bound": ([point for point in points if not point.within_bounds], OUTSIDE, "x"),
        "trial": ([point for point in points if point.within_bounds and not point.on_front], OTHER, "o"),
    }
    for label, (group, colour, marker) in groups.items():
        if group:
            plot.scatter(*_columns(group), s=22, color=colour, marker=marker, label=label, linewidths=1.0)
    front = sorted({(point.values[0], point.values[1]) for point in points if point.on_front})
    if front:
        x, y = zip(*front, strict=True)
        where = "post" if directions[0] == "minimize" else "pre"
        plot.step(x, y, where=where, color=FRONT, linewidth=1.0, alpha=0.6)  # type: ignore[arg-type]
        plot.scatter(x, y, s=36, color=FRONT, label=f"Pareto front ({len(front)})", zorder=3)
    better = {"minimize": "less is better", "maximize": "more is better"}
    plot.set_xlabel(f"{across.title} ({better[directions[0]]})")
    plot.set_ylabel(textwrap.fill(f"{up.title} ({better[directions[1]]})", 50))
    scale_axis(plot, "x", across, [point.values[0] for point in points])
    scale_axis(plot, "y", up, [point.values[1] for point in points])


def _best_so_far(plot: Axes, points: Sequence[Point], column: Column, best: Callable[[float, float], float]) -> None:
    within = [(at, point.values[0]) for at, point in enumerate(points, 1) if point.within_bounds]
    outside = [(at, point.values[0]) for at, point in enumerate(points, 1) if not point.within_bounds]
    if outside:
        x, y = zip(*outside, strict=True)
        plot.scatter(x, y, s=22, color=OUTSIDE, marker="x", label="above a bound")
    if within:
        places, values = zip(*within, strict=True)
        plot.scatter(places, values, s=22, color=OTHER, label="trial")
        plot.step(places, list(itertools.accumulate(values, best)), where="post", color=FRONT, label="best so far")
    plot.set_xlabel("trial")
    plot.set_ylabel(column.title)
    scale_axis(plot, "y", column, [point.values[0] for point in points])


def _columns(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [point.values[0] for point in points], [point.values[1] for point in points]
