"""How long the operations of a pipeline take: all that schedules and the timeline see of a network and an array."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError

Seconds = NDArray[np.float64]


def _left_out() -> Seconds:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class StageTimes:
    """Seconds of one micro-batch, by chunk (a stage, or one of the parts that a device holds when stages interleave).

    A field that is left out is 0 everywhere.

    Attributes:
        forward_s: float64[chunks], F, with the exchanges inside the stage.
        input_gradient_s: float64[chunks], I: the error that goes to the chunk before, with the exchanges inside.
        weight_gradient_s: float64[chunks], W. A schedule without W as an operation of its own runs B = I + W.
        recompute_s: float64[chunks], R: activations that are computed again before B; 0 where they are kept.
        forward_boundary_s: float64[chunks - 1], sending a chunk's output to the next one.
        backward_boundary_s: float64[chunks - 1], sending the error back over the same cut.
        gradient_exchange_s: float64[chunks], what follows a chunk's last weight gradient, once a step.
        forward_exchange_s: float64[chunks], the part of `forward_s` in which accelerators of the stage exchange.
        input_gradient_exchange_s: float64[chunks], the same part of `input_gradient_s`.
        recompute_exchange_s: float64[chunks], the same part of `recompute_s`.

    Raises:
        UserError: a time is negative or not finite, or a field is not as long as the others.
    """

    forward_s: Seconds
    input_gradient_s: Seconds
    weight_gradient_s: Seconds
    recompute_s: Seconds = field(default_factory=_left_out)
    forward_boundary_s: Seconds = field(default_factory=_left_out)
    backward_boundary_s: Seconds = field(default_factory=_left_out)
    gradient_exchange_s: Seconds = field(default_factory=_left_out)
    forward_exchange_s: Seconds = field(default_factory=_left_out)
    input_gradient_exchange_s: Seconds = field(default_factory=_left_out)
    recompute_exchange_s: Seconds = field(default_factory=_left_out)

    def __post_init__(self) -> None:
        for spec in fields(self):
            seconds = np.asarray(getattr(self, spec.name), np.float64)
            length = self.chunks - ("boundary" in spec.name)
            seconds = seconds if len(seconds) else np.zeros(length)
            if len(seconds) != length:
                raise UserError(f"stage times: {spec.name} has {len(seconds)} entries where {length} are needed")
            if not (np.isfinite(seconds) & (seconds >= 0)).all():
                raise UserError(
                    f"stage times: {spec.name} must be finite seconds of at least 0 (got {seconds.tolist()})"
                )
            object.__setattr__(self, spec.name, seconds)

    @property
    def chunks(self) -> int:
        return len(self.forward_s)
