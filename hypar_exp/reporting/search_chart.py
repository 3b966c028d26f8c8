"""The picture of a search: two objectives with their Pareto front, or one objective and its best value so far."""

from __future__ import annotations

import io
import itertools
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE_RANGE = 20.0
"""Values that differ by more than this factor are drawn on a logarithmic scale."""
FRONT, OTHER, OUTSIDE = "#1f4e79", "#8fb3d1", "#b0b0b0"


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
    from matplotlib.figure import Figure

    with rc_context({"text.parse_math": False}):  # names are text, also with a $ in them
        figure = Figure(figsize=(8.0, 5.2), layout="constrained", dpi=120)
        figure.suptitle(textwrap.fill(title, 80), fontsize=12)
        plot = figure.add_subplot()
        if len(objectives) == 1:
            _best_so_far(plot, points, objectives[0], min if directions[0] == "minimize" else max)
        else:
            _front(plot, points, objectives, directions)
        if bounds:
            words = ", ".join(f"{text} at most {bound:g}" for text, bound in bounds.items())
            plot.set_title(words, fontsize=9, color="#555555")
        plot.grid(alpha=0.25, which="both")
        for side in ("top", "right"):
            plot.spines[side].set_visible(False)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        return picture.getvalue()


def _front(plot: Axes, points: Sequence[Point], objectives: Sequence[str], directions: Sequence[str]) -> None:
    x_name, y_name = objectives[:2]
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
    plot.set_xlabel(f"{x_name} ({better[directions[0]]})")
    plot.set_ylabel(f"{y_name} ({better[directions[1]]})")
    for axis, values in (
        (plot.set_xscale, [p.values[0] for p in points]),
        (plot.set_yscale, [p.values[1] for p in points]),
    ):
        if _is_wide(values):
            axis("log")


def _best_so_far(plot: Axes, points: Sequence[Point], objective: str, best: Callable[[float, float], float]) -> None:
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
    plot.set_ylabel(objective)
    if _is_wide([point.values[0] for point in points]):
        plot.set_yscale("log")


def _columns(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [point.values[0] for point in points], [point.values[1] for point in points]


def _is_wide(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) / min(values) > WIDE_RANGE
