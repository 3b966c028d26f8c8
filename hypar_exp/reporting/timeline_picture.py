"""A training step as a picture: a row of blocks for each device over time, and the critical path under them.

Written as SVG by hand, like the picture of a plan: thousands of rectangles of a few colours are a few paths.
"""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from hypar_exp.reporting.timeline_looks import IDLE, Blocks, Doing, Look, binned, blocks
from hypar_exp.simulation.critical_path import Segment, critical_path
from hypar_exp.simulation.timeline import Timeline
from hypar_exp.units import quantity

MOST_BLOCKS = 32 * 256 * 6
"""Of 32 devices and 256 micro-batches in two chunks, F, I and W; more blocks are drawn as shares of columns of time."""
LEFT, RIGHT, TITLE, AXIS, LEGEND = 76, 20, 40, 26, 34
ROW, GAP = 20, 4
LEAST_WIDTH, MOST_WIDTH = 880, 14_000
COLUMNS = 220
"""Of time, where blocks are too many."""
DIGIT = 6.2
"""Width of a digit in a block. Pictures are so wide, within bounds, that numbers fit blocks of median length."""
TICKS = 8
CRITICAL = "#d62728"


def timeline_svg(step: Timeline, title: str) -> str:
    """An SVG document of a step; blocks have their micro-batch's number where it fits."""
    shown = blocks(step)
    drawn_one_by_one = len(shown.device) <= MOST_BLOCKS
    width = _width(shown, step.step_time_s) if drawn_one_by_one else LEAST_WIDTH
    scale = width / step.step_time_s if step.step_time_s > 0 else 0.0
    bottom = TITLE + step.devices * (ROW + GAP)
    full_width, height = LEFT + width + RIGHT, bottom + AXIS + LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {full_width:.0f} {height:.0f}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" '
        'font-size="11" fill="#222222">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    parts += [
        f'<text x="{LEFT - 8}" y="{_top(device) + 14}" text-anchor="end">device {device}</text>'
        for device in range(step.devices)
    ]
    idle = "".join(_box(LEFT, _top(device), width, ROW) for device in range(step.devices))
    parts.append(f'<path d="{idle}" fill="{IDLE.colour}"/>')
    parts += _one_by_one(step, shown, scale) if drawn_one_by_one else _columns(step, shown)
    parts.append(_critical(critical_path(step), scale))
    parts += _axis(step.step_time_s, width, bottom)
    parts += _legend([Doing(doing) for doing in np.unique(shown.doing)], bottom + AXIS + 14)
    return "\n".join([*parts, "</svg>\n"])


def _width(shown: Blocks, length_s: float) -> float:
    lengths = shown.end_s - shown.begin_s
    median = float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else length_s
    number_width = DIGIT * len(str(int(shown.micro_batch.max()))) + 4
    wanted = number_width * length_s / median if median > 0 else LEAST_WIDTH
    return float(min(max(wanted, LEAST_WIDTH), MOST_WIDTH))


def _top(device: int) -> int:
    return TITLE + device * (ROW + GAP)


def _box(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"


def _one_by_one(step: Timeline, shown: Blocks, scale: float) -> list[str]:
    """A path for what devices do, chunks in turn a little fainter, and the micro-batches' numbers."""
    place = np.zeros(step.graph.chunk_count, np.int64)
    for chunks in step.graph.chunks_of:
        place[list(chunks)] = np.arange(len(chunks))
    faint = place[shown.chunk] % 2
    left, long = LEFT + shown.begin_s * scale, (shown.end_s - shown.begin_s) * scale
    parts = []
    for doing in Doing:
        for odd in (0, 1):
            chosen = np.flatnonzero((shown.doing == doing) & (faint == odd) & (long > 0))
            if len(chosen):
                path = "".join(_box(left[n], _top(shown.device[n]), long[n], ROW) for n in chosen)
                opacity = ' fill-opacity="0.6"' if odd else ""
                parts.append(
                    f'<path d="{path}" fill="{doing.look.colour}"{opacity} stroke="#ffffff" stroke-width="0.5"/>'
                )
    return parts + _numbers(shown, left, long, faint)


def _numbers(
    shown: Blocks, left: NDArray[np.float64], long: NDArray[np.float64], faint: NDArray[np.int64]
) -> list[str]:
    digits = np.char.str_len(shown.micro_batch.astype(np.str_))
    fits = np.flatnonzero((long >= digits * DIGIT + 2) & (shown.micro_batch >= 0))
    texts = []
    for n in fits:
        ink = Doing(shown.doing[n]).look.ink if not faint[n] else "#222222"
        texts.append(
            f'<text x="{left[n] + long[n] / 2:.1f}" y="{_top(shown.device[n]) + 14}" fill="{ink}">'
            f"{shown.micro_batch[n]}</text>"
        )
    return ['<g font-size="10" text-anchor="middle">', *texts, "</g>"] if texts else []


def _columns(step: Timeline, shown: Blocks) -> list[str]:
    """Columns of time, of which the part that a device does something in is filled from below."""
    seconds = binned(shown, step.devices, step.step_time_s, COLUMNS)
    heights = seconds * (ROW * COLUMNS / step.step_time_s)
    wide = LEAST_WIDTH / COLUMNS
    tops = ROW - np.cumsum(heights, axis=2)
    parts = []
    for doing in Doing:
        path = "".join(
            _box(LEFT + column * wide, _top(device) + tops[device, column, doing], wide, heights[device, column, doing])
            for device, column in np.argwhere(heights[:, :, doing] > 0.05)
        )
        if path:
            parts.append(f'<path d="{path}" fill="{doing.look.colour}"/>')
    return parts


def _critical(path: list[Segment], scale: float) -> str:
    """A line under the blocks of the critical path, from device to device where a result goes over."""
    points: list[str] = []
    for segment in path:
        if segment.device >= 0:
            y = _top(segment.device) + ROW + 1.5
            for moment in (segment.begin_s, segment.end_s):
                point = f"{LEFT + moment * scale:.1f},{y:.1f}"
                if not points or points[-1] != point:
                    points.append(point)
    return f'<polyline points="{" ".join(points)}" fill="none" stroke="{CRITICAL}" stroke-width="1.5"/>'


def _axis(length_s: float, width: float, bottom: float) -> list[str]:
    parts = [f'<path d="M{LEFT} {bottom + 1:.0f}h{width:.0f}" stroke="#222222" stroke-width="1"/>']
    for tick in range(TICKS + 1):
        x = LEFT + width * tick / TICKS
        anchor = "start" if tick == 0 else "end" if tick == TICKS else "middle"
        words = quantity(length_s * tick / TICKS, "s") if tick else "0"
        parts.append(f'<text x="{x:.0f}" y="{bottom + 16:.0f}" text-anchor="{anchor}">{words}</text>')
    return parts


def _legend(used: list[Doing], y: float) -> list[str]:
    x, parts = float(LEFT), []
    looks: list[Look] = [*(doing.look for doing in used), IDLE]
    for look in looks:
        parts.append(f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="14" height="12" fill="{look.colour}"/>')
        parts.append(f'<text x="{x + 19:.0f}" y="{y:.0f}">{look.words}</text>')
        x += 34 + 6.4 * len(look.words)
    parts.append(f'<path d="M{x:.0f} {y - 4:.0f}h14" stroke="{CRITICAL}" stroke-width="1.5"/>')
    parts.append(f'<text x="{x + 19:.0f}" y="{y:.0f}">critical path</text>')
    return parts
