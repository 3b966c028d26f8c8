"""A network's graph as SVG: boxes in the rows in which data reaches them, and an arrow for every edge."""

from __future__ import annotations

from html import escape

from hypar_exp.networks import Layer, Network
from hypar_exp.units import quantity

BOX_HEIGHT, ROW, GAP, MARGIN, TITLE = 36, 64, 18, 24, 48
CHARACTER, SMALL_CHARACTER = 7.0, 6.0  # widths of a character in the two sizes of the boxes' text
BULGE = 26
"""How far an arrow that passes rows swings out to the side, for each row it passes."""
MOST_BULGE = 180
FILLS = {"conv": "#dbe8f5", "conv_transpose": "#cfe0d8", "fc": "#f7e3c5", "matmul": "#f7e3c5", "embedding": "#e6daf0"}
OTHER_FILL, LINE = "#eeeeee", "#1f4e79"
FONT = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" fill="#222222"'


def network_svg(network: Network) -> str:
    """An SVG document of a network's layers and edges; data flows downwards."""
    rows = _rows(network)
    captions = [(layer.name, _caption(layer)) for layer in network.layers]
    box = 20 + max(max(CHARACTER * len(name), SMALL_CHARACTER * len(caption)) for name, caption in captions)
    places = _places(network, rows, box + GAP)
    reach = max((abs(x) for x, _ in places), default=0.0) + box / 2
    title = f"{network.name}: {len(network.layers)} layers, {_totals(network)}"
    width = max(2 * (reach + MOST_BULGE + MARGIN), 2 * MARGIN + 8.4 * len(title))
    height = TITLE + ROW * (max(rows) + 1) + MARGIN
    middle = width / 2
    centres = [(middle + x, TITLE + ROW * row + BOX_HEIGHT / 2) for x, row in places]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" {FONT}>',
        f"<title>{escape(title)}</title>",
        f'<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{LINE}"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="26" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for edge in network.edges:
        passed = rows[edge.consumer] - rows[edge.producer] - 1
        names = network.layer_names[edge.producer], network.layer_names[edge.consumer]
        tip = f"{names[0]} to {names[1]}: {quantity(edge.elements, '')} elements"
        parts.append(_arrow(centres[edge.producer], centres[edge.consumer], passed, middle, box, tip))
    for (x, y), (name, caption), layer in zip(centres, captions, network.layers, strict=True):
        parts.append(_box(x, y, box, name, caption, FILLS.get(layer.kind, OTHER_FILL)))
    return "\n".join([*parts, "</svg>\n"])


def _rows(network: Network) -> list[int]:
    """Each layer's row: one below the lowest of those that it reads."""
    rows = [0] * len(network.layers)
    for edge in network.edges:  # in the order of their consumers, so producers' rows are final
        rows[edge.consumer] = max(rows[edge.consumer], rows[edge.producer] + 1)
    return rows


def _places(network: Network, rows: list[int], pitch: float) -> list[tuple[float, int]]:
    """(x from the middle, row) of each layer; within a row, layers stand below what they read."""
    producers: list[list[int]] = [[] for _ in network.layers]
    for edge in network.edges:
        producers[edge.consumer].append(edge.producer)
    members: dict[int, list[int]] = {}
    for layer, row in enumerate(rows):
        members.setdefault(row, []).append(layer)
    x = [0.0] * len(network.layers)
    for row in sorted(members):
        above = {
            layer: sum(x[at] for at in producers[layer]) / len(producers[layer]) if producers[layer] else 0.0
            for layer in members[row]
        }
        for place, layer in enumerate(sorted(members[row], key=lambda layer: (above[layer], layer))):
            x[layer] = (place - (len(members[row]) - 1) / 2) * pitch
    return list(zip(x, rows, strict=True))


def _caption(layer: Layer) -> str:
    return f"{layer.kind} · {layer.output} · {quantity(layer.weights, '')} weights"


def _totals(network: Network) -> str:
    weights = sum(layer.weights for layer in network.layers)
    macs = sum(layer.macs_at_output for layer in network.layers)
    return f"{quantity(weights, '')} weights, {quantity(macs, 'MACs')} a sample"


def _arrow(
    start: tuple[float, float], end: tuple[float, float], passed: int, middle: float, box: float, tip: str
) -> str:
    (x1, y1), (x2, y2) = (start[0], start[1] + BOX_HEIGHT / 2), (end[0], end[1] - BOX_HEIGHT / 2)
    bulge = min(BULGE * passed, MOST_BULGE)
    if passed == 0:
        path = f"M{x1:.0f},{y1:.0f} C{x1:.0f},{y1 + 16:.0f} {x2:.0f},{y2 - 16:.0f} {x2:.0f},{y2:.0f}"
    elif x1 == x2:  # past the boxes between them: out at the side and in at the side
        side = x1 + box / 2
        out = side + bulge
        path = f"M{side:.0f},{start[1]:.0f} C{out:.0f},{start[1]:.0f} {out:.0f},{end[1]:.0f} {side:.0f},{end[1]:.0f}"
    else:
        way = 1 if (x1 + x2) / 2 >= middle else -1
        out = max(way * x1, way * x2) * way + way * (box / 2 + bulge)
        path = f"M{x1:.0f},{y1:.0f} C{out:.0f},{y1 + 24:.0f} {out:.0f},{y2 - 24:.0f} {x2:.0f},{y2:.0f}"
    return (
        f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.2" stroke-opacity="0.7" '
        f'marker-end="url(#arrow)"><title>{escape(tip)}</title></path>'
    )


def _box(x: float, y: float, width: float, name: str, caption: str, fill: str) -> str:
    left, top = x - width / 2, y - BOX_HEIGHT / 2
    return (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{BOX_HEIGHT}" rx="5" fill="{fill}" '
        f'stroke="{LINE}"/><text x="{x:.0f}" y="{y - 3:.0f}" text-anchor="middle" font-size="11.5" '
        f'font-weight="bold">{escape(name)}</text><text x="{x:.0f}" y="{y + 11:.0f}" text-anchor="middle" '
        f'font-size="10">{escape(caption)}</text>'
    )
