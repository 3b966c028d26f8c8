"""Lines over two axes as SVG by hand, which takes no time to import."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from hypar_exp.reporting.palette import INK, marks_of
from hypar_exp.systems import Chart
from hypar_exp.units import significant, without_zeros

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM, LEGEND_LINE = 70, 20, 44, 52, 18
GRID = "#dddddd"
TICKS = 5
MOST_DECADES = 8
CHARACTER = 8.4
"""Width of a character of the title."""


class Scale:
    """Values -> places between two others; logarithmic where asked for."""

    def __init__(self, values: Sequence[float], first: float, last: float, log: bool) -> None:
        usable = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = min(usable, default=1.0), max(usable, default=1.0)
        if not log:
            low = min(low, 0.0)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low, low + 1)
        self._log, self._first, self._last = log, first, last
        self.low, self.high = low, high

    def place(self, value: float) -> float:
        if self._log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self._first + share * (self._last - self._first)

    @property
    def ticks(self) -> list[float]:
        """Round values in the range: powers of ten, or of two where they span less than two decades, or even steps."""
        if self._log:
            base = 10 if self.high / self.low > 100 else 2
            first, last = (math.log(end, base) for end in (self.low, self.high))
            powers = range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
            return [float(base) ** power for power in powers][:: 1 + len(powers) // MOST_DECADES]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / TICKS))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (factor * step) <= TICKS)
        return [number * step for number in range(math.ceil(self.low / step), math.floor(self.high / step + 1e-9) + 1)]


def lines_svg(chart: Chart) -> str:
    """An SVG document: the lines of a chart, each with its points, and the legend below."""
    x = Scale([value for xs, _ in chart.lines.values() for value in xs], LEFT, WIDTH - RIGHT, chart.log_x)
    y = Scale([value for _, ys in chart.lines.values() for value in ys], HEIGHT - BOTTOM, TOP, chart.log_y)
    columns = max(1, int((WIDTH - LEFT) // (30 + 7 * max(len(name) for name in chart.lines))))
    height = HEIGHT + LEGEND_LINE * -(-len(chart.lines) // columns)
    width = max(WIDTH, 32 + CHARACTER * len(chart.title))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" '
        f'font-size="12" fill="{INK}">',
        f"<title>{escape(chart.title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="16" y="22" font-size="14" font-weight="bold">{escape(chart.title)}</text>',
        *_axes(chart, x, y),
        *_lines(chart, x, y, columns),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axes(chart: Chart, x: Scale, y: Scale) -> Iterator[str]:
    bottom, across, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    for value in x.ticks:
        place = x.place(value)
        yield f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{bottom}" stroke="{GRID}"/>'
        yield f'<text x="{place:.1f}" y="{bottom + 16}" text-anchor="middle" font-size="11">{_tick(value)}</text>'
    for value in y.ticks:
        place = y.place(value)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}" stroke="{GRID}"/>'
        yield f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end" font-size="11">{_tick(value)}</text>'
    yield f'<text x="{across}" y="{bottom + 36}" text-anchor="middle">{escape(chart.x_label)}</text>'
    yield (
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        f"{escape(chart.y_label)}</text>"
    )


def _lines(chart: Chart, x: Scale, y: Scale, columns: int) -> Iterator[str]:
    marks = marks_of(list(chart.lines))
    for at, (name, (xs, ys)) in enumerate(chart.lines.items()):
        mark = marks[name]
        points = [
            (x.place(across), y.place(up))
            for across, up in zip(xs, ys, strict=True)
            if math.isfinite(up) and (up > 0 or not chart.log_y) and (across > 0 or not chart.log_x)
        ]
        stroke = f'stroke="{mark.colour}" stroke-width="1.8"'
        stroke += f' stroke-dasharray="{" ".join(f"{1.6 * length:.1f}" for length in mark.dash)}"' if mark.dash else ""
        path = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
        yield f'<polyline points="{path}" fill="none" {stroke}/>'
        for across, up in points:
            yield f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.6" fill="{mark.colour}"/>'
        left = LEFT + (at % columns) * (WIDTH - LEFT) / columns
        up = HEIGHT + LEGEND_LINE * (at // columns)
        yield f'<line x1="{left}" x2="{left + 24}" y1="{up}" y2="{up}" {stroke}/>'
        yield f'<text x="{left + 30}" y="{up + 4}" font-size="11">{escape(name)}</text>'


def _tick(value: float) -> str:
    if value and (abs(value) >= 1e4 or abs(value) < 1e-3):
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return without_zeros(significant(value))
