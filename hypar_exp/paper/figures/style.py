"""What all figures share: how each series looks, what it is called, sizes, and how a figure is saved."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypar_exp.reporting.palette import DOTTED, STRATEGIES, Mark, marks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

MARKS = {
    **STRATEGIES,
    "mp as printed": Mark("#f7d9a0", "^", DOTTED),  # model parallelism, by another reading
    "htree": STRATEGIES["hypar"],  # figure 12 compares HyPar with itself on another topology
    "torus": marks_of(["torus"])["torus"],
    "performance": STRATEGIES["hypar"],
    "energy efficiency": marks_of(["energy efficiency"])["energy efficiency"],
}
"""How each series of a figure looks."""
PUBLISHED = {"marker": "D", "facecolor": "white", "edgecolor": "#111111", "linewidth": 1.0, "zorder": 5}
"""The marker of published values."""
PRINTED_NAMES = {
    "sfc": "SFC",
    "sconv": "SCONV",
    "lenet_c": "Lenet-c",
    "cifar_c": "Cifar-c",
    "alexnet": "AlexNet",
    **{f"vgg_{column}": f"VGG-{column.upper()}" for column in "abcde"},
    "gmean": "Gmean",
    "mp": "Model Parallelism",
    "mp as printed": "Model Parallelism, as printed",
    "dp": "Data Parallelism",
    "hypar": "HyPar",
    "torus": "Torus",
    "htree": "H Tree",
    "performance": "Performance",
    "energy efficiency": "Energy efficiency",
}
DOTS_PER_INCH = 150


def new_figure(width: float, height: float, *, constrained: bool = True) -> Figure:
    """A figure, in inches, that no other part of the program draws on; matplotlib places its axes if `constrained`."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update(
        {
            "font.family": "DejaVu Sans",
            "font.size": 9,
            "svg.hashsalt": "hypar_exp",  # the same figure is the same file
            "svg.fonttype": "none",  # text stays text: small, and searchable
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained" if constrained else None)


def printed_name(word: str) -> str:
    """A label as the paper writes it."""
    return PRINTED_NAMES.get(word, word)


def light_grid(axes: Axes) -> None:
    """Faint horizontal lines behind the bars."""
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def halo() -> list[AbstractPathEffect]:
    """White around a line or a text, which stays readable on whatever is below it."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=2.5, foreground="white"), Normal()]


def rendered(figure: Figure, kind: str) -> bytes:
    """The figure as a `png` or `svg` file, the same bytes for the same figure."""
    file = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(file, format=kind, metadata=metadata, facecolor="white")
    return file.getvalue()
