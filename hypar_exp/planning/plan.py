"""Plans: which way every layer is split at every hierarchy level, or which half of the array it goes to.

A plan's entries are an array `uint8[levels, layers]`. Level 0 (printed H1) is the top of the hierarchy, where the
array is cut in two for the first time. The vectorised paths take the entries of many plans of one shape together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.planning.stages import Recompute, Stage
from hypar_exp.text_files import csv_text

Choices = NDArray[np.uint8]
"""uint8[levels, layers], the entries of a plan; or uint8[plans, levels, layers], those of many."""


class _Entry(IntEnum):
    """An entry of a plan, and how it is shown."""

    @property
    def label(self) -> str:
        return self.name.lower()

    @property
    def words(self) -> str:
        return _SHOWN[self].words

    @property
    def colour(self) -> str:
        """What fills the entry's dot in pictures, #rrggbb."""
        return _SHOWN[self].colour


class Split(_Entry):
    """How a layer is split over the two halves of a group; the number is the entry in a plan."""

    DP = 0
    """Data parallelism: each half takes half the batch (AccPar's type I)."""
    MP = 1
    """Model parallelism: each half takes half the input channels (AccPar's type II)."""
    OP = 2
    """Output-channel parallelism: each half takes half the output channels, and reads the whole input (AccPar's
    type III; 2 in its published plans). Both halves need the input, and each has a partial sum of the input's error."""


class Half(_Entry):
    """The half of a group that a layer is in as a whole, where a pipeline is cut; the number is the entry in a plan."""

    FIRST = 3
    SECOND = 4


@dataclass(frozen=True)
class _Shown:
    """How an entry is shown: in words, on a terminal, on one without such characters, and in pictures."""

    words: str
    dot: str
    plain_dot: str
    colour: str


_SHOWN = {
    Split.DP: _Shown("data parallelism", "○", "o", "#ffffff"),
    Split.MP: _Shown("model parallelism", "●", "X", "#1f4e79"),
    Split.OP: _Shown("output-channel parallelism", "◆", "#", "#e69f00"),
    Half.FIRST: _Shown("first half of the accelerators", "◐", "(", "#009e73"),
    Half.SECOND: _Shown("second half of the accelerators", "◑", ")", "#cc79a7"),
}

ENTRIES: tuple[Split | Half, ...] = (*Split, *Half)
"""Whatever a plan's entry can be, in the order of their numbers."""
DOTS = "".join(_SHOWN[entry].dot for entry in ENTRIES)
"""A plan's entries as a terminal shows them."""
PLAIN_DOTS = "".join(_SHOWN[entry].plain_dot for entry in ENTRIES)
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


def level_names(levels: int) -> list[str]:
    """H1, H2, ...: the hierarchy levels as the paper prints them."""
    return [f"H{level}" for level in range(1, levels + 1)]


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan of the hierarchy.

    Attributes:
        choices: uint8[levels, layers], a `Split` or a `Half` each.
        micro_batches: parts in which a step's batch passes through the stages, one after the other.
        recompute: what of their activations the stages compute again in the backward pass instead of keeping it.

    Raises:
        UserError: no such array, an entry that is none, or halves that are cut in no valid way.
    """

    choices: Choices
    micro_batches: int = 1
    recompute: Recompute = "none"

    def __post_init__(self) -> None:
        choices = np.asarray(self.choices)
        if choices.dtype != np.uint8 or choices.ndim != 2:
            raise UserError(f"a plan must be uint8[levels, layers] (got {choices.dtype}{list(choices.shape)})")
        if choices.size and choices.max() >= len(ENTRIES):
            allowed = ", ".join(f"{entry.value} ({entry.label})" for entry in ENTRIES)
            raise UserError(f"a plan's entries must be {allowed} (got {choices.max()})")
        require_whole("", "micro_batches", self.micro_batches, least=1)
        object.__setattr__(self, "choices", choices)
        if self.has_stages:
            _ = self.stages()

    @classmethod
    def of(cls, plan: Plan | ArrayLike) -> Plan:
        """A plan, or what a user's own strategy makes in its place: its choices alone."""
        return plan if isinstance(plan, cls) else cls(np.asarray(plan))

    @property
    def levels(self) -> int:
        return int(self.choices.shape[0])

    @property
    def layers(self) -> int:
        return int(self.choices.shape[1])

    @property
    def has_stages(self) -> bool:
        """Whether any layer is in one half of a group."""
        return bool(self.choices.max(initial=0) > max(Split))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        mine, others = ((plan.micro_batches, plan.recompute) for plan in (self, other))
        return mine == others and np.array_equal(self.choices, other.choices)

    def __hash__(self) -> int:
        return hash((self.choices.shape, self.choices.tobytes(), self.micro_batches))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The choices, for numpy."""
        return self.choices.astype(self.choices.dtype if dtype is None else dtype, copy=bool(copy))

    def checked(self, levels: int, layers: int) -> Plan:
        """The plan itself, if a network of `layers` on an array of `levels` can use it.

        Raises:
            UserError: it is of another shape.
        """
        if self.choices.shape != (levels, layers):
            raise UserError(
                f"a plan for {layers} layers and {levels} levels must be uint8[{levels}, {layers}] "
                f"(got {self.choices.dtype}{list(self.choices.shape)})"
            )
        return self

    def rows(self) -> list[str]:
        """Digits, one string a level (figure 5: 0 is dp, 1 is mp; beyond it 2 is op, 3 and 4 are the halves)."""
        return ["".join(map(str, level)) for level in self.choices.tolist()]

    def csv(self, layer_names: Sequence[str]) -> str:
        """CSV: header `level,<layer names>`, then a row for each of H1, H2, ..."""
        rows = [[name, *level] for name, level in zip(level_names(self.levels), self.choices.tolist(), strict=True)]
        return csv_text([["level", *layer_names], *rows])

    def legend(self) -> list[Split | Half]:
        """What a legend explains: the paper's two splits, whatever occurs, and both halves together."""
        present = set(self.choices.ravel().tolist())
        third = [Split.OP] if Split.OP in present else []
        return [Split.DP, Split.MP, *third, *(Half if self.has_stages else ())]

    def stages(self) -> tuple[Stage, ...]:
        """The parts of the network that share no accelerator, in the order in which a micro-batch passes through.

        Raises:
            UserError: the layers that are together in a group are partly split and partly in a half, only in one half,
                or not cut at one place.
        """
        return tuple(self._stages(range(self.layers), 0, ()))

    def cut_levels(self) -> tuple[int, ...]:
        """The level at which each stage is cut from the one before it, for all stages but the first."""
        stages = self.stages()
        ends = [(before.layers[-1], after.layers[0]) for before, after in pairwise(stages)]
        return tuple(
            int(np.flatnonzero((self.choices[:, last] == Half.FIRST) & (self.choices[:, first] == Half.SECOND))[0])
            for last, first in ends
        )

    def _stages(self, layers: range, level: int, split_levels: tuple[int, ...]) -> list[Stage]:
        """The stages of layers that are together above a level, after the levels at which they were split."""
        for at in range(level, self.levels):
            row = self.choices[at, layers.start : layers.stop]
            if (row <= max(Split)).all():
                split_levels += (at,)
                continue
            first = int((row == Half.FIRST).sum())
            if not ((row[:first] == Half.FIRST).all() and (row[first:] == Half.SECOND).all() and 0 < first < len(row)):
                raise UserError(
                    f"a plan cuts the layers of a group at one place, the first of them in its first half and the "
                    f"others in its second, or splits them all; H{at + 1} has {''.join(map(str, row))} for layers "
                    f"{layers.start + 1} to {layers.stop}"
                )
            cut = layers.start + first
            before = self._stages(range(layers.start, cut), at + 1, split_levels)
            return before + self._stages(range(cut, layers.stop), at + 1, split_levels)
        return [
            Stage(
                layers=tuple(layers),
                devices=2 ** len(split_levels),
                splits=self.choices[list(split_levels), layers.start : layers.stop],
                levels=split_levels,
                recompute=self.recompute,
            )
        ]
