"""The pipeline with the least slowest stage out of a list of stages, on a number of devices."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

NEVER = 10**6
"""More devices than there are."""
MOST_S = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Stages:
    """Stages to choose from, in the order of their first cuts.

    Attributes:
        begins, ends: intp[stages], cuts.
        copies, tensor_parallel: intp[stages], replicas, and devices of each.
        table, row: intp[stages], where their maker finds them again.
        times: float64[stages, s], seconds where this stage and those behind it have s replicas together.
    """

    begins: NDArray[np.intp]
    ends: NDArray[np.intp]
    copies: NDArray[np.intp]
    tensor_parallel: NDArray[np.intp]
    table: NDArray[np.intp]
    row: NDArray[np.intp]
    times: NDArray[np.float64]

    @classmethod
    def together(cls, parts: list[Stages], most_replicas: int) -> Stages:
        """All of them, in order."""
        if not parts:
            nothing = np.zeros(0, np.intp)
            return cls(nothing, nothing, nothing, nothing, nothing, nothing, np.zeros((0, most_replicas + 1)))
        columns = [np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)]
        order = np.argsort(columns[0], kind="stable")
        return cls(*(column[order] for column in columns))

    def only(self, chosen: NDArray[np.bool_]) -> Stages:
        """Some of them."""
        return Stages(*(getattr(self, column.name)[chosen] for column in fields(Stages)))


def least_slowest_stage(
    stages: Stages, devices: int, last: int, within: float = 1.0
) -> tuple[float, Stages, list[tuple[int, int]]] | None:
    """The least slowest stage of a pipeline from cut 0 to cut `last` on so many devices at most, and its stages.

    Args:
        stages: to choose from.
        devices: at most.
        last: the cut behind everything.
        within: a pipeline no more than so many times as slow will do.

    Returns:
        Seconds at most; those stages that may be in a pipeline as fast; and (index among them, replicas from it on) of
        each stage of one from the first to the last. None where there is none.
    """
    slowest = float(stages.times[np.isfinite(stages.times)].max(initial=0.0))
    too_low, bound = -np.inf, 1.3 * _least_possible(stages, devices, last)
    while True:
        quick = stages.only(stages.times.min(axis=1) <= bound)
        if _fewest(quick, bound, last)[0].min() <= devices:
            break
        if bound >= slowest:
            return None
        too_low, bound = bound, max(1.3 * bound, slowest / 1e9)
    values = np.unique(quick.times[(quick.times > too_low) & (quick.times <= bound)])
    low, high = 0, len(values) - 1
    while low < high and values[high] > within * values[low]:
        middle = (low + high) // 2
        if _fewest(quick, values[middle], last)[0].min() <= devices:
            high = middle
            quick = quick.only(quick.times.min(axis=1) <= values[high])
        else:
            low = middle + 1
    return float(values[high]), quick, _pipeline(quick, float(values[high]), last)


def is_possible(stages: Stages, devices: int, last: int) -> bool:
    """Whether there is a pipeline at all."""
    return bool(_fewest(stages, MOST_S, last)[0].min() <= devices)


def _least_possible(stages: Stages, devices: int, last: int) -> float:
    """No pipeline is faster: all devices busy with the cheapest stages."""
    work = stages.times.min(axis=1) * stages.copies * stages.tensor_parallel
    least = np.full(last + 1, np.inf)
    least[last] = 0.0
    starts = np.searchsorted(stages.begins, np.arange(last + 2))
    for begin in range(last - 1, -1, -1):
        own = slice(starts[begin], starts[begin + 1])
        least[begin] = (work[own] + least[stages.ends[own]]).min(initial=np.inf)
    return float(least[0]) / devices


def _fewest(stages: Stages, bound: float, last: int) -> NDArray[np.intp]:
    """intp[cuts, s]: the fewest devices from a cut on with s replicas in all, if no stage takes longer than `bound`."""
    most = stages.times.shape[1] - 1
    fewest = np.full((last + 1, 2 * most + 1), NEVER, np.intp)
    fewest[last, most] = 0
    starts = np.searchsorted(stages.begins, np.arange(last + 2)).tolist()
    needed = np.where(stages.times <= bound, (stages.copies * stages.tensor_parallel)[:, None], NEVER)
    behind = stages.ends[:, None] * (2 * most + 1) + np.arange(most, 2 * most + 1) - stages.copies[:, None]
    flat = fewest.reshape(-1)
    for begin in range(last - 1, -1, -1):
        own = slice(starts[begin], starts[begin + 1])
        if own.stop > own.start:
            fewest[begin, most:] = np.minimum((flat[behind[own]] + needed[own]).min(axis=0), NEVER)
    return fewest[:, most:]


def _pipeline(stages: Stages, bound: float, last: int) -> list[tuple[int, int]]:
    fewest = _fewest(stages, bound, last)
    begin, ahead = 0, int(fewest[0].argmin())
    chosen = []
    while begin != last:
        own = np.flatnonzero((stages.begins == begin) & (stages.copies <= ahead))
        own = own[stages.times[own, ahead] <= bound]
        needed = stages.copies[own] * stages.tensor_parallel[own]
        total = needed + fewest[stages.ends[own], ahead - stages.copies[own]]
        index = int(own[total.argmin()])
        chosen.append((index, ahead))
        begin, ahead = int(stages.ends[index]), ahead - int(stages.copies[index])
    return chosen
