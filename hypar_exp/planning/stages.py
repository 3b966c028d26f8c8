"""A network cut across the array: stages, each on devices of its own, that micro-batches pass through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
        levels: the array's hierarchy levels at which they are split, counted from 0; () on a flat array.
        recompute: what of its activations is computed again.
        machines: on a cluster, its accelerators in each machine, over all copies of the pipeline; () for the next free.
    """

    layers: tuple[int, ...]
    devices: int = 1
    replicas: int = 1
    splits: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    levels: tuple[int, ...] = ()
    recompute: Recompute = "none"
    machines: tuple[int, ...] = ()


@dataclass(frozen=True)
class StagePlan:
    """A plan of a flat array: stages in the order in which a micro-batch passes through them.

    Attributes:
        stages: at least one.
        micro_batches: parts of a step's batch that one outer replica takes, one after the other.
        replicas: outer replicas: copies of the whole pipeline that exchange gradients once a step.
    """

    stages: tuple[Stage, ...]
    micro_batches: int = 1
    replicas: int = 1
