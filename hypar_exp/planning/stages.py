"""Stages: which part of the array works on which part of the network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Stage:
    """A part of a network and the accelerators that work on it.

    Attributes:
        layers: the indices of its layers (a profile's nodes), in topological order.
        devices: the numbers of its accelerators.
        replicas: groups of accelerators that each hold the whole stage.
        splits: uint8[levels, layers], how its layers are split inside one replica; (0, layers) on one accelerator.
        recompute: what is computed again in the backward pass: none, selective or full.
    """

    layers: tuple[int, ...]
    devices: tuple[int, ...]
    replicas: int
    splits: NDArray[np.uint8]
    recompute: str = "none"


@dataclass(frozen=True)
class StagePlan:
    """A pipeline: stages in the order of the network, and how the batch passes through them.

    Attributes:
        stages: one stage is no pipeline.
        micro_batches: parts of a replica's share of the step's batch.
        replicas: copies of the whole pipeline, each with its share of the batch.
    """

    stages: tuple[Stage, ...]
    micro_batches: int = 1
    replicas: int = 1
