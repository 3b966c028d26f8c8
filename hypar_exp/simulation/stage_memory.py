"""What an accelerator of a pipeline holds: weights for good, activations for as long as the schedule keeps them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.memory import LeafMemory, inference_memory
from hypar_exp.simulation.stage_model import StageModel


@dataclass(frozen=True)
class StageMemory:
    """Bytes that one accelerator holds of a stage.

    Attributes:
        weights_bytes, gradients_bytes, optimizer_bytes: for good.
        kept_bytes: of each micro-batch between its forward and its backward pass.
        working_bytes: of one micro-batch at a time: the stage's output, and activations that are computed again.
        errors_bytes: the largest pair of a layer's output error and input error that is there with these.
    """

    weights_bytes: float
    gradients_bytes: float
    kept_bytes: float
    working_bytes: float
    errors_bytes: float
    optimizer_bytes: float = 0.0

    @classmethod
    def of(cls, stage: StageModel) -> StageMemory:
        """What the accelerators of a stage hold, by what it computes again."""
        network, leaf = stage.costs.model.network, stage.leaf
        if stage.model.accounting.forward_only:
            memory = inference_memory(network, leaf, stage.costs.sizes)
            return cls(memory.weights_bytes, 0.0, 0.0, memory.activations_bytes, 0.0)
        model = stage.model.memory_model.recomputing(stage.stage.recompute)
        layers = model.training(network, leaf, stage.costs.hardware.element_bytes)
        again, errors = layers.at_work
        return cls(
            weights_bytes=float(layers.weights.sum()),
            gradients_bytes=float(layers.gradients.sum()),
            kept_bytes=float(layers.kept.sum()),
            working_bytes=float(layers.written.sum()) + again,
            errors_bytes=errors,
            optimizer_bytes=float(layers.optimizer.sum()),
        )


def memory_of_device(stages: list[StageMemory], activations_bytes: float) -> LeafMemory:
    """What an accelerator holds of all stages that its device has.

    Args:
        stages: of the device.
        activations_bytes: the most that it keeps of micro-batches at a time.
    """
    return LeafMemory(
        weights_bytes=sum(stage.weights_bytes for stage in stages),
        gradients_bytes=sum(stage.gradients_bytes for stage in stages),
        activations_bytes=activations_bytes + max(stage.working_bytes for stage in stages),
        errors_bytes=max(stage.errors_bytes for stage in stages),
        optimizer_bytes=sum(stage.optimizer_bytes for stage in stages),
    )


def kept_by_stage(stages: list[StageMemory]) -> NDArray[np.float64]:
    """float64[stages]: bytes that each keeps of a micro-batch."""
    return np.array([stage.kept_bytes for stage in stages])
