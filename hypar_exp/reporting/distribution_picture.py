"""How the performance of a plan space's plans is distributed, with the known strategies marked, as SVG by hand."""

from __future__ import annotations

import math
from html import escape

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning import Exploration
from hypar_exp.reporting.palette import INK, Mark, marks_of
from hypar_exp.units import significant

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 54, 56
MOST_BARS = 64
LABEL_WIDTH, LABEL_HEIGHT = 110, 16
LEAST_BAR_WIDTH = 3.0
TICKS = (1, 2, 5)
BAR, GRID = "#c8d3de", "#dddddd"


def distribution_svg(exploration: Exploration, title: str) -> str:
    """An SVG document: plans by performance on a logarithmic axis, and a line for each known strategy."""
    bars, edges = _bars(exploration)
    marks = sorted(zip(exploration.named.performance.tolist(), exploration.names, strict=True))
    low, high = _range(edges, [performance for performance, _ in marks])
    top = TOP + LABEL_HEIGHT * len(marks)
    most = max(int(bars.max()), 1)

    def x(performance: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(performance / low) / math.log(high / low)

    def y(count: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - top) * count / most

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="24" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for count in _round_counts(most):
        parts.append(f'<path d="M{LEFT} {y(count):.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(count) + 4:.1f}" text-anchor="end">{count:,}</text>')
    for count, left, right in zip(bars.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if count:
            size = f'width="{max(x(right) - x(left), LEAST_BAR_WIDTH):.1f}" height="{y(0) - y(count):.1f}"'
            parts.append(f'<rect x="{x(left):.1f}" y="{y(count):.1f}" {size} fill="{BAR}" stroke="#ffffff"/>')
    parts.append(f'<path d="M{LEFT} {y(0):.1f}H{WIDTH - RIGHT}" stroke="{INK}"/>')
    for tick in _ticks(low, high):
        parts.append(f'<path d="M{x(tick):.1f} {y(0):.1f}v5" stroke="{INK}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{y(0) + 19:.1f}" text-anchor="middle">{tick:g}</text>')
    # labels stand on the outer side of their lines' upper ends, below those of lines that lie further out
    marks.sort(key=lambda mark: x(mark[0]) if _has_room(x(mark[0])) else 2 * WIDTH - x(mark[0]))
    looks = marks_of([name for _, name in marks])
    for line, (performance, name) in enumerate(marks):
        label = f"{name} {significant(performance)}"
        parts += _mark(looks[name], x(performance), TOP + LABEL_HEIGHT * line, y(0), label)
    middle = (LEFT + WIDTH - RIGHT) / 2
    axis = f"performance, {exploration.reference} = 1 (logarithmic)"
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle">{escape(axis)}</text>')
    parts.append(
        f'<text transform="translate(16,{(top + y(0)) / 2:.0f}) rotate(-90)" text-anchor="middle">plans</text>'
    )
    return "\n".join([*parts, "</svg>\n"])


def _bars(exploration: Exploration) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The histogram where there are plans, in no more than `MOST_BARS` bars: counts, and the edges around them."""
    filled = np.flatnonzero(exploration.histogram)
    first, last = int(filled[0]), int(filled[-1]) + 1
    together = math.ceil((last - first) / MOST_BARS)
    starts = np.arange(first, last, together)
    ends = np.append(starts[1:], min(starts[-1] + together, len(exploration.histogram)))
    counts = np.add.reduceat(exploration.histogram[: ends[-1]], starts)
    return counts, exploration.edges[np.append(starts, ends[-1])]


def _range(edges: NDArray[np.float64], marks: list[float]) -> tuple[float, float]:
    """The ends of the axis: all bars and marks, with a little room around them."""
    low, high = min(edges[0], *marks), max(edges[-1], *marks)
    room = max((high / low) ** 0.03, 1.01)
    return float(low / room), float(high * room)


def _ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for power in powers for digit in TICKS if low <= (tick := digit * 10.0**power) <= high]


def _round_counts(most: int) -> list[int]:
    """Two to five round numbers up to the highest bar."""
    power = 10 ** math.floor(math.log10(most))
    step = power if most >= 3 * power else max(power // 5, 1) if most < 1.5 * power else max(power // 2, 1)
    return list(range(0, most + 1, step))


def _has_room(x: float) -> bool:
    """Whether a label fits to the right of a mark."""
    return x < WIDTH - RIGHT - LABEL_WIDTH


def _mark(look: Mark, x: float, y: float, bottom: float, label: str) -> list[str]:
    """A vertical line with its label beside its upper end, on the side that has room."""
    anchor = f'x="{x + 5:.1f}"' if _has_room(x) else f'x="{x - 5:.1f}" text-anchor="end"'
    halo = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"'
    dash = " ".join(f"{2 * length:g}" for length in look.dash)
    return [
        f'<path d="M{x:.1f} {y - 10:.1f}V{bottom:.1f}" stroke="{look.colour}" stroke-width="2" '
        f'stroke-dasharray="{dash or "none"}"/>',
        f'<text {anchor} y="{y:.1f}" fill="{INK}" {halo}>{escape(label)}</text>',
    ]
