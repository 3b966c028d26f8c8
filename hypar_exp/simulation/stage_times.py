"""How long the operations of a pipeline take: all that schedules and the timeline see of a network and an array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Seconds = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StageTimes:
    """Seconds of one micro-batch, by chunk (a stage, or one of the parts that a device holds when stages interleave).

    Attributes:
        forward_s: float64[chunks], F.
        input_gradient_s: float64[chunks], I: the error that goes to the chunk before.
        weight_gradient_s: float64[chunks], W. A schedule without W as an operation of its own runs B = I + W.
        recompute_s: float64[chunks], R: activations that are computed again before B; 0 where they are kept.
        forward_boundary_s: float64[chunks - 1], sending a chunk's output to the next one.
        backward_boundary_s: float64[chunks - 1], sending the error back over the same cut.
        gradient_exchange_s: float64[chunks], what follows a chunk's last weight gradient, once a step.
    """

    forward_s: Seconds
    input_gradient_s: Seconds
    weight_gradient_s: Seconds
    recompute_s: Seconds
    forward_boundary_s: Seconds
    backward_boundary_s: Seconds
    gradient_exchange_s: Seconds

    @property
    def chunks(self) -> int:
        return len(self.forward_s)
