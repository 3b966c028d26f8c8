"""The sharding rule: how the choices above a level have shrunk a layer's tensors.

A layer has three dimensions that a split can halve: its batch, its input channels and its output channels. A split
of type t halves dimension t: data parallelism the batch, model parallelism the input channels, output-channel
parallelism the output channels. A tensor shrinks with every choice that halves one of its own dimensions; where a
choice halves a dimension that it does not have, both halves hold it whole (or hold partial sums of it). This is the
only place that says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning.plan import Choices, Split

BATCH, INPUT_CHANNELS, OUTPUT_CHANNELS = Split.DP, Split.MP, Split.OP
INPUT_DIMENSIONS = (BATCH, INPUT_CHANNELS)
OUTPUT_DIMENSIONS = (BATCH, OUTPUT_CHANNELS)
WEIGHT_DIMENSIONS = (INPUT_CHANNELS, OUTPUT_CHANNELS)


@dataclass(frozen=True)
class ShardedTensors:
    """Elements that one group of accelerators holds of each tensor; every array is float64[..., layers or edges]."""

    weights: NDArray[np.float64]
    """A(W_l), and A(dW_l)."""
    inputs: NDArray[np.float64]
    """A(F_l), and A(E_l), of the whole batch."""
    outputs: NDArray[np.float64]
    """A(F_{l+1}), and A(E_{l+1}), of the whole batch."""
    weights_touched: NDArray[np.float64]
    """Elements of W that a pass over the batch reads: all, but of a table no more rows than are looked up."""
    extra_inputs: NDArray[np.float64]
    """What products without weights that run with the layer read, of the whole batch."""
    samples: NDArray[np.float64]
    """Of the batch."""
    edges: NDArray[np.float64]
    """The tensor on each edge as its consumer sees it: A(F), and A(E), of the whole batch."""


def choices_above(plans: Choices) -> NDArray[np.uint8]:
    """How often each split was chosen above each level.

    Args:
        plans: uint8[..., levels, layers].

    Returns:
        uint8[..., levels + 1, layers, splits]; the last level's entry (index `levels`) is for the leaf accelerators.
    """
    one_hot = plans[..., None] == np.arange(len(Split), dtype=np.uint8)
    counts = np.zeros((*plans.shape[:-2], plans.shape[-2] + 1, plans.shape[-1], len(Split)), dtype=np.uint8)
    np.cumsum(one_hot, axis=-3, dtype=np.uint8, out=counts[..., 1:, :, :])
    return counts


def shard(network: Network, batch_size: float, counts: NDArray[np.number]) -> ShardedTensors:
    """Every tensor's size after the choices counted in `counts`, number[..., layers, len(Split)].

    They are integers, or where shares are uneven floats (see `hypar_exp.planning.cost.device_groups`).
    """
    inputs = _fraction(counts, INPUT_DIMENSIONS)
    weights = network.weights * _fraction(counts, WEIGHT_DIMENSIONS)
    outputs = batch_size * network.output_elements * _fraction(counts, OUTPUT_DIMENSIONS)
    if network.is_grouped:
        # groups that do not mix lie in one half with all that they read and write: the output halves with the input
        outputs = outputs * np.exp2(-np.minimum(counts[..., INPUT_CHANNELS], np.log2(network.groups)))
    touched = weights
    if network.has_tables:
        rows = outputs * _fraction(counts, (INPUT_CHANNELS,))  # of each half's own part of the table
        touched = np.where(network.looked_up, np.minimum(weights, rows), weights)
    return ShardedTensors(
        weights=weights,
        inputs=batch_size * network.input_elements * inputs,
        outputs=outputs,
        weights_touched=touched,
        extra_inputs=batch_size * network.extra_inputs * inputs,
        samples=batch_size * _fraction(counts, (BATCH,)),
        edges=batch_size * network.edge_elements * inputs[..., network.edge_consumers],
    )


def layers_in_fractions_of_channels(network: Network, plan: Choices) -> list[str]:
    """The layers whose channels a plan, uint8[levels, layers], halves below whole numbers."""
    counts = choices_above(plan)[-1].astype(np.int64)
    read = np.array([layer.input.channels for layer in network.layers])
    written = np.array([layer.output.channels for layer in network.layers])
    split = (read % 2 ** counts[:, INPUT_CHANNELS] > 0) | (written % 2 ** counts[:, OUTPUT_CHANNELS] > 0)
    return [name for name, is_split in zip(network.layer_names, split, strict=True) if is_split]


def _fraction(counts: NDArray[np.number], dimensions: tuple[Split, ...]) -> NDArray[np.float64]:
    counted = counts[..., list(dimensions)]
    fraction: NDArray[np.float64]
    if np.issubdtype(counts.dtype, np.floating):
        fraction = np.exp2(-counted.sum(axis=-1))
    else:
        fraction = np.ldexp(1.0, -counted.sum(axis=-1, dtype=np.int64))
    return fraction
