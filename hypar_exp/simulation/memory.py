"""Memory that one accelerator needs for a step, at its own share of every tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import MemoryLimit, ShardedTensors
from hypar_exp.simulation.cost_model import CostModel, KindCosts
from hypar_exp.simulation.memory_model import LayerBytes


@dataclass(frozen=True)
class LeafMemory:
    """Bytes that one accelerator holds, by what they are for."""

    weights_bytes: float
    gradients_bytes: float
    activations_bytes: float
    """Training: every layer's input, with what the products that run with it read (query, key, value, probabilities),
    kept from the forward to the gradient phase, and what the last layers write; what the memory model adds to it or
    computes again. Inference: what is alive at once at the layer where that is most."""
    errors_bytes: float
    """The largest pair of a layer's output error and input error: no more than one pair is alive at a time."""
    optimizer_bytes: float = 0.0
    """What the optimizer holds of every weight."""

    @property
    def total_bytes(self) -> float:
        held = self.weights_bytes + self.gradients_bytes + self.activations_bytes + self.errors_bytes
        return held + self.optimizer_bytes


def memory_limit(model: CostModel) -> MemoryLimit:
    """What a plan has to fit in, for planning.

    Raises:
        UserError: several kinds of accelerators; or inference of a graph, which keeps tensors for as long as something
            reads them: no sum over layers; or several layers that are computed again at a time.
    """
    network, accounting = model.network, model.accounting
    costs = model.only_kind("memory=enforce")
    if accounting.forward_only and not network.is_chain:
        raise UserError(
            f"memory=enforce cannot plan inference for network {network.name}, which is not a chain of layers; "
            "without it a run still says whether its plan fits"
        )

    if not accounting.forward_only and not model.memory_model.adds_up(network):
        raise UserError(
            "memory=enforce cannot plan with memory_model.recomputed_layers="
            f"{model.memory_model.recomputed_layers}: layers that are computed again in groups are no sum over layers; "
            "1 or null is one"
        )

    def per_layer(counts: NDArray[np.number]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        leaf = costs.leaf(counts)
        if accounting.forward_only:
            weight, _, activation = costs.sizes
            return leaf.weights * weight, (leaf.inputs + leaf.extra_inputs + leaf.outputs) * activation
        return model.memory_model.training(network, leaf, costs.hardware.element_bytes).sum_and_moment

    return MemoryLimit(costs.hardware.dram_capacity_bytes, per_layer)


def leaf_memory(costs: KindCosts, leaf: ShardedTensors) -> LeafMemory:
    """What one accelerator holds, where `leaf` are the tensors' sizes below the last level."""
    model = costs.model
    if model.accounting.forward_only:
        return inference_memory(model.network, leaf, costs.sizes)
    return training_memory(model.memory_model.training(model.network, leaf, costs.hardware.element_bytes))


def training_memory(layers: LayerBytes) -> LeafMemory:
    """The memory of one accelerator in training."""
    again, errors = layers.at_work
    return LeafMemory(
        weights_bytes=float(layers.weights.sum()),
        gradients_bytes=float(layers.gradients.sum()),
        activations_bytes=float(layers.kept.sum() + layers.written.sum()) + again,
        errors_bytes=errors,
        optimizer_bytes=float(layers.optimizer.sum()),
    )


def inference_memory(network: Network, leaf: ShardedTensors, sizes: tuple[int, int, int]) -> LeafMemory:
    """The memory of one accelerator in inference: the weights, and the tensors that are alive at once.

    While a layer works, its input and its output are alive, and every earlier layer's output that a later layer
    reads, once, at the largest share that one of these readers takes of it.

    Args:
        network: the network.
        leaf: shares of one accelerator.
        sizes: bytes of a weight, of a gradient and of an activation.
    """
    weight, _, activation = sizes
    passing = np.zeros((len(network.layers), len(network.layers)))  # [layer at work, producer]
    for at, edge in enumerate(network.edges):
        between = slice(edge.producer + 1, edge.consumer)
        passing[between, edge.producer] = np.maximum(passing[between, edge.producer], leaf.edges[at])
    alive = leaf.inputs + leaf.extra_inputs + leaf.outputs + passing.sum(axis=1)
    return LeafMemory(
        weights_bytes=float(leaf.weights.sum()) * weight,
        gradients_bytes=0.0,
        activations_bytes=float(alive.max()) * activation,
        errors_bytes=0.0,
    )
