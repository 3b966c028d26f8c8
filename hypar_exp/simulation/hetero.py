"""Arrays of two kinds of accelerators, as AccPar's (Song et al., HPCA 2020), and how any array is seen by its kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.planning import GroupKind
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.topology import MOST_LEVELS, AcceleratorArray

COMMON = ("name", "element_bytes")
"""Fields of `Hardware` in which both kinds are the same."""


@dataclass(frozen=True)
class AcceleratorKind:
    """The accelerators of one kind in an array.

    Attributes:
        hardware: one of them.
        group: their part of the array, and of what a choice splits.
        link_bandwidth_bits_per_s: float64[levels], at which their groups exchange at each level.
    """

    hardware: Hardware
    group: GroupKind
    link_bandwidth_bits_per_s: NDArray[np.float64]


@runtime_checkable
class MixedArray(AcceleratorArray, Protocol):
    """An array of several kinds; a user's own needs no more than this."""

    def kinds(self, hardware: Hardware) -> tuple[AcceleratorKind, ...]:
        """The kinds, where `hardware` is the first."""
        ...


def kinds_of(array: AcceleratorArray, hardware: Hardware) -> tuple[AcceleratorKind, ...]:
    """The kinds of accelerators of any array: one, unless it is mixed."""
    if isinstance(array, MixedArray):
        return array.kinds(hardware)
    rates = np.full(array.levels, hardware.link_bandwidth_bits_per_s, dtype=np.float64)
    return (AcceleratorKind(hardware, GroupKind(), rates),)


@dataclass(frozen=True)
class Hetero:
    """An H tree with as many accelerators of a second kind as of the first.

    At one level every pair has a group of each kind, and their shares of whatever a choice splits follow their speed,
    their sustained operations a second. Above it all groups have both kinds in equal parts, below it a group has one:
    there, and only there, halves are even. Where both kinds are in a pair it exchanges at the slower link's rate.

    Attributes:
        name: the array's name.
        levels: 2^levels accelerators.
        mixed_level: the level of the unlike pairs, counted from 1.
        second: what the second kind has that `hardware` has not.

    Raises:
        UserError: levels outside 1 to 16, a mixed level that is not one of them, or a field that hardware has not.
    """

    name: str = "hetero"
    levels: int = 4
    mixed_level: int = 1
    second: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_whole("array", "levels", self.levels, least=1, most=MOST_LEVELS)
        require_whole("array", "mixed_level", self.mixed_level, least=1, most=self.levels)
        known = [spec.name for spec in dataclasses.fields(Hardware) if spec.name not in COMMON]
        for key in self.second:
            if key not in known:
                raise UserError(f"array.second has no key '{key}'{did_you_mean(str(key), known)}")

    @property
    def hop_factor(self) -> float:
        return 1.0

    def kinds(self, hardware: Hardware) -> tuple[AcceleratorKind, ...]:
        """Both kinds.

        Raises:
            UserError: a value that hardware cannot have.
        """
        try:
            both = hardware, replace(hardware, **self.second)
        except UserError as error:
            raise UserError(f"array.second: {str(error).removeprefix('hardware.')}") from None
        speeds = [kind.sustained_operations_per_s for kind in both]
        slower = min(kind.link_bandwidth_bits_per_s for kind in both)
        return tuple(
            AcceleratorKind(
                hardware=kind,
                group=GroupKind(weight=0.5, shares=self._by_level(0.5, speed / sum(speeds), 0.5)),
                link_bandwidth_bits_per_s=np.array(self._by_level(slower, slower, kind.link_bandwidth_bits_per_s)),
            )
            for kind, speed in zip(both, speeds, strict=True)
        )

    def _by_level(self, above: float, mixed: float, below: float) -> tuple[float, ...]:
        return (above,) * (self.mixed_level - 1) + (mixed,) + (below,) * (self.levels - self.mixed_level)
