"""Figures 9 and 10: the performance of all 256 plans of two free parts, as a surface and as a heat map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hypar_exp.paper.comparison import Compared
from hypar_exp.paper.evidence import Evidence, Surface
from hypar_exp.paper.figures.style import new_figure
from hypar_exp.reporting.palette import COLOUR_MAP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

FACE: dict[str, Any] = {"facecolor": "white", "edgecolor": "#111111", "linewidth": 1.0}
MARKERS = (("D", 46), ("*", 130))

Parts = tuple[str, str]
"""The digits of a plan's two free parts."""


def surface_and_map(marks: Mapping[str, Parts]) -> Callable[[Sequence[Compared], Evidence], Figure]:
    """What draws such a figure; `marks` are the points with published values: a row's first label -> its plan."""

    def draw(rows: Sequence[Compared], evidence: Evidence) -> Figure:
        assert evidence.surface is not None
        published = {
            row.labels[0]: row.published.number
            for row in rows
            if row.labels[1] == "performance" and row.published is not None and row.published.number is not None
        }
        figure = new_figure(11, 4.8, constrained=False)  # which cuts labels of three-dimensional axes
        _surface(figure.add_axes((0.03, 0.02, 0.5, 0.96), projection="3d"), evidence.surface, marks, published)
        image = _map(figure.add_axes((0.59, 0.15, 0.31, 0.71)), evidence.surface, marks, published)
        figure.colorbar(image, cax=figure.add_axes((0.925, 0.2, 0.014, 0.6)), label="Normalised performance")
        return figure

    return draw


def _surface(axes: Any, surface: Surface, marks: Mapping[str, Parts], published: Mapping[str, float]) -> None:
    """In three dimensions, with the published values as markers; `axes` is matplotlib's Axes3D."""
    places = np.arange(len(surface.plans))
    first, second = np.meshgrid(places, places, indexing="ij")
    axes.computed_zorder = False  # so that the markers are seen through the surface
    axes.plot_surface(
        first, second, surface.performance, cmap=COLOUR_MAP, edgecolor="#333333", linewidth=0.25, rstride=1, cstride=1
    )
    for (words, parts), (marker, size) in zip(marks.items(), MARKERS, strict=False):
        x, y = map(surface.plans.index, parts)
        axes.scatter([x], [y], [published[words]], s=size, marker=marker, depthshade=False, zorder=9, **FACE)
    ticks = places[::5]
    labels = [surface.plans[at] for at in ticks]
    axes.set_xticks(ticks, labels, fontsize=7)
    axes.set_yticks(ticks, labels, fontsize=7)
    axes.tick_params(axis="z", labelsize=7)
    axes.set_xlabel(surface.first)
    axes.set_ylabel(surface.second)
    axes.set_zlabel("Normalised performance")
    axes.view_init(elev=28, azim=-128)
    axes.set_box_aspect((1, 1, 0.72), zoom=1.05)


def _map(axes: Axes, surface: Surface, marks: Mapping[str, Parts], published: Mapping[str, float]) -> AxesImage:
    image = axes.imshow(surface.performance.T, origin="lower", cmap=COLOUR_MAP, aspect="equal")
    places = range(len(surface.plans))
    axes.set_xticks(places, surface.plans, rotation=90, fontsize=7)
    axes.set_yticks(places, surface.plans, fontsize=7)
    axes.set(xlabel=surface.first, ylabel=surface.second)
    for (words, parts), (marker, size) in zip(marks.items(), MARKERS, strict=False):
        x, y = map(surface.plans.index, parts)
        label = f"{words}: {surface.at(*parts):.2f}, published {published[words]:.2f}"
        axes.scatter([x], [y], s=size, marker=marker, label=label, **FACE)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), frameon=False, fontsize=8)
    return image
