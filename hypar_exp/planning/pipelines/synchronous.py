"""How long a synchronous pipeline takes when each stage goes back as early as it can (DAPPLE; 1F1B with a flush).

Stages and the links between them alternate: a link is a stage too, whose forward and backward share one channel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Latency = Callable[
    [NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int],
    NDArray[np.float64],
]
"""From forward, backward and all-reduce seconds, float64[..., stages], and micro-batches to float64[...]."""


def pivot_latency(
    forward_s: NDArray[np.float64],
    backward_s: NDArray[np.float64],
    all_reduce_s: NDArray[np.float64],
    micro_batches: int,
) -> NDArray[np.float64]:
    """DAPPLE's estimate (PPoPP 2021, section 4.1): only the pivot, the stage that waits least, is looked at.

    It is the forward passes up to the pivot, the pivot's steady rounds, and what ends last: the backward passes from
    the pivot back to a stage, and that stage's all-reduce; a stage behind the pivot is ready earlier by the backward
    passes between. Without all-reduces it is never more than the pipeline takes, which may be 1.4 times as much.

    Args:
        forward_s, backward_s, all_reduce_s: float64[..., stages], of one micro-batch, and once a step.
        micro_batches: of a step.
    """
    by_stage = (np.ascontiguousarray(np.moveaxis(times, -1, 0)) for times in (forward_s, backward_s, all_reduce_s))
    forward, backward, exchange = by_stage
    reached, returned = np.cumsum(forward, axis=0), np.cumsum(backward, axis=0)
    rounds = reached + returned
    last = len(forward) - 1
    steady_s = (micro_batches - 1) * (forward[last] + backward[last])
    warm_up_s, back_s, before_s = reached[last], returned[last], rounds[last] - forward[last] - backward[last]
    for stage in range(last - 1, -1, -1):
        round_s = forward[stage] + backward[stage]
        own_s = (micro_batches - 1) * round_s
        better = own_s > steady_s + before_s - rounds[stage]
        steady_s, before_s = np.where(better, own_s, steady_s), np.where(better, rounds[stage] - round_s, before_s)
        warm_up_s, back_s = np.where(better, reached[stage], warm_up_s), np.where(better, returned[stage], back_s)
    ending_s = (back_s - returned + backward + exchange).max(axis=0)
    latency: NDArray[np.float64] = warm_up_s + steady_s + ending_s
    return latency


def exact_length(
    forward_s: Sequence[float],
    backward_s: Sequence[float],
    all_reduce_s: Sequence[float],
    micro_batches: int,
    warm_up: Sequence[int] | None = None,
) -> float:
    """Seconds from the first forward pass to the last all-reduce.

    Args:
        forward_s, backward_s, all_reduce_s: of each stage, of one micro-batch, and once a step.
        micro_batches: of a step.
        warm_up: forward passes of each stage before its first backward pass, none more than of the stage before;
            stages - s of stage s where it is None. A stage has no more of them than micro-batches.
    """
    stages = len(forward_s)
    ahead = [min(count, micro_batches) for count in warm_up or range(stages, 0, -1)]
    forward_ends: list[list[float]] = [[] for _ in range(stages)]
    backward_ends: list[list[float]] = [[] for _ in range(stages)]
    for micro_batch in range(micro_batches):
        for stage in range(stages):
            ends, returned = forward_ends[stage], backward_ends[stage]
            while len(ends) < min(micro_batch + ahead[stage], micro_batches):
                number = len(ends)
                start = ends[-1] if ends else 0.0
                if stage:
                    start = max(start, forward_ends[stage - 1][number])
                if number >= ahead[stage]:
                    start = max(start, returned[number - ahead[stage]])
                ends.append(start + forward_s[stage])
        behind = 0.0
        for stage in range(stages - 1, -1, -1):
            returned = backward_ends[stage]
            last_forward = forward_ends[stage][min(micro_batch + ahead[stage], micro_batches) - 1]
            start = max(behind, last_forward, returned[-1] if returned else 0.0)
            behind = start + backward_s[stage]
            returned.append(behind)
    return max(ends[-1] + exchange_s for ends, exchange_s in zip(backward_ends, all_reduce_s, strict=True))
