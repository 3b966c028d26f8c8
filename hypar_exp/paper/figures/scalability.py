"""Figure 11: gains over one accelerator as bars, communication as lines, from 1 to 64 accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hypar_exp.paper.comparison import Compared
from hypar_exp.paper.evidence import Evidence
from hypar_exp.paper.figures.style import MARKS, PUBLISHED, halo, light_grid, new_figure, printed_name
from hypar_exp.units import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRATEGIES = ("hypar", "dp")
WIDTH = 0.4


def draw_scalability(rows: Sequence[Compared], evidence: Evidence) -> Figure:
    """A panel a network: bars on the left axis, lines on the right."""
    networks = list(dict.fromkeys(row.labels[0] for row in rows))
    figure = new_figure(10, 4.2)
    for axes, network in zip(figure.subplots(1, len(networks), squeeze=False)[0], networks, strict=True):
        _panel(axes, [row for row in rows if row.labels[0] == network], network)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    more_handles, more_labels = figure.axes[-1].get_legend_handles_labels()
    figure.legend(handles + more_handles, labels + more_labels, loc="outside upper center", ncols=5, frameon=False)
    return figure


def _panel(gains: Axes, rows: Sequence[Compared], network: str) -> None:
    counts = list(dict.fromkeys(row.labels[1] for row in rows))
    amounts = gains.twinx()
    amounts.spines["right"].set_visible(True)
    for place, strategy in enumerate(STRATEGIES):
        bars = [row for row in rows if row.labels[2] == f"{strategy} gain"]
        xs = [at + (place - 0.5) * WIDTH for at in range(len(counts))]
        heights = [float(row.ours) for row in bars]
        label = f"{printed_name(strategy)}: gain"
        mark = MARKS[strategy]
        gains.bar(xs, heights, WIDTH * 0.94, color=mark.colour, edgecolor=mark.ink, linewidth=0.4, label=label)
        for x, height in zip(xs, heights, strict=True):
            amounts.annotate(  # whose axes lie above the bars', so that no line covers a label
                significant(height), (x, height), xycoords=gains.transData, xytext=(5 * place, 6),
                textcoords="offset points", ha="center", fontsize=6, zorder=6, path_effects=halo(),
            )  # fmt: skip
        _markers(gains, xs, bars)
        line = [row for row in rows if row.labels[2] == f"{strategy} GB"]
        amounts.plot(
            range(len(counts)),
            [float(row.ours) for row in line],
            linestyle=mark.line_style,
            color=mark.colour,
            marker=mark.marker,
            markersize=4,
            linewidth=1.6,
            path_effects=halo(),
            label=f"{printed_name(strategy)}: communication",
        )
        _markers(amounts, list(range(len(counts))), line)
    if any(row.published is not None for row in rows):
        gains.scatter([], [], s=22, label="published", **PUBLISHED)  # type: ignore[arg-type]
    gains.set_xticks(range(len(counts)), counts)
    gains.set(title=printed_name(network), xlabel="number of accelerators", ylabel="gain over one accelerator")
    gains.set_ylim(0, 14)
    amounts.set(ylabel="communication (GB a step)", ylim=(0, 84))
    light_grid(gains)


def _markers(axes: Axes, xs: Sequence[float], rows: Sequence[Compared]) -> None:
    known = [
        (x, row.published.number)
        for x, row in zip(xs, rows, strict=True)
        if row.published is not None and row.published.number is not None
    ]
    axes.scatter([x for x, _ in known], [value for _, value in known], s=15, clip_on=False, **PUBLISHED)  # type: ignore[arg-type]
