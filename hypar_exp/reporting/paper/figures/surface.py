"""Figures 9 and 10: the performance of all 256 plans of two free parts, as a surface and as a heat map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hypar_exp.reporting.paper.comparison import Compared
from hypar_exp.reporting.paper.evidence import Evidence, Surface
from hypar_exp.reporting.paper.figures.style import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR_MAP = "cividis"
"""The same for readers with and without colour vision, and it prints in grey."""


def surface_and_map(marks: dict[str, tuple[str, str]]) -> Callable[[Sequence[Compared], Evidence], Figure]:
    """What draws such a figure; `marks` are the points to mark: words -> the two parts of the plan."""

    def draw(rows: Sequence[Compared], evidence: Evidence) -> Figure:
        assert evidence.surface is not None
        figure = new_figure(11, 4.8)
        grid = figure.add_gridspec(1, 2, width_ratios=(1.15, 1))
        _surface(figure.add_subplot(grid[0], projection="3d"), evidence.surface)
        _map(figure, figure.add_subplot(grid[1]), evidence.surface, marks)
        return figure

    return draw


def _surface(axes: Any, surface: Surface) -> None:
    """In three dimensions; `axes` is matplotlib's Axes3D."""
    places = np.arange(len(surface.plans))
    first, second = np.meshgrid(places, places, indexing="ij")
    axes.plot_surface(
        first, second, surface.performance, cmap=COLOUR_MAP, edgecolor="#333333", linewidth=0.25, rstride=1, cstride=1
    )
    ticks = places[::5]
    labels = [surface.plans[at] for at in ticks]
    axes.set_xticks(ticks, labels, fontsize=7)
    axes.set_yticks(ticks, labels, fontsize=7)
    axes.tick_params(axis="z", labelsize=7)
    axes.set_xlabel(surface.first)
    axes.set_ylabel(surface.second)
    axes.set_zlabel("Normalised performance")
    axes.view_init(elev=28, azim=-128)
    axes.set_box_aspect((1, 1, 0.72), zoom=0.92)


def _map(figure: Figure, axes: Axes, surface: Surface, marks: dict[str, tuple[str, str]]) -> None:
    image = axes.imshow(surface.performance.T, origin="lower", cmap=COLOUR_MAP, aspect="equal")
    places = range(len(surface.plans))
    axes.set_xticks(places, surface.plans, rotation=90, fontsize=7)
    axes.set_yticks(places, surface.plans, fontsize=7)
    axes.set(xlabel=surface.first, ylabel=surface.second)
    for (words, (first, second)), marker, size in zip(marks.items(), "D*", (46, 110), strict=False):
        x, y = surface.plans.index(first), surface.plans.index(second)
        label = f"{words}: {surface.at(first, second):.2f}"
        axes.scatter([x], [y], s=size, marker=marker, facecolor="white", edgecolor="#111111", label=label)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), ncols=2, frameon=False, fontsize=8)
    figure.colorbar(image, ax=axes, label="Normalised performance", shrink=0.85)
