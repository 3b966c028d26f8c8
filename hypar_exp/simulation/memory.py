"""Memory that one accelerator needs for a training step, at its own share of every tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hypar_exp.networks import Network
from hypar_exp.planning import ShardedTensors


@dataclass(frozen=True)
class LeafMemory:
    """Bytes that one accelerator holds, by what they are for."""

    weights_bytes: float
    gradients_bytes: float
    activations_bytes: float
    """Every layer's input, kept from the forward to the gradient phase, and what the last layers write."""
    errors_bytes: float
    """The largest pair of a layer's output error and input error: no more than one pair is alive at a time."""

    @property
    def total_bytes(self) -> float:
        return self.weights_bytes + self.gradients_bytes + self.activations_bytes + self.errors_bytes


def leaf_memory(network: Network, leaf: ShardedTensors, element_bytes: int) -> LeafMemory:
    """The memory of one accelerator, where `leaf` are the tensors' sizes below the last level."""
    last = np.setdiff1d(np.arange(len(network.layers)), network.edge_producers)
    weights = float(leaf.weights.sum()) * element_bytes
    return LeafMemory(
        weights_bytes=weights,
        gradients_bytes=weights,
        activations_bytes=float(leaf.inputs.sum() + leaf.outputs[last].sum()) * element_bytes,
        errors_bytes=float((leaf.inputs + leaf.outputs).max()) * element_bytes,
    )
