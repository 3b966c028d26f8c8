"""A picture of many runs, in a form that follows from the axes they are swept over.

One axis of numbers is a line, one of names bars; two of names are grouped bars, two of numbers a heat map, one of each
a line for every name. A third axis makes a panel for each of its values.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hypar_exp.reporting.sweep_table import COLUMNS, Column, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AxisValues = Mapping[str, Sequence[str]]
"""Key -> values, in order."""
MOST_PANELS, MOST_SERIES, MOST_NUMBERED_CELLS = 12, 12, 120
SERIES_BY_NATURE = "strategy"
"""What people compare side by side."""
WIDE_RANGE = 20.0
"""Values that differ by more than this factor are drawn on a logarithmic scale."""
COLOURS = (
    "#1f4e79", "#e07b39", "#5b9f6d", "#b04a5a", "#8c7bb5", "#c9a227",
    "#4fb0c6", "#7f7f7f", "#2d6a4f", "#d291bc", "#a0522d", "#3d5a80",
)  # fmt: skip


def chart_png(axes: AxisValues, rows: Sequence[Row], title: str, column: Column | None = None) -> bytes | None:
    """The picture of one number of the runs.

    Args:
        axes: the swept axes; those of one value play no part.
        rows: the runs; those without the number are left out.
        title: above it.
        column: the number; None for the optimality gap where all runs have one, the speedup where the strategy is
            swept and all runs have a baseline, and the step time else.

    Returns:
        None where there is nothing to draw, or more than a picture can hold (four axes, or too many panels or series).
    """
    swept = {key: list(values) for key, values in axes.items() if len(values) > 1}
    if column is None:
        column = _main_column(swept, [row for row in rows if row.metrics])
    rows = [row for row in rows if column.key in row.metrics]
    panel_axis = _panel_axis(swept) if len(swept) == 3 else None
    inner = [key for key in swept if key != panel_axis]
    panels = swept[panel_axis] if panel_axis else [""]
    draw = _form(swept, inner)
    if not rows or draw is None or len(panels) > MOST_PANELS:
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"text.parse_math": False}):  # names are text, also with a $ in them
        across = min(len(panels), 3)
        down = math.ceil(len(panels) / across)
        width = 8.0 if across == 1 else 4.6 * across
        figure = Figure(figsize=(width, 4.6 if down == 1 else 3.2 * down), layout="constrained", dpi=120)
        figure.suptitle(f"{title}: {_named(column)}", fontsize=12)
        for at, value in enumerate(panels):
            plot = figure.add_subplot(down, across, at + 1)
            within = [row for row in rows if not panel_axis or row.axes[panel_axis] == value]
            draw(plot, within, {key: swept[key] for key in inner}, column)
            if panel_axis:
                plot.set_title(f"{panel_axis}={value}", fontsize=10)
        legend_of = figure.axes[0]
        handles, labels = legend_of.get_legend_handles_labels()
        if handles:
            figure.legend(
                handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False, fontsize=9,
                title=legend_of.get_gid(),
            )  # fmt: skip
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        return picture.getvalue()


Draw = Callable[["Axes", Sequence[Row], AxisValues, Column], None]


def _form(swept: AxisValues, inner: Sequence[str]) -> Draw | None:
    numeric = [_is_numeric(swept[key]) for key in inner]
    if len(inner) == 1:
        return _lines if numeric[0] else _bars
    if len(inner) != 2:
        return None
    if all(numeric):
        return _heat_map
    series = min((len(swept[key]) for key, number in zip(inner, numeric, strict=True) if not number), default=0)
    if series > MOST_SERIES:
        return None
    return _lines if any(numeric) else _bars


def _lines(plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column) -> None:
    """A line over the axis of numbers, for each value of the other axis if there is one."""
    x_axis = next(key for key, values in axes.items() if _is_numeric(values))
    series_axis = next((key for key in axes if key != x_axis), None)
    for at, name in enumerate(axes[series_axis] if series_axis else [None]):
        points = sorted(
            (float(row.axes[x_axis]), row.metrics[column.key])
            for row in rows
            if series_axis is None or row.axes[series_axis] == name
        )
        if points:
            x, y = zip(*points, strict=True)
            plot.plot(x, y, marker="o", markersize=4, color=COLOURS[at % len(COLOURS)], label=name)
    ticks = sorted(float(value) for value in axes[x_axis])
    if ticks[0] > 0 and ticks[-1] / ticks[0] > WIDE_RANGE:
        plot.set_xscale("log")
    elif len(ticks) <= 12:
        plot.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    plot.set_xlabel(x_axis)
    _finish(plot, rows, column, series_axis, from_zero=False)


def _bars(plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column) -> None:
    """Bars, in groups where there are two axes: the longer one makes the groups, but a strategy is a colour."""
    group_axis = max(axes, key=lambda key: (key != SERIES_BY_NATURE, len(axes[key])))
    series_axis = next((key for key in axes if key != group_axis), None)
    groups, series = axes[group_axis], axes[series_axis] if series_axis else [None]
    width = 0.8 / len(series)
    bottom = 1.0 if column.unit is None and _is_wide(rows, column) else 0.0  # no ratio is 0 on a logarithmic scale
    for at, name in enumerate(series):
        chosen = {row.axes[group_axis]: row.metrics[column.key] for row in rows
                  if series_axis is None or row.axes[series_axis] == name}  # fmt: skip
        places = [place for place, group in enumerate(groups) if group in chosen]
        x = [place + (at - (len(series) - 1) / 2) * width for place in places]
        heights = [chosen[groups[place]] - bottom for place in places]
        plot.bar(x, heights, width, bottom, color=COLOURS[at % len(COLOURS)], label=name)
    slant = sum(map(len, groups)) > 60
    plot.set_xticks(range(len(groups)), groups, rotation=40 if slant else 0, ha="right" if slant else "center")
    plot.set_xlabel(group_axis)
    _finish(plot, rows, column, series_axis, from_zero=True)


def _heat_map(plot: Axes, rows: Sequence[Row], axes: AxisValues, column: Column) -> None:
    """A cell for each pair of numbers, the first axis to the right."""
    import numpy as np
    from matplotlib.colors import LogNorm

    (x_axis, x_values), (y_axis, y_values) = ((key, sorted(values, key=float)) for key, values in axes.items())
    cells = np.full((len(y_values), len(x_values)), np.nan)
    for row in rows:
        cells[y_values.index(row.axes[y_axis]), x_values.index(row.axes[x_axis])] = row.metrics[column.key]
    wide = _is_wide(rows, column)
    image = plot.imshow(cells, origin="lower", aspect="auto", cmap="viridis", norm=LogNorm() if wide else None)
    plot.figure.colorbar(image, ax=plot, label=_named(column), format=lambda value, _: _tick(column, value))
    plot.set_xticks(range(len(x_values)), x_values)
    plot.set_yticks(range(len(y_values)), y_values)
    plot.set_xlabel(x_axis)
    plot.set_ylabel(y_axis)
    if cells.size <= MOST_NUMBERED_CELLS:
        for (y, x), value in np.ndenumerate(cells):
            if not np.isnan(value):
                dark = float(image.norm(float(value))) < 0.6  # type: ignore[arg-type]
                words = column.shown(value).removesuffix(" %")
                plot.text(x, y, words, ha="center", va="center", fontsize=8, color="white" if dark else "black")


def _finish(plot: Axes, rows: Sequence[Row], column: Column, series_axis: str | None, *, from_zero: bool) -> None:
    if _is_wide(rows, column):
        from matplotlib.ticker import LogLocator, NullFormatter

        plot.set_yscale("log")
        plot.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        plot.yaxis.set_minor_formatter(NullFormatter())
    elif from_zero:
        plot.set_ylim(bottom=0)
    if column.unit is None:
        plot.axhline(1.0, color="#555555", linewidth=0.8, linestyle=":")
    plot.yaxis.set_major_formatter(lambda value, _: _tick(column, value))
    plot.grid(axis="y", alpha=0.3)
    plot.set_axisbelow(True)
    plot.set_ylabel(_named(column))
    plot.set_gid(series_axis)
    for side in ("top", "right"):
        plot.spines[side].set_visible(False)


def _main_column(swept: AxisValues, rows: Sequence[Row]) -> Column:
    by_key = {column.key: column for column in COLUMNS}
    if rows and all("optimality_gap" in row.metrics for row in rows):
        return by_key["optimality_gap"]
    compared = "strategy" in swept and all("speedup" in row.metrics for row in rows)
    return by_key["speedup" if compared else "step_time_s"]


def _panel_axis(swept: AxisValues) -> str:
    """Of three axes the one to make panels of: names before numbers, then the one with most values that fit."""
    fitting = [key for key in swept if len(swept[key]) <= MOST_PANELS] or list(swept)
    return max(fitting, key=lambda key: (key != SERIES_BY_NATURE, not _is_numeric(swept[key]), len(swept[key])))


def _is_wide(rows: Sequence[Row], column: Column) -> bool:
    values = [row.metrics[column.key] for row in rows]
    return min(values, default=0) > 0 and max(values) / min(values) > WIDE_RANGE


def _is_numeric(values: Sequence[str]) -> bool:
    try:
        return all(math.isfinite(float(value)) for value in values)
    except ValueError:
        return False


def _tick(column: Column, value: float) -> str:
    """A round number of an axis, without the zeros that a table's column needs."""
    number, _, unit = column.shown(value).removesuffix("x").partition(" ")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {unit}" if unit else f"{number}x"


def _named(column: Column) -> str:
    return f"{column.title} over the baseline" if column in COLUMNS and column.unit is None else column.title
