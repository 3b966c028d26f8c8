"""Figure 5: the plans of the ten networks as dots, filled for model parallelism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hypar_exp.paper.comparison import Compared
from hypar_exp.paper.evidence import Evidence
from hypar_exp.paper.figures.style import MARKS, new_figure, printed_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = (("sfc", "sconv", "lenet_c", "cifar_c", "alexnet", "vgg_a"), ("vgg_b", "vgg_c"), ("vgg_d", "vgg_e"))
GAP = 2.2  # dots' widths between two plans
MP = "1"
SIZE = 105
FILLED, PRINTED, WRONG = MARKS["hypar"].colour, MARKS["mp"].colour, "#cc3311"


def draw_plans(rows: Sequence[Compared], evidence: Evidence) -> Figure:
    """Each network a grid of levels by layers; a small dot inside marks what the paper prints as model parallelism."""
    assert evidence.layer_names is not None
    figure = new_figure(10, 6.4)
    for axes, networks in zip(figure.subplots(len(LINES)), LINES, strict=True):
        left = 0.0
        for network in networks:
            levels = [row for row in rows if row.labels[0] == network]
            _draw_plan(axes, left, levels, evidence.layer_names[network])
            left += len(evidence.layer_names[network]) + GAP
        axes.set(xlim=(-1.6, 47.2), ylim=(4.6, -4.2), aspect="equal")
        axes.set_axis_off()
    _legend(figure)
    return figure


def _draw_plan(axes: Axes, left: float, levels: Sequence[Compared], layer_names: Sequence[str]) -> None:
    axes.text(left - 0.5, -3.9, printed_name(levels[0].labels[0]), fontweight="bold", fontsize=10)
    for at, name in enumerate(layer_names):
        axes.text(left + at, -0.75, name, rotation=60, ha="left", va="bottom", fontsize=6.5, rotation_mode="anchor")
    for y, row in enumerate(levels):
        if left == 0:
            axes.text(-0.9, y, row.labels[1], ha="right", va="center", fontsize=7.5)
        splits, printed = str(row.ours), row.published.text if row.published is not None else ""
        fills = [FILLED if split == MP else "white" for split in splits]
        axes.scatter([left + x for x in range(len(splits))], [y] * len(splits), s=SIZE, c=fills, edgecolors=FILLED)
        told = [left + x for x, split in enumerate(printed) if split == MP]
        axes.scatter(told, [y] * len(told), s=SIZE / 8, color=PRINTED)
        wrong = [left + x for x, (split, other) in enumerate(zip(splits, printed, strict=False)) if split != other]
        axes.scatter(wrong, [y] * len(wrong), s=SIZE, marker="x", color=WRONG, linewidths=2)


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    def dot(colour: str, size: float, label: str, marker: str = "o", edge: str = "none") -> Line2D:
        return Line2D(
            [], [], linestyle="", marker=marker, markersize=size, color=colour, markeredgecolor=edge, label=label
        )

    figure.legend(
        handles=[
            dot("white", 9, "data parallelism", edge=FILLED),
            dot(FILLED, 9, "model parallelism"),
            dot(PRINTED, 4, "published as model parallelism"),
            dot(WRONG, 9, "ours and the published differ", marker="x", edge=WRONG),
        ],
        loc="outside lower center",
        ncols=4,
        frameon=False,
    )
