"""The forms of a chart: lines, grouped bars and a heat map, each drawn into one panel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from hypar_exp.reporting.palette import COLOUR_MAP, FAINT, INK, marks_of
from hypar_exp.reporting.sweep_table import COLUMNS, Column, Row, axis_heads, axis_value
from hypar_exp.units import without_zeros

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AxisValues = Mapping[str, Sequence[str]]
"""Key -> values, in order."""
MOST_TICKS, MOST_NUMBERED_CELLS, MOST_NUMBERED_BARS, MOST_LEVEL_NUMBERS = 12, 120, 36, 8
WIDE_RANGE = 20.0
"""Values that differ by more than this factor are drawn on a logarithmic scale."""
SERIES_BY_NATURE = ("strategy", "objective", "schedule")
"""What people compare side by side."""
LINE_WIDTH, WIDER, WIDEST, MARKER_SIZE = 1.6, 3.2, 7.0, 4.5
"""In points; a line that others cover is wider by `WIDER` for each of them, `WIDEST` at most, so that all are seen."""
MOST_DECADES = 4
"""More than this have a tick at powers of ten only."""
NO_VALUE = "no value"
"""In place of runs that failed, or do not fit."""
ROOM = 2.0
"""The factor below the least bar at which a logarithmic axis begins, so that no bar has no height."""


class Draw(Protocol):
    """Draws runs into a panel; `scaled_by` are the runs of all panels that share its scale."""

    def __call__(
        self, plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column, scaled_by: Sequence[Row], /
    ) -> None: ...


def lines(plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column, scaled_by: Sequence[Row]) -> None:
    """A line over the axis of numbers, for each value of the other axis if there is one."""
    x_axis = next(key for key, values in axes.items() if is_numeric(values))
    series_axis = next((key for key in axes if key != x_axis), None)
    names = list(axes[series_axis]) if series_axis else [""]
    points = [
        {
            float(row.axes[x_axis]): row.metrics[column.key]
            for row in rows
            if series_axis is None or row.axes[series_axis] == name
        }
        for name in names
    ]
    marks = marks_of(names) if series_axis else {"": marks_of(["hypar"])["hypar"]}
    covering = covering_lines(points)
    wider = min(WIDER, WIDEST / max(1, *covering))
    for name, line, covers in zip(names, points, covering, strict=True):
        mark = marks[name]
        x = sorted(line)
        plot.plot(
            x, [line[place] for place in x], linestyle=mark.line_style, color=mark.colour, marker=mark.marker,
            markersize=MARKER_SIZE + wider * covers, linewidth=LINE_WIDTH + wider * covers,
            label=(name if line else f"{name} ({NO_VALUE})") if series_axis else None, solid_capstyle="butt",
            dash_capstyle="butt",
        )  # fmt: skip
    _number_ticks(plot, x_axis, sorted({float(value) for value in axes[x_axis]}))
    plot.set_xlabel(axis_heads(list(axes))[x_axis])
    _finish(plot, column, scaled_by, series_axis, from_zero=False)


def covering_lines(points: Sequence[Mapping[float, float]]) -> list[int]:
    """How many lines lie one above the other on each of some lines (x -> y), each drawn over those before it."""
    covers = [0] * len(points)
    for under in reversed(range(len(points))):
        for over in range(under + 1, len(points)):
            if _coincide(points[under], points[over]):
                covers[under] = max(covers[under], covers[over] + 1)
    return covers


def _coincide(one: Mapping[float, float], other: Mapping[float, float]) -> bool:
    """Whether two lines share a stretch: two neighbouring points, or their only one."""
    alike = [x in other and math.isclose(one[x], other[x], rel_tol=0.01) for x in sorted(one)]
    return any(a and b for a, b in itertools.pairwise(alike)) if len(alike) > 1 else any(alike)


def _number_ticks(plot: Axes, axis: str, values: Sequence[float]) -> None:
    """A tick at each value, or round ones where there are many; with units where the axis has them."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    def label(value: float) -> str:
        return without_zeros(axis_value(axis, f"{value:g}"))

    if values[0] > 0 and values[-1] / values[0] > WIDE_RANGE:
        plot.set_xscale("log")
    if len(values) <= MOST_TICKS:
        labels = [label(value) for value in values]
        slant = sum(map(len, labels)) > 40
        plot.set_xticks(values, labels, rotation=40 if slant else 0, ha="right" if slant else "center")
        plot.xaxis.set_minor_locator(NullLocator())
    else:
        plot.xaxis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))


def bars(plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column, scaled_by: Sequence[Row]) -> None:
    """Bars, grouped where there are two axes: the longer makes the groups, a strategy is a colour."""
    group_axis = max(axes, key=lambda key: (key not in SERIES_BY_NATURE, key != SERIES_BY_NATURE[0], len(axes[key])))
    series_axis = next((key for key in axes if key != group_axis), None)
    groups, series = axes[group_axis], list(axes[series_axis]) if series_axis else [None]
    width = 0.8 / len(series)
    names = list(groups) if series_axis is None else [name for name in series if name is not None]
    marks = marks_of(names) if "strategy" in axes or series_axis else dict.fromkeys(names, marks_of(["hypar"])["hypar"])
    values = [row.metrics[column.key] for row in scaled_by]
    bottom = min(values) / ROOM if _is_wide(values) else 0.0
    numbered = len(groups) * len(series) <= MOST_NUMBERED_BARS
    for at, name in enumerate(series):
        chosen = {row.axes[group_axis]: row.metrics[column.key] for row in rows
                  if series_axis is None or row.axes[series_axis] == name}  # fmt: skip
        looks = [marks[group if name is None else name] for group in groups]
        places = [place + (at - (len(series) - 1) / 2) * width for place in range(len(groups))]
        heights = [chosen.get(group, math.nan) for group in groups]
        drawn = plot.bar(
            places, [height - bottom for height in heights], width * 0.94, bottom, label=name, linewidth=0.5,
            color=[look.colour for look in looks], edgecolor=[look.ink for look in looks],
            hatch=[look.hatch for look in looks],
        )  # fmt: skip
        if numbered:
            words = ["" if math.isnan(height) else column.tick(height) for height in heights]
            upright = len(groups) * len(series) > MOST_LEVEL_NUMBERS
            plot.bar_label(drawn, words, padding=2, fontsize=7, rotation=90 if upright else 0)
        for place in (place for place, height in zip(places, heights, strict=True) if math.isnan(height)):
            plot.text(
                place, 0.02, NO_VALUE, transform=plot.get_xaxis_transform(), rotation=90, fontsize=7, color=FAINT,
                ha="center", va="bottom",
            )  # fmt: skip
    labels = [axis_value(group_axis, group) for group in groups]
    slant = sum(map(len, labels)) > 60
    plot.set_xticks(range(len(groups)), labels, rotation=40 if slant else 0, ha="right" if slant else "center")
    plot.set_xlabel(axis_heads(list(axes))[group_axis])
    _finish(plot, column, scaled_by, series_axis, from_zero=True)
    if _is_wide(values):
        plot.set_ylim(bottom, max(values) * ROOM)
    else:
        plot.set_ylim(0, 1.15 * max(values))


def heat_map(plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column, scaled_by: Sequence[Row]) -> None:
    """A cell for each pair of numbers, the first axis to the right."""
    import numpy as np
    from matplotlib.colors import LogNorm, Normalize

    (x_axis, x_values), (y_axis, y_values) = ((key, sorted(values, key=float)) for key, values in axes.items())
    cells = np.full((len(y_values), len(x_values)), np.nan)
    for row in rows:
        cells[y_values.index(row.axes[y_axis]), x_values.index(row.axes[x_axis])] = row.metrics[column.key]
    values = [row.metrics[column.key] for row in scaled_by]
    norm = (LogNorm if _is_wide(values) else Normalize)(min(values), max(values))
    image = plot.imshow(cells, origin="lower", aspect="auto", cmap=COLOUR_MAP, norm=norm, label=named(column))
    image.ticks = lambda value, _: column.tick(value)  # type: ignore[attr-defined]
    plot.set_xticks(range(len(x_values)), [axis_value(x_axis, value) for value in x_values])
    plot.set_yticks(range(len(y_values)), [axis_value(y_axis, value) for value in y_values])
    heads = axis_heads(list(axes))
    plot.set_xlabel(heads[x_axis])
    plot.set_ylabel(heads[y_axis])
    if cells.size <= MOST_NUMBERED_CELLS:
        for (y, x), value in np.ndenumerate(cells):
            if not np.isnan(value):
                dark = float(norm(float(value))) < 0.5
                words = column.shown(value).removesuffix(" %")
                plot.text(x, y, words, ha="center", va="center", fontsize=8, color="white" if dark else "black")


def _finish(plot: Axes, column: Column, scaled_by: Sequence[Row], series_axis: str | None, *, from_zero: bool) -> None:
    scale_axis(plot, "y", column, [row.metrics[column.key] for row in scaled_by])
    if column.unit is None:
        plot.axhline(1.0, color=INK, linewidth=0.8, linestyle=":", zorder=0.5 if from_zero else 3)
    plot.grid(axis="y", alpha=0.3)
    plot.set_axisbelow(True)
    plot.set_ylabel(named(column))
    plot.set_gid(None if series_axis is None else axis_heads([series_axis])[series_axis])
    for side in ("top", "right"):
        plot.spines[side].set_visible(False)


def scale_axis(plot: Axes, which: Literal["x", "y"], column: Column, values: Sequence[float]) -> None:
    """Ticks with units, and a logarithmic scale where values differ widely."""
    axis = plot.xaxis if which == "x" else plot.yaxis
    if _is_wide(values):
        from matplotlib.ticker import LogLocator, NullFormatter

        plot.set(**{f"{which}scale": "log"})
        decades = math.log10(max(values) / min(values))
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < MOST_DECADES else (1.0,)))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(lambda value, _: column.tick(value))


def _is_wide(values: Sequence[float]) -> bool:
    return min(values, default=0) > 0 and max(values) / min(values) > WIDE_RANGE


def is_numeric(values: Sequence[str]) -> bool:
    """Whether all values of an axis are numbers."""
    try:
        return all(math.isfinite(float(value)) for value in values)
    except ValueError:
        return False


def named(column: Column) -> str:
    """A number's name in a picture."""
    return f"{column.title} over the baseline" if column in COLUMNS and column.unit is None else column.title
