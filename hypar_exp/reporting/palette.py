"""How a strategy, or any other name, looks in every picture: its colour, marker, dash and hatch.

The colours of our own strategies differ in lightness, so that they stay apart in grey and with any colour vision.
Marker, dash and hatch tell apart what colours alone would not.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

INK, FAINT = "#222222", "#8c8c8c"
ARITHMETIC, DRAM = "#0072b2", "#56b4e9"
"""Computation that arithmetic bounds, and that DRAM bounds."""
DEEPEST_LEVEL, FIRST_LEVEL = (0xFB, 0xD0, 0xAE), (0xA8, 0x3E, 0x00)
"""Red, green and blue of communication at the deepest level, and at the first."""
COLOUR_MAP = "cividis"
"""For values as colours: the same for readers with and without colour vision, and it prints in grey."""


@dataclass(frozen=True)
class Mark:
    """How one series is drawn.

    Attributes:
        colour: of its line, bar or points.
        marker: matplotlib's letter of its points' shape.
        dash: lengths of strokes and gaps, in line widths; () for a solid line.
        hatch: matplotlib's pattern in its bars; "" for none.
        dark: whether what is written on it must be white.
    """

    colour: str
    marker: str
    dash: tuple[float, ...] = ()
    hatch: str = ""
    dark: bool = False

    @property
    def line_style(self) -> str | tuple[int, tuple[float, ...]]:
        """What matplotlib calls a line style."""
        return (0, self.dash) if self.dash else "-"

    @property
    def ink(self) -> str:
        """The colour of what is written or hatched on it."""
        return "#ffffff" if self.dark else INK


DASHED, DOTTED, DASH_DOT = (4.0, 1.6), (1.2, 1.2), (5.0, 1.4, 1.2, 1.4)
LONG, LONG_DOT = (8.0, 2.0), (8.0, 1.4, 1.2, 1.4)
STRATEGIES: Mapping[str, Mark] = {
    "hypar": Mark("#0b5394", "o", dark=True),
    "dp": Mark("#98cff2", "s", DASHED),
    "mp": Mark("#cf8600", "^", DOTTED, "///"),
    "trick": Mark("#2a9070", "D", DASH_DOT, "xx", dark=True),
    "optimal": Mark("#3d0a4e", "*", LONG, "..", dark=True),
    "accpar": Mark("#b03a7f", "v", LONG_DOT, "\\\\\\", dark=True),
    "explore": Mark("#ababab", "P", DOTTED, "++"),
    "file": Mark("#5c2f0a", "X", DASHED, "--", dark=True),
}
"""Our own, by name."""
OTHERS: Sequence[Mark] = (
    Mark("#d55e3a", "o", LONG, "\\\\\\"),
    Mark("#1c6e7a", "s", dark=True),
    Mark("#c9b85a", "D", DASHED, ".."),
    Mark("#13345c", "^", DASH_DOT, "///", dark=True),
    Mark("#9a86c9", "v", LONG_DOT, "xx"),
    Mark("#4f7d2f", "P", DOTTED, "--", dark=True),
)
"""For every other name."""


def level_colours(levels: int) -> list[str]:
    """Colours for communication at each level, the first the darkest."""
    shares = [level / max(levels - 1, 1) for level in range(levels)]
    mixed = [
        [round(first + share * (last - first)) for first, last in zip(FIRST_LEVEL, DEEPEST_LEVEL, strict=True)]
        for share in shares
    ]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in mixed]


def marks_of(names: Sequence[str]) -> dict[str, Mark]:
    """How each of some names looks in one picture.

    Our strategies always look the same. Any other name has the place that its letters give, or the next free one, so
    that it mostly looks the same in other pictures too. Beyond 14 names looks repeat.
    """
    marks = {name: STRATEGIES[name] for name in names if name in STRATEGIES}
    spare = [mark for name, mark in STRATEGIES.items() if name not in marks]
    for name in names:
        if name in marks:
            continue
        free = [mark for mark in OTHERS if mark not in marks.values()] or [
            mark for mark in spare if mark not in marks.values()
        ]
        wanted = OTHERS[zlib.crc32(name.encode()) % len(OTHERS)]
        marks[name] = wanted if wanted in free or not free else free[0]
    return marks
