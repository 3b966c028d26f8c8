"""Figures 6, 7, 8, 12 and 13: grouped bars with their values written on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypar_exp.paper.comparison import Compared
from hypar_exp.paper.evidence import GMEAN, Evidence
from hypar_exp.paper.figures.style import MARKS, PUBLISHED, light_grid, new_figure, printed_name
from hypar_exp.reporting.palette import INK, Mark
from hypar_exp.units import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_OF_A_GROUP = 0.82


def grouped_bars(
    axis_label: str,
    series: Sequence[str],
    *,
    top: float,
    bottom: float = 0.0,
    logarithmic: bool = False,
    constant: str | None = None,
    group_names: Callable[[str], str] = printed_name,
) -> Callable[[Sequence[Compared], Evidence], Figure]:
    """What draws such a figure.

    Args:
        axis_label: of the vertical axis.
        series: the second labels, in the order of the bars of a group.
        top: where the vertical axis ends; what is higher is cut off there, with its value.
        bottom: where it begins.
        logarithmic: whether it is.
        constant: a series that is 1 everywhere, which the rows leave out.
        group_names: first label -> the words below its group.
    """

    def draw(rows: Sequence[Compared], evidence: Evidence) -> Figure:
        figure = new_figure(10, 3.7)
        axes = figure.subplots()
        groups = list(dict.fromkeys(row.labels[0] for row in rows))
        by_labels = {row.labels: row for row in rows}
        width = WIDTH_OF_A_GROUP / len(series)
        axes.set_yscale("log" if logarithmic else "linear")
        axes.set_ylim(bottom, top)
        for place, name in enumerate(series):
            offset = (place - (len(series) - 1) / 2) * width
            for at, group in enumerate(groups):
                row = by_labels.get((group, name))
                height = 1.0 if row is None and name == constant else float(row.ours) if row is not None else 0.0
                style = _Style(width, MARKS[name], printed_name(name) if at == 0 else None, top)
                _bar(axes, at + offset, height, row, style)
        axes.scatter([], [], s=22, label="published", **PUBLISHED)  # type: ignore[arg-type]
        axes.set_xticks(range(len(groups)), [group_names(group) for group in groups])
        axes.set_xlim(-0.6, len(groups) - 0.4)
        if GMEAN in groups:
            axes.axvline(len(groups) - 1.5, color="#bbbbbb", linewidth=0.8)
        axes.set_ylabel(axis_label)
        light_grid(axes)
        figure.legend(loc="outside upper center", ncols=len(series) + 1, frameon=False)
        return figure

    return draw


@dataclass(frozen=True)
class _Style:
    width: float
    mark: Mark
    label: str | None
    """In the legend; None for all bars of a series but the first."""
    top: float
    """Where the vertical axis ends."""


def _bar(axes: Axes, x: float, height: float, row: Compared | None, style: _Style) -> None:
    """A bar with its value above it, clear of the published value's marker; inside it where the axis cuts it off."""
    published = None if row is None or row.published is None else row.published
    axes.bar(
        x,
        min(height, style.top),
        style.width * 0.94,
        color=style.mark.colour,
        edgecolor=style.mark.ink,
        hatch=style.mark.hatch,
        linewidth=0.4,
        label=style.label,
    )
    cut_off = height > style.top
    words = significant(height)
    tip = max(height, published.number or 0.0) if published is not None else height
    if cut_off and published is not None:
        words += f"  (published {published.text})"
    axes.annotate(
        words,
        (x, style.top if cut_off else tip),
        xytext=(0, -5 if cut_off else 6),
        textcoords="offset points",
        ha="center",
        va="top" if cut_off else "bottom",
        rotation=90,
        fontsize=7,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8} if cut_off else None,
    )
    if published is not None and published.number is not None and published.number < style.top:
        axes.scatter([x], [published.number], s=16, clip_on=False, **PUBLISHED)  # type: ignore[arg-type]
