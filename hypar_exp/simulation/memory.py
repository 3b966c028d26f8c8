"""Memory that one accelerator needs for a step, at its own share of every tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import MemoryLimit, ShardedTensors
from hypar_exp.simulation.cost_model import CostModel


@dataclass(frozen=True)
class LeafMemory:
    """Bytes that one accelerator holds, by what they are for."""

    weights_bytes: float
    gradients_bytes: float
    activations_bytes: float
    """Training: every layer's input, with what the products that run with it read (query, key, value, probabilities),
    kept from the forward to the gradient phase, and what the last layers write. Inference: what is alive at once at the
    layer where that is most."""
    errors_bytes: float
    """The largest pair of a layer's output error and input error: no more than one pair is alive at a time."""

    @property
    def total_bytes(self) -> float:
        return self.weights_bytes + self.gradients_bytes + self.activations_bytes + self.errors_bytes


def memory_limit(model: CostModel) -> MemoryLimit:
    """What a plan has to fit in, for planning.

    Raises:
        UserError: several kinds of accelerators; or inference of a graph, which keeps tensors for as long as something
            reads them: no sum over layers.
    """
    network, accounting = model.network, model.accounting
    costs = model.only_kind("memory=enforce")
    if accounting.forward_only and not network.is_chain:
        raise UserError(
            f"memory=enforce cannot plan inference for network {network.name}, which is not a chain of layers; "
            "without it a run still says whether its plan fits"
        )
    shares = inference_shares if accounting.forward_only else training_shares

    def per_layer(counts: NDArray[np.number]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        kept, moment = shares(network, costs.leaf(counts))
        return kept * costs.hardware.element_bytes, moment * costs.hardware.element_bytes

    return MemoryLimit(costs.hardware.dram_capacity_bytes, per_layer)


def training_shares(network: Network, leaf: ShardedTensors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Elements that `training_memory` counts of each layer: in its sums, and in its largest; float64[..., layers]."""
    written = np.isin(np.arange(len(network.layers)), network.edge_producers, invert=True)
    read = leaf.inputs + leaf.extra_inputs
    return 2 * leaf.weights + read + written * leaf.outputs, read + leaf.outputs


def inference_shares(network: Network, leaf: ShardedTensors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same for `inference_memory` of a chain."""
    return leaf.weights, leaf.inputs + leaf.extra_inputs + leaf.outputs


def training_memory(network: Network, leaf: ShardedTensors, element_bytes: int) -> LeafMemory:
    """The memory of one accelerator in training, where `leaf` are the tensors' sizes below the last level."""
    last = network.last_layers
    weights = float(leaf.weights.sum()) * element_bytes
    read = leaf.inputs + leaf.extra_inputs
    return LeafMemory(
        weights_bytes=weights,
        gradients_bytes=weights,
        activations_bytes=float(read.sum() + leaf.outputs[last].sum()) * element_bytes,
        errors_bytes=float((read + leaf.outputs).max()) * element_bytes,
    )


def inference_memory(network: Network, leaf: ShardedTensors, element_bytes: int) -> LeafMemory:
    """The memory of one accelerator in inference: the weights, and the tensors that are alive at once.

    While a layer works, its input and its output are alive, and every earlier layer's output that a later layer
    reads, once, at the largest share that one of these readers takes of it.
    """
    passing = np.zeros((len(network.layers), len(network.layers)))  # [layer at work, producer]
    for at, edge in enumerate(network.edges):
        between = slice(edge.producer + 1, edge.consumer)
        passing[between, edge.producer] = np.maximum(passing[between, edge.producer], leaf.edges[at])
    alive = leaf.inputs + leaf.extra_inputs + leaf.outputs + passing.sum(axis=1)
    return LeafMemory(
        weights_bytes=float(leaf.weights.sum()) * element_bytes,
        gradients_bytes=0.0,
        activations_bytes=float(alive.max()) * element_bytes,
        errors_bytes=0.0,
    )
