"""Plans: which way every layer is split at every hierarchy level, and how a plan is written down.

A plan is an array `uint8[levels, layers]`; many plans are `uint8[plans, levels, layers]`. Each entry is a
`Split`. Level 0 (printed H1) is the top of the hierarchy, where the array is cut in two for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.text_files import csv_text

Plan = NDArray[np.uint8]
"""uint8[levels, layers], or uint8[plans, levels, layers] where many are meant."""


class Split(IntEnum):
    """How a layer is split over the two halves of a group; the number is the entry in a plan."""

    DP = 0
    """Data parallelism: each half takes half the batch (AccPar's type I)."""
    MP = 1
    """Model parallelism: each half takes half the input channels (AccPar's type II)."""
    OP = 2
    """Output-channel parallelism: each half takes half the output channels, and reads the whole input (AccPar's
    type III; 2 in its published plans). Both halves need the input, and each has a partial sum of the input's error."""

    @property
    def label(self) -> str:
        return self.name.lower()

    @property
    def words(self) -> str:
        return _SHOWN[self].words

    @property
    def colour(self) -> str:
        """What fills the split's dot in pictures, #rrggbb."""
        return _SHOWN[self].colour


@dataclass(frozen=True)
class _Shown:
    """How a split is shown: in words, on a terminal, on one without such characters, and in pictures."""

    words: str
    dot: str
    plain_dot: str
    colour: str


_SHOWN = {
    Split.DP: _Shown("data parallelism", "○", "o", "#ffffff"),
    Split.MP: _Shown("model parallelism", "●", "X", "#1f4e79"),
    Split.OP: _Shown("output-channel parallelism", "◆", "#", "#e69f00"),
}

DOTS = "".join(_SHOWN[split].dot for split in Split)
"""A plan's entries as a terminal shows them."""
PLAIN_DOTS = "".join(_SHOWN[split].plain_dot for split in Split)
"""A plan's entries as a terminal without such characters shows them."""


def split_named(label: str, where: str) -> Split:
    """The split of a label (dp, mp, op).

    Raises:
        UserError: there is none; the sentence begins with `where`.
    """
    labels = {split.label: split for split in Split}
    if label not in labels:
        raise UserError(f"{where} must be {', '.join(list(labels)[:-1])} or {list(labels)[-1]} (got {label!r})")
    return labels[label]


def split_types(types: Sequence[str]) -> tuple[Split, ...]:
    """The splits of a strategy's `types`, as in [dp, mp].

    Raises:
        UserError: no list, an empty one, or a label that is not known.
    """
    if isinstance(types, str) or not types:
        raise UserError(f"strategy.types must be a list of splits, as in [dp,mp] (got {types!r})")
    return tuple(sorted({split_named(label, "strategy.types") for label in types}))


def legend_splits(plans: Plan) -> list[Split]:
    """The splits that a legend explains: the paper's two, and all up to the highest that occurs."""
    highest = max(Split.MP, int(plans.max(initial=0)))
    return [split for split in Split if split <= highest]


def level_names(levels: int) -> list[str]:
    """H1, H2, ...: the hierarchy levels as the paper prints them."""
    return [f"H{level}" for level in range(1, levels + 1)]


def plan_rows(plan: Plan) -> list[str]:
    """A plan as digits, one string a level (figure 5: 0 is dp, 1 is mp; beyond it 2 is op)."""
    return ["".join(str(choice) for choice in level) for level in plan]


def plan_csv(plan: Plan, layer_names: Sequence[str]) -> str:
    """A plan as CSV: header `level,<layer names>`, then a row for each of H1, H2, ..."""
    rows = [[name, *choices] for name, choices in zip(level_names(len(plan)), plan.tolist(), strict=True)]
    return csv_text([["level", *layer_names], *rows])


def checked_plan(plan: Plan, levels: int, layers: int) -> Plan:
    """The plan itself, if a network of `layers` on an array of `levels` can use it.

    Raises:
        UserError: another shape or type, or an entry that is no `Split`.
    """
    if plan.dtype != np.uint8 or plan.shape != (levels, layers):
        raise UserError(
            f"a plan for {layers} layers and {levels} levels must be uint8[{levels}, {layers}] "
            f"(got {plan.dtype}{list(plan.shape)})"
        )
    if plan.size and plan.max() >= len(Split):
        allowed = ", ".join(f"{split.value} ({split.label})" for split in Split)
        raise UserError(f"a plan's entries must be {allowed} (got {plan.max()})")
    return plan
