"""What an accelerator keeps for a step, and in how many bytes: data, as the accounting is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole, shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Network
from hypar_exp.planning import Recompute, ShardedTensors

MOST_BYTES = 64
"""Of an element, and what a list of optimizer states has at most."""
MASK_BYTES = 1
"""Of an element of a dropout's mask."""


@dataclass(frozen=True)
class LayerBytes:
    """Bytes that one accelerator holds of each layer in training; every array is float64[..., layers].

    Attributes:
        weights, gradients, optimizer: for good.
        kept: of a micro-batch, from its forward to its backward pass.
        written: of the last layers' outputs.
        again: what is computed again for the backward pass, and kept no longer than that.
        errors: the layer's output error and input error.
        segments: intp[layers], the layers that are computed again together; one segment is at work at a time.
    """

    weights: NDArray[np.float64]
    gradients: NDArray[np.float64]
    optimizer: NDArray[np.float64]
    kept: NDArray[np.float64]
    written: NDArray[np.float64]
    again: NDArray[np.float64]
    errors: NDArray[np.float64]
    segments: NDArray[np.intp]

    @property
    def at_work(self) -> tuple[float, float]:
        """What the segment that needs most has computed again, and its largest pair of errors."""
        again, errors = np.zeros(self.segments[-1] + 1), np.zeros(self.segments[-1] + 1)
        np.add.at(again, self.segments, self.again)
        np.maximum.at(errors, self.segments, self.errors)
        most = int(np.argmax(again + errors))
        return float(again[most]), float(errors[most])

    @property
    def sum_and_moment(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same as bytes that add up over the layers, and those of which the largest counts."""
        lasting = self.weights + self.gradients + self.optimizer + self.kept + self.written
        if self.segments[-1] == 0:
            return lasting + self.again, self.errors
        return lasting, self.again + self.errors


@dataclass(frozen=True)
class MemoryModel:
    """What training keeps, and the bytes of an element of each class of tensors.

    Traffic and energy follow the bytes: an element of half the hardware's size takes half the DRAM and link traffic.

    Attributes:
        name: the model's name.
        weight_bytes: of a weight that layers compute with; None for the hardware's elements.
        gradient_bytes: of a weight's gradient, held and exchanged.
        activation_bytes: of features and errors, held and exchanged.
        optimizer_state_bytes: of each number that the optimizer holds for a weight: () for plain SGD, [4] for momentum,
            [4, 4, 4] for Adam with a master copy of the weights.
        pooling: what a layer writes before it is pooled is kept.
        normalisation: what normalisations read is kept.
        activation_functions: what activation functions read is kept, where their slope needs it.
        dropout: masks are kept, a byte an element, and the probabilities that attention has dropped out.
        recompute: none; selective (attention's probabilities) or full: what is computed again instead of kept.
        recomputed_layers: with full, how many layers are computed again at a time, from what the first of them reads;
            None for all of a stage.

    Raises:
        UserError: bytes that are no whole number from 1 to 64, or another word.
    """

    name: str = "paper"
    weight_bytes: int | None = None
    gradient_bytes: int | None = None
    activation_bytes: int | None = None
    optimizer_state_bytes: Sequence[int] = ()
    pooling: bool = False
    normalisation: bool = False
    activation_functions: bool = False
    dropout: bool = False
    recompute: Recompute = "none"
    recomputed_layers: int | None = None

    def __post_init__(self) -> None:
        for key in ("weight_bytes", "gradient_bytes", "activation_bytes"):
            if getattr(self, key) is not None:
                require_whole("memory_model", key, getattr(self, key), least=1, most=MOST_BYTES)
        states = self.optimizer_state_bytes
        if not isinstance(states, list | tuple) or len(states) > MOST_BYTES:
            raise UserError(
                f"memory_model.optimizer_state_bytes must be a list of at most {MOST_BYTES} whole numbers, as in "
                f"[4, 4, 4] (got {shortened(states)})"
            )
        for at, state in enumerate(states):
            require_whole("memory_model", f"optimizer_state_bytes[{at}]", state, least=1, most=MOST_BYTES)
        known = get_args(Recompute)
        if self.recompute not in known:
            raise UserError(
                f"memory_model.recompute must be {', '.join(known[:-1])} or {known[-1]} "
                f"(got {shortened(self.recompute)}){did_you_mean(str(self.recompute), known)}"
            )
        if self.recomputed_layers is not None:
            require_whole("memory_model", "recomputed_layers", self.recomputed_layers, least=1)
            if self.recompute != "full":
                raise UserError(
                    f"memory_model.recomputed_layers is for memory_model.recompute=full (got {self.recompute})"
                )

    def recomputing(self, recompute: Recompute) -> MemoryModel:
        """The same model where so much is computed again."""
        if recompute == self.recompute:
            return self
        layers = self.recomputed_layers if recompute == "full" else None
        return replace(self, recompute=recompute, recomputed_layers=layers)

    def adds_up(self, network: Network) -> bool:
        """Whether what training keeps is a sum over layers and a largest: not where groups are computed again."""
        layers = self.recomputed_layers or len(network.layers)
        return self.recompute != "full" or layers == 1 or layers >= len(network.layers)

    def sizes(self, element_bytes: int) -> tuple[int, int, int]:
        """Bytes of a weight, of a gradient and of an activation, where the hardware's elements have so many."""
        weight, gradient, activation = (
            element_bytes if given is None else given
            for given in (self.weight_bytes, self.gradient_bytes, self.activation_bytes)
        )
        return weight, gradient, activation

    def training(self, network: Network, leaf: ShardedTensors, element_bytes: int) -> LayerBytes:
        """What an accelerator holds in training, at its shares `leaf` of the tensors."""
        weight, gradient, activation = self.sizes(element_bytes)
        read = leaf.inputs + leaf.extra_inputs
        made, remade = self._made_by_products(network, leaf, activation)
        around = self._around(network, leaf, activation)
        errors = (read + leaf.outputs) * activation
        written = np.isin(np.arange(len(network.layers)), network.edge_producers, invert=True) * leaf.outputs
        segments = np.arange(len(network.layers))
        if self.recompute == "none":
            kept, again = read * activation + remade + around, np.zeros_like(read)
        elif self.recompute == "selective":
            kept, again = (read - made) * activation + around, made * activation + remade
        else:
            segments //= self.recomputed_layers or len(segments)
            kept = leaf.inputs * _first_of(segments, network) * activation
            again = read * activation + remade + around - kept
        return LayerBytes(
            weights=leaf.weights * weight,
            gradients=leaf.weights * gradient,
            optimizer=leaf.weights * sum(self.optimizer_state_bytes),
            kept=kept,
            written=written * activation,
            again=again,
            errors=errors,
            segments=segments,
        )

    def _made_by_products(
        self, network: Network, leaf: ShardedTensors, activation_bytes: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Elements of attention's probabilities; and bytes of their dropout, a mask and what is left of them."""
        samples = leaf.inputs / network.input_elements
        made = samples * network.around["probabilities"]
        dropped = samples * network.around["dropout_probabilities"]
        return made, dropped * self.dropout * (activation_bytes + MASK_BYTES)

    def _around(self, network: Network, leaf: ShardedTensors, activation_bytes: int) -> NDArray[np.float64]:
        """Bytes that operations around the layers keep."""
        read, written = leaf.inputs / network.input_elements, leaf.outputs / network.output_elements
        kept = np.zeros_like(read)
        if self.pooling:
            kept = kept + written * network.before_pooling
        if self.normalisation:
            kept = kept + read * network.around["normalised_inputs"]
            kept = kept + written * network.around["normalised_outputs"]
        if self.activation_functions:
            kept = kept + written * network.around["activation_inputs"]
        kept = kept * activation_bytes
        return kept + written * network.around["dropout_outputs"] * MASK_BYTES if self.dropout else kept


def _first_of(segments: NDArray[np.intp], network: Network) -> NDArray[np.bool_]:
    """bool[layers]: whether a layer reads nothing of its own segment, so that the segment begins with its input."""
    producers, consumers = network.edge_producers, network.edge_consumers
    inside = segments[producers] == segments[consumers]
    return np.isin(np.arange(len(segments)), consumers[inside], invert=True)
