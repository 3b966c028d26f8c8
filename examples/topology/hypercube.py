"""A topology: a hypercube, in which a tensor travels half of the dimensions on average."""

from __future__ import annotations

from dataclasses import dataclass

from hypar_exp.checks import require_whole


@dataclass(frozen=True)
class Hypercube:
    """2^levels accelerators, each with a link to the one that differs in one bit of its number."""

    name: str = "hypercube"
    levels: int = 4

    def __post_init__(self) -> None:
        require_whole("array", "levels", self.levels, least=0, most=16)

    @property
    def hop_factor(self) -> float:
        """Mean distance over all ordered pairs of accelerators, and at least 1: half of the bits differ."""
        return max(1.0, self.levels / 2)
