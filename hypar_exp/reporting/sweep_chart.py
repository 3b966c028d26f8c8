"""A picture of many runs, in a form that follows from the axes they are swept over.

One axis of numbers is a line, one of names bars; two of names are grouped bars, two of numbers a heat map, one of each
a line for every name. A third axis makes a panel for each of its values; swept objectives make a panel for each of the
numbers that they make least, and so do numbers that are asked for. Panels of one number share its scale.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypar_exp.reporting.chart_forms import SERIES_BY_NATURE, AxisValues, Draw, bars, heat_map, is_numeric, lines, named
from hypar_exp.reporting.palette import INK
from hypar_exp.reporting.sweep_table import COLUMNS, Column, Row, axis_heads, axis_value, columns_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS, MOST_SERIES = 12, 12
OBJECTIVE = "objective"
MADE_LEAST = {"communication": "communication_bytes", "time": "step_time_s", "energy": "step_energy_j"}
"""Objective -> the number that it makes least."""
_BY_KEY = {column.key: column for column in COLUMNS}


@dataclass(frozen=True)
class _Panel:
    title: str
    rows: Sequence[Row]
    column: Column


def chart_png(
    axes: AxisValues, rows: Sequence[Row], title: str, columns: Sequence[Column] = (), objective: str | None = None
) -> bytes | None:
    """`chart` as a PNG file; None where there is none."""
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):  # names are text, also with a $ in them
        figure = chart(axes, rows, title, columns, objective)
        if figure is None:
            return None
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        return picture.getvalue()


def chart(
    axes: AxisValues, rows: Sequence[Row], title: str, columns: Sequence[Column] = (), objective: str | None = None
) -> Figure | None:
    """The picture of a number of the runs, or of several beside each other.

    Args:
        axes: the swept axes; those of one value play no part.
        rows: the runs; those without the number are left out.
        title: above it.
        columns: the numbers; none for what the runs were made to find out: what their objectives make least where these
            were chosen, the optimality gap where all runs have one, the speedup where the strategy is swept and all
            runs have a baseline, and the step time else.
        objective: the objective that was chosen for all runs; None for none.

    Returns:
        None where there is nothing to draw, or more than a picture can hold (four axes, three and several numbers, or
        too many panels or series).
    """
    swept = {key: list(values) for key, values in axes.items() if len(values) > 1}
    rows = [row for row in rows if row.metrics]
    if not columns and len(swept) <= 2:
        columns = [_BY_KEY[MADE_LEAST[name]] for name in swept.get(OBJECTIVE, ()) if name in MADE_LEAST]
    columns = columns or [_main_column(swept, rows, objective)]
    if len(swept) == 3 and len(columns) == 1:
        panel_axis = _panel_axis(swept)
        panels = _panels(swept, rows, columns[0], panel_axis)
        inner = [key for key in swept if key != panel_axis]
    else:
        panels = [_Panel(named(each) if len(columns) > 1 else "", _having(rows, each), each) for each in columns]
        inner = list(swept)
    draw = _form(swept, inner)
    if draw is None or not any(panel.rows for panel in panels) or len(panels) > MOST_PANELS:
        return None
    return _figure(panels, {key: swept[key] for key in inner}, draw, title)


def _panels(swept: AxisValues, rows: Sequence[Row], column: Column, axis: str) -> list[_Panel]:
    rows = _having(rows, column)
    head = axis_heads(list(swept))[axis]
    return [
        _Panel(f"{head} {axis_value(axis, value)}", [row for row in rows if row.axes[axis] == value], column)
        for value in swept[axis]
    ]


def _having(rows: Sequence[Row], column: Column) -> list[Row]:
    return [row for row in rows if column.key in row.metrics]


def _figure(panels: Sequence[_Panel], axes: AxisValues, draw: Draw, title: str) -> Figure:
    from matplotlib.figure import Figure

    across = min(len(panels), 3)
    down = math.ceil(len(panels) / across)
    width = 8.0 if across == 1 else 4.6 * across
    one_number = len({panel.column.key for panel in panels}) == 1
    figure = Figure(figsize=(width, 4.6 if down == 1 else 3.2 * down), layout="constrained", dpi=120)
    figure.suptitle(f"{title}: {named(panels[0].column)}" if one_number else title, fontsize=12, color=INK)
    plots = figure.subplots(down, across, sharex=True, sharey=one_number, squeeze=False).flatten().tolist()
    for plot in plots[len(panels) :]:
        plot.remove()
    for at, (plot, panel) in enumerate(zip(plots, panels, strict=False)):
        scaled_by = [row for other in panels for row in other.rows if other.column is panel.column]
        draw(plot, panel.rows, axes, panel.column, scaled_by)
        plot.set_title(panel.title, fontsize=10)
        lowest = at + across >= len(panels)
        plot.tick_params(labelbottom=lowest)
        if not lowest:
            plot.set_xlabel("")
        if at % across and one_number:
            plot.set_ylabel("")
    _legend(figure, plots[0])
    return figure


def _legend(figure: Figure, plot: Any) -> None:
    """The names of the series below all panels, or the scale of their colours beside them."""
    images = [image for axes in figure.axes for image in axes.images]
    if images:
        figure.colorbar(images[0], ax=figure.axes, label=plot.images[0].get_label(), format=plot.images[0].ticks)
    handles, labels = plot.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False, fontsize=9,
            title=plot.get_gid(), handlelength=3.2,
        )  # fmt: skip


def _form(swept: AxisValues, inner: Sequence[str]) -> Draw | None:
    numeric = [is_numeric(swept[key]) for key in inner]
    if len(inner) == 1:
        return lines if numeric[0] else bars
    if len(inner) != 2:
        return None
    if all(numeric):
        return heat_map
    series = min((len(swept[key]) for key, number in zip(inner, numeric, strict=True) if not number), default=0)
    if series > MOST_SERIES:
        return None
    return lines if any(numeric) else bars


def _main_column(swept: AxisValues, rows: Sequence[Row], objective: str | None) -> Column:
    if rows and all("optimality_gap" in row.metrics for row in rows):
        return _BY_KEY["optimality_gap"]
    if objective in MADE_LEAST:
        return _BY_KEY[MADE_LEAST[objective]]
    columns = columns_of(rows)
    if columns and columns[0] not in COLUMNS:
        return columns[0]  # of a workload that is no step
    compared = "strategy" in swept and all("speedup" in row.metrics for row in rows)
    return _BY_KEY["speedup" if compared else "step_time_s"]


def _panel_axis(swept: AxisValues) -> str:
    """Of three axes the one to make panels of: names before numbers, then the one with most values that fit."""
    fitting = [key for key in swept if len(swept[key]) <= MOST_PANELS] or list(swept)
    return max(fitting, key=lambda key: (key not in SERIES_BY_NATURE, not is_numeric(swept[key]), len(swept[key])))
