"""What a step is charged for: the paper leaves some of it open, so it is data, not code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import checked_coefficients, require_number, require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Layer, Network
from hypar_exp.planning import CommunicationModel, Recompute, ShardedTensors, Split
from hypar_exp.planning.cost.communication import BETWEEN_TENSORS, FORWARD_TENSORS, WITHIN_TENSORS
from hypar_exp.simulation.contested import UnlistedPools

DRAM_TENSORS = ("weights", "inputs", "outputs")
PHASES = ("forward", "backward", "gradient")
"""What a training step does for every layer; inference does the first alone."""
TENSORS_OF_PHASE = {
    "forward": ("output", "feature"),
    "backward": ("output_error", "input_error", "error"),
    "gradient": ("weight_gradient",),
}
"""What is exchanged in each phase; of a step in micro-batches the weight gradients once, all else for each of them."""


def _once_each() -> dict[str, Mapping[str, float]]:
    return {phase: dict.fromkeys(DRAM_TENSORS, 1.0) for phase in PHASES}


@dataclass(frozen=True)
class Accounting:
    """The coefficients of the communication, compute and energy accounts.

    Attributes:
        name: the accounting's name.
        within_layer, between_layers: see `CommunicationModel`.
        macs_resolution: where multiply-accumulates are counted: at a layer's `input` (as evaluated) or, exactly, at
            its `output` resolution.
        dram_accesses: phase -> tensor -> how often an accelerator touches a layer's weights (W, or dW), inputs (F_l,
            or E_l) and outputs (F_{l+1}, or E_{l+1}), each at its own share. What is left out is 0.
        dram_accesses_per_communicated_element: DRAM accesses that one exchanged element costs.
        sram_accesses_per_mac: SRAM accesses that one multiply-accumulate costs.
        forward_only: the step is inference: the forward phase alone, no errors and no gradients.
        halves_contested_layers: a layer that is forced to mp where the paper's algorithm gives it dp counts half; see
            `hypar_exp.simulation.contested`. Planners plan on the amounts as ever.
        unlisted_pools: network -> layer -> the size of a pooling that this needs and the network's file has not.

    Raises:
        UserError: an unknown resolution, split, phase or tensor, or a coefficient that is not finite and at least 0.
    """

    name: str
    within_layer: Mapping[str, Mapping[str, float]]
    between_layers: Mapping[str, Mapping[str, Mapping[str, float]]]
    macs_resolution: str = "input"
    dram_accesses: Mapping[str, Mapping[str, float]] = field(default_factory=_once_each)
    dram_accesses_per_communicated_element: float = 3.0
    sram_accesses_per_mac: float = 0.0
    forward_only: bool = False
    halves_contested_layers: bool = False
    unlisted_pools: UnlistedPools = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self.communication, self.dram_coefficients
        if self.macs_resolution not in ("input", "output"):
            raise UserError(
                f"accounting.macs_resolution must be input or output (got {self.macs_resolution!r})"
                f"{did_you_mean(str(self.macs_resolution), ('input', 'output'))}"
            )
        require_number(
            "accounting", self, "dram_accesses_per_communicated_element", "sram_accesses_per_mac", above=None
        )
        for network, pools in self.unlisted_pools.items():
            for layer, size in pools.items():
                require_whole("", f"accounting.unlisted_pools.{network}.{layer}", size, least=1)
        if self.halves_contested_layers and self.communication.splits != (Split.DP, Split.MP):
            raise UserError("accounting.halves_contested_layers is for an accounting that prices dp and mp alone")

    def inference(self) -> Accounting:
        """The same accounting of a step that is inference; always the same object."""
        return self._inference

    @cached_property
    def _inference(self) -> Accounting:
        return replace(self, forward_only=True)

    def weighed(self, weights: float, gradients: float, activations: float, *, forward_twice: bool) -> Accounting:
        """The same accounting where an element of each class of tensors counts as so many.

        Args:
            weights: for a weight that layers compute with.
            gradients: for a weight's gradient.
            activations: for a feature or an error.
            forward_twice: what the forward phase exchanges is exchanged once more, as it is computed again.
        """
        if weights == gradients == activations == 1 and not forward_twice:
            return self
        exchanged = dict.fromkeys((*WITHIN_TENSORS, *BETWEEN_TENSORS), activations) | {"weight_gradient": gradients}
        if forward_twice:
            exchanged |= {tensor: 2 * exchanged[tensor] for tensor in FORWARD_TENSORS}
        amounts = CommunicationModel(self.within_layer, self.between_layers).weighed(exchanged)
        touched = {
            phase: {
                tensor: count * (activations if tensor != "weights" else gradients if phase == PHASES[-1] else weights)
                for tensor, count in accesses.items()
            }
            for phase, accesses in self.dram_accesses.items()
        }
        return replace(
            self, within_layer=amounts.within_layer, between_layers=amounts.between_layers, dram_accesses=touched
        )

    @property
    def phases(self) -> tuple[str, ...]:
        """What the step does for every layer, each phase as many multiply-accumulates as the others."""
        return PHASES[:1] if self.forward_only else PHASES

    @cached_property
    def communication(self) -> CommunicationModel:
        model = CommunicationModel(self.within_layer, self.between_layers)
        return model.forward_only() if self.forward_only else model

    @cached_property
    def communication_of_phases(self) -> dict[str, CommunicationModel]:
        """The amounts that are exchanged in each phase of the step."""
        return {phase: self.communication.only(TENSORS_OF_PHASE[phase]) for phase in self.phases}

    @cached_property
    def dram_coefficients(self) -> tuple[float, float, float]:
        """Accesses to a layer's weights, inputs and outputs, in all phases of the step."""
        weights, inputs, outputs = (
            sum(coefficients[at] for coefficients in self.dram_coefficients_by_phase.values())
            for at in range(len(DRAM_TENSORS))
        )
        return weights, inputs, outputs

    @cached_property
    def dram_coefficients_by_phase(self) -> dict[str, list[float]]:
        """The same for each phase of the step."""
        by_phase = {
            phase: checked_coefficients(f"accounting.dram_accesses.{phase}", accesses, DRAM_TENSORS)
            for phase, accesses in self.dram_accesses.items()
        }
        for phase in by_phase:
            if phase not in PHASES:
                raise UserError(f"accounting.dram_accesses has no key '{phase}'{did_you_mean(str(phase), PHASES)}")
        return {phase: by_phase.get(phase, [0.0] * len(DRAM_TENSORS)) for phase in self.phases}

    def macs_of_step(self, network: Network, batch_size: float) -> NDArray[np.float64]:
        """float64[layers]: multiply-accumulates of the whole batch in all phases of the step."""
        one_sample = np.array([self.macs(layer) for layer in network.layers], dtype=np.float64)
        return len(self.phases) * batch_size * one_sample

    def dram_elements(self, leaf: ShardedTensors) -> NDArray[np.float64]:
        """float64[..., layers]: one accelerator's DRAM traffic in a step; `leaf` are its shares of the tensors."""
        return self._dram_elements(self.dram_coefficients, leaf)

    def dram_elements_of_phase(self, phase: str, leaf: ShardedTensors) -> NDArray[np.float64]:
        """The same of one phase."""
        return self._dram_elements(self.dram_coefficients_by_phase[phase], leaf)

    @staticmethod
    def _dram_elements(coefficients: Sequence[float], leaf: ShardedTensors) -> NDArray[np.float64]:
        weights, inputs, outputs = coefficients
        return weights * leaf.weights_touched + inputs * (leaf.inputs + leaf.extra_inputs) + outputs * leaf.outputs

    def products_of_macs(self, network: Network) -> NDArray[np.float64]:
        """float64[layers]: the part of a layer's arithmetic that products without weights are, as attention's."""
        macs = network.elements_of(self.macs)
        return np.divide(network.elements_of(lambda layer: layer.extra_macs), macs, np.zeros_like(macs), where=macs > 0)

    def computed_again(self, network: Network, recompute: Recompute) -> NDArray[np.float64]:
        """float64[layers]: how much of the forward phase is computed again in the backward pass."""
        if recompute == "none" or self.forward_only:
            return np.zeros(len(network.layers))
        return np.ones(len(network.layers)) if recompute == "full" else self.products_of_macs(network)

    def macs(self, layer: Layer) -> int:
        """Multiply-accumulates of a layer for one sample and one phase."""
        return layer.macs_at_input if self.macs_resolution == "input" else layer.macs_at_output
