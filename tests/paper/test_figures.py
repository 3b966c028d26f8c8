"""What the paper's figures show, drawn here from the published values themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_hex

from hypar_exp.paper.comparison import Compared
from hypar_exp.paper.evidence import Evidence
from hypar_exp.paper.figures.style import MARKS
from hypar_exp.paper.items import item
from hypar_exp.paper.published import published_values
from hypar_exp.reporting.palette import STRATEGIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(name: str) -> tuple[Figure, list[Compared]]:
    published = published_values(name)
    twins = {of: ours for ours, of in item(name).also_printed.items()}
    rows = [Compared(labels, value.number or 0.0, value) for labels, value in published.items()]
    rows += [
        Compared((*row.labels[:-1], twins[row.labels[-1]]), row.ours, row.published)
        for row in rows
        if row.labels[-1] in twins
    ]
    draw = item(name).draw
    assert draw is not None
    return draw(rows, Evidence({row.labels: row.ours for row in rows})), rows


def test_figure_6_has_a_bar_for_each_value_and_for_the_baseline() -> None:
    figure, rows = drawn("fig06")
    (axes,) = figure.axes
    networks = len({row.labels[0] for row in rows})
    assert len(axes.patches) == 4 * networks, "mp by both accountings, hypar, and dp, which is 1 everywhere"
    heights = sorted(round(float(bar.get_height()), 6) for bar in axes.patches)  # type: ignore[attr-defined]
    assert heights == sorted([1.0] * networks + [min(float(row.ours), 6.0) for row in rows])
    assert {to_hex(bar.get_facecolor()) for bar in axes.patches} == {
        MARKS[name].colour for name in ("mp", "mp as printed", "dp", "hypar")
    }
    assert axes.get_ylabel() == "Normalised performance"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "published", "Model Parallelism", "Model Parallelism, as printed", "Data Parallelism", "HyPar",
    ]  # fmt: skip


def test_in_figure_11_no_line_covers_a_label() -> None:
    figure, rows = drawn("fig11")
    gains, amounts = figure.axes
    assert amounts.get_zorder() >= gains.get_zorder()
    assert not gains.texts, "they would lie below the other axes' lines"
    assert len(amounts.texts) == sum("gain" in row.labels[2] for row in rows)
    assert min(text.get_zorder() for text in amounts.texts) > max(line.get_zorder() for line in amounts.lines)
    for line, strategy in zip(amounts.lines, ("hypar", "dp"), strict=True):
        assert line.get_color() == STRATEGIES[strategy].colour
        communication = [float(row.ours) for row in rows if row.labels[2] == f"{strategy} GB"]
        assert np.asarray(line.get_ydata()).tolist() == communication
