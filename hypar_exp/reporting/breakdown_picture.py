"""Where a step's time goes, by layer and by hierarchy level, as SVG by hand, which takes no time to import."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning import level_names
from hypar_exp.reporting.palette import ARITHMETIC, DRAM, INK, level_colours
from hypar_exp.simulation import StepReport
from hypar_exp.units import quantity, without_zeros

CELL, BAR, HEIGHT = 22, 15, 150
"""Width of a layer's place and of its bar, and the height of the longest bar."""
LEFT, RIGHT, TITLE, LINE = 70, 24, 34, 20
MOST_COLUMNS, LEAST_COLUMNS = 60, 22
"""More layers than the one stand in several blocks below each other; fewer than the other leave room for the texts."""
CHARACTER = 6.2
"""Width of a character of the layers' names."""
GRID = "#dddddd"
Segment = tuple[str, float, str]
"""Fill, seconds, and what it is."""


def breakdown_svg(report: StepReport, layer_names: Sequence[str], title: str) -> str:
    """An SVG document: a bar a layer, of its computation and its communication at each level, and a bar a level.

    Args:
        report: the step.
        layer_names: of the network.
        title: above it.
    """
    levels, layers = report.communication_bytes_by_level_and_layer.shape
    blocks = -(-layers // MOST_COLUMNS)
    columns = -(-layers // blocks)
    names_height = 14 + 0.82 * CHARACTER * max(len(name) for name in layer_names)
    block_height = HEIGHT + names_height + 16
    width = max(LEFT + max(columns, LEAST_COLUMNS) * CELL + RIGHT, LEFT + 8.4 * len(title))
    by_level = TITLE + LINE + blocks * block_height + 12
    height = by_level + (levels + 3) * LINE + 16
    segments = [list(_segments(report, layer)) for layer in range(layers)]
    longest = max(sum(seconds for _, seconds, _ in parts) for parts in segments)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" '
        f'font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<defs><pattern id="dram" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="5" height="5" fill="#ffffff"/><rect width="3" height="5" fill="{DRAM}"/></pattern></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="16" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
        *_legend(levels),
    ]
    for block in range(blocks):
        shown = slice(block * columns, (block + 1) * columns)
        bottom = TITLE + LINE + block * block_height + HEIGHT + 12
        parts += _block(segments[shown], layer_names[shown], bottom, longest)
    parts += _levels(report, by_level, width)
    return "\n".join([*parts, "</svg>\n"])


def _segments(report: StepReport, layer: int) -> Iterator[Segment]:
    """The parts of a layer's bar, from the bottom up."""
    seconds = float(report.compute_time_s_by_layer[layer])
    dram = bool(report.dram_bound_layers[layer])
    yield ("url(#dram)" if dram else ARITHMETIC), seconds, "compute, bound by DRAM" if dram else "compute"
    times = _communication_time_s(report)[:, layer]
    names = level_names(len(times))
    for name, colour, time_s in zip(names, level_colours(len(times)), times.tolist(), strict=True):
        yield colour, time_s, f"communication at {name}"


def _communication_time_s(report: StepReport) -> NDArray[np.float64]:
    """float64[levels, layers]: each level's time, shared out by bytes."""
    exchanged = report.communication_bytes_by_level_and_layer
    totals = exchanged.sum(axis=1)
    rates = np.divide(report.communication_time_s_by_level, totals, out=np.zeros_like(totals), where=totals > 0)
    return np.asarray(exchanged * rates[:, None])


def _block(segments: Sequence[Sequence[Segment]], names: Sequence[str], bottom: float, longest: float) -> list[str]:
    """The layers that stand side by side: bars on a common scale, and the layers' names below them."""
    end = LEFT + len(names) * CELL
    parts = []
    for tick in round_ticks(longest):
        y = bottom - HEIGHT * tick / longest
        parts.append(f'<path d="M{LEFT} {y:.1f}H{end}" stroke="{GRID if tick else INK}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" font-size="11">{_seconds(tick)}</text>')
    for at, (name, bar) in enumerate(zip(names, segments, strict=True)):
        x, y = LEFT + at * CELL + (CELL - BAR) / 2, bottom
        for fill, seconds, words in bar:
            pixels = HEIGHT * seconds / longest
            y -= pixels
            if pixels > 0:
                tip = escape(f"{name}: {quantity(seconds, 's')} {words}")
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.2f}" width="{BAR}" height="{pixels:.2f}" fill="{fill}">'
                    f"<title>{tip}</title></rect>"
                )
        turned = f"translate({x + BAR - 3:.1f},{bottom + 12:.1f}) rotate(-55)"
        parts.append(f'<text transform="{turned}" text-anchor="end" font-size="11">{escape(name)}</text>')
    return parts


def _levels(report: StepReport, top: float, width: float) -> list[str]:
    """A bar for the computation and one for the communication at each level, with their numbers."""
    times = report.communication_time_s_by_level.tolist()
    amounts = report.communication_bytes_by_level.tolist()
    compute_s = float(report.compute_time_s_by_layer.sum())
    rows = [("compute", ARITHMETIC, compute_s, _seconds(compute_s))]
    for name, colour, seconds, amount in zip(
        level_names(len(times)), level_colours(len(times)), times, amounts, strict=True
    ):
        rows.append((name, colour, seconds, f"{_seconds(seconds)}, {quantity(amount, 'B')}"))
    longest = max(seconds for _, _, seconds, _ in rows)
    room = width - LEFT - RIGHT - 22 * CHARACTER
    together = f" (at the same time in part: the step takes {_seconds(report.step_time_s)})"
    heading = f"by hierarchy level{'' if report.pipeline is None else together}"
    parts = [f'<text x="16" y="{top:.0f}" font-weight="bold">{heading}</text>']
    for at, (name, colour, seconds, words) in enumerate(rows):
        y, long = top + 10 + LINE * at, room * seconds / longest
        parts.append(f'<text x="{LEFT - 6}" y="{y + 12:.0f}" text-anchor="end" font-size="11">{name}</text>')
        parts.append(f'<rect x="{LEFT}" y="{y:.0f}" width="{long:.1f}" height="{LINE - 5}" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + long + 6:.1f}" y="{y + 12:.0f}" font-size="11">{words}</text>')
    return parts


def _legend(levels: int) -> list[str]:
    entries = [(ARITHMETIC, "compute"), ("url(#dram)", "compute, bound by DRAM")]
    if levels:
        names, colours = level_names(levels), level_colours(levels)
        entries.append((colours[0], f"communication at {names[0]}"))
        if levels > 1:
            entries.append((colours[-1], f"at {names[-1]}"))
    parts, x = [], LEFT
    for fill, words in entries:
        parts.append(f'<rect x="{x}" y="{TITLE - 2}" width="12" height="12" fill="{fill}"/>')
        parts.append(f'<text x="{x + 17}" y="{TITLE + 8}" font-size="11">{words}</text>')
        x += 36 + round(CHARACTER * len(words))
    return parts


def round_ticks(most: float) -> list[float]:
    """Four to eight round numbers from 0 up to `most`, which is above 0."""
    third = most / 3
    power = 10.0 ** math.floor(math.log10(third))
    step = max(digit * power for digit in (1, 2, 5) if digit * power <= third)
    return [step * count for count in range(int(most / step * (1 + 1e-9)) + 1)]


def _seconds(value: float) -> str:
    return without_zeros(quantity(value, "s"))
