"""A plan as a picture in the style of the paper's figure 5: levels by layers, filled dots for model parallelism.

Output-channel parallelism, which the paper does not have, differs in shape as well as colour: an orange diamond.

Written as SVG by hand: it is a grid of circles, it stays sharp at any size, and a drawing library would take longer to
import than everything else that a run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hypar_exp.planning import ENTRIES, Choices, Half, Plan, Split, level_names

CELL, RADIUS = 22, 8
LEFT, RIGHT, TITLE, BOTTOM, BLOCK_GAP = 46, 24, 34, 44, 16
MOST_COLUMNS = 60
"""More layers than this stand in several blocks below each other."""
CHARACTER = 7.2  # width of a character of the labels, for the room that the slanted layer names need


def plan_svg(plan: Plan, layer_names: Sequence[str], title: str) -> str:
    """An SVG document of a plan."""
    levels, layers = plan.levels, plan.layers
    blocks = -(-layers // MOST_COLUMNS)
    columns = -(-layers // blocks)
    longest = max(len(name) for name in layer_names)
    names_height, slant = 12 + 0.8 * CHARACTER * longest, 0.6 * CHARACTER * longest
    block_height = names_height + levels * CELL
    legend = plan.legend()
    legend_width = sum(_entry_width(entry) for entry in legend)
    width = max(LEFT + columns * CELL + RIGHT + slant, LEFT + legend_width, LEFT + 8.4 * len(title))
    height = TITLE + blocks * block_height + (blocks - 1) * BLOCK_GAP + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" '
        'font-size="12" fill="#222222">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT - 12}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for block in range(blocks):
        shown = slice(block * columns, (block + 1) * columns)
        top = TITLE + names_height + block * (block_height + BLOCK_GAP)
        parts += _block(plan.choices[:, shown], layer_names[shown], top)
    at, y = float(LEFT), height - BOTTOM + 24
    for entry in legend:
        parts += [_dot(at, y, entry), f'<text x="{at + 14:.0f}" y="{y + 4:.0f}">{entry.words}</text>']
        at += _entry_width(entry)
    return "\n".join([*parts, "</svg>\n"])


def _block(choices: Choices, layer_names: Sequence[str], top: float) -> list[str]:
    """The layers that stand side by side: their names, and a row of dots for each level from `top` on."""
    parts = []
    for layer, name in enumerate(layer_names):
        x, y = _x(layer) + 4, top - 4
        parts.append(f'<text transform="translate({x},{y:.0f}) rotate(-55)">{escape(name)}</text>')
    for level, name in enumerate(level_names(len(choices))):
        y = top + (level + 0.5) * CELL
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.0f}" text-anchor="end">{name}</text>')
        parts += [_dot(_x(layer), y, ENTRIES[entry]) for layer, entry in enumerate(choices[level])]
    return parts


def _x(layer: int) -> int:
    return LEFT + CELL // 2 + layer * CELL


def _dot(x: float, y: float, entry: Split | Half) -> str:
    style = f'fill="{entry.colour}" stroke="#1f4e79" stroke-width="1.5"'
    if isinstance(entry, Half):  # the filled half of a circle says which half of the group
        sweep = int(entry is Half.SECOND)
        return (
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}" fill="#ffffff" stroke="#1f4e79" stroke-width="1.5"/>'
            f'<path d="M{x:.0f} {y - RADIUS:.0f}a{RADIUS} {RADIUS} 0 0 {sweep} 0 {2 * RADIUS}z" {style}/>'
        )
    if entry is Split.OP:
        reach = RADIUS + 1
        return f'<path d="M{x:.0f} {y - reach:.0f}l{reach} {reach}l-{reach} {reach}l-{reach} -{reach}z" {style}/>'
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}" {style}/>'


def _entry_width(entry: Split | Half) -> float:
    return 36 + CHARACTER * len(entry.words)
