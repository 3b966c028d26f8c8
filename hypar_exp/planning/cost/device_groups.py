"""Arrays whose two halves are not alike: kinds of groups, and what an uneven share does to what is exchanged.

Where the two groups of a pair are of different speed, the faster takes more than half of what a choice splits: shares
s and 1 - s (AccPar, Song et al., HPCA 2020). A tensor's size below such a level then depends on the half,
and a choice counts there as -log2(share) halvings, which is 1 for an even share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.cost.sharding import choices_above
from hypar_exp.planning.plan import Choices, Split

RECUT = ((Split.DP, Split.MP), (Split.OP, Split.DP))
"""Producer's and consumer's splits between which a tensor that is cut along one dimension is cut along the other."""


@dataclass(frozen=True)
class GroupKind:
    """Groups of one kind of accelerators.

    Attributes:
        weight: their part of all groups.
        shares: by level, what the half that they are in takes of what a choice splits; () where all shares are even.
    """

    weight: float = 1.0
    shares: tuple[float, ...] = ()

    def share(self, level: int) -> float:
        """The half's share at a level, 1/2 if it is even."""
        return self.shares[level] if self.shares else 0.5

    def share_of_all(self, levels: int) -> float:
        """What one accelerator does of the array's arithmetic."""
        return math.prod(self.share(level) for level in range(levels))

    def halvings(self, levels: int) -> NDArray[np.number]:
        """number[levels]: what a choice at each level counts; integers where all shares are even."""
        return -np.log2(self.shares) if self.shares else np.ones(levels, dtype=np.uint8)

    def leaf_counts(self, plans: Choices) -> NDArray[np.number]:
        """What the choices of plans count for the leaf accelerators: number[..., layers, len(Split)]."""
        if not self.shares:
            return choices_above(plans)[..., -1, :, :]
        chosen = plans[..., None] == np.arange(len(Split), dtype=np.uint8)
        counts: NDArray[np.number] = (chosen * self.halvings(plans.shape[-2])[:, None, None]).sum(axis=-3)
        return counts


Kinds = tuple[GroupKind, ...]
EVEN: Kinds = (GroupKind(),)
"""All groups alike."""


def uneven_levels(kinds: Kinds, levels: int) -> list[int]:
    """The levels at which the halves of a pair are not alike."""
    return [level for level in range(levels) if any(kind.share(level) != 0.5 for kind in kinds)]


def recut_factors(splits: Sequence[Split], share: float) -> NDArray[np.float64]:
    """float64[producer's splits, consumer's splits]: what a pair exchanges between layers, over that of even halves.

    Where a tensor is cut anew, a half has its share s of one dimension and needs s of the other: it holds s^2 of the
    tensor and lacks s (1 - s), which both halves do; 1/4 each if they are even. Everything else that a pair exchanges
    is a whole tensor, or the two halves' parts of one, which add up to the same.
    """
    factors = np.ones((len(splits), len(splits)))
    for producer, consumer in RECUT:
        if producer in splits and consumer in splits:
            factors[splits.index(producer), splits.index(consumer)] = 4 * share * (1 - share)
    return factors
