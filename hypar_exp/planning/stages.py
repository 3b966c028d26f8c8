"""A network cut across the array: stages, each on devices of its own, that micro-batches pass through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hypar_exp.planning.plan import Plan

Recompute = Literal["none", "selective", "full"]
"""What of its activations a stage computes again in the backward pass instead of keeping it."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A part of the network on a part of the array.

    Attributes:
        layers: the layers of the stage (positions in the network), in the network's order.
        devices: accelerators of the stage, over all its replicas.
        replicas: copies of the stage; each takes a share of every micro-batch.
        splits: uint8[levels, layers], how the layers are split inside one replica of 2**levels accelerators.
        recompute: what of its activations is computed again.
    """

    layers: tuple[int, ...]
    devices: int = 1
    replicas: int = 1
    splits: Plan = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    recompute: Recompute = "none"


@dataclass(frozen=True)
class StagePlan:
    """Stages in the order in which a micro-batch passes through them.

    Attributes:
        stages: at least one.
        micro_batches: parts of a step's batch that one outer replica takes, one after the other.
        replicas: outer replicas: copies of the whole pipeline that exchange gradients once a step.
    """

    stages: tuple[Stage, ...]
    micro_batches: int = 1
    replicas: int = 1
