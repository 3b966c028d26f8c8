"""What a transfer between stages and an all-reduce inside one take on a cluster, by where their accelerators are.

An accelerator set is how many of it each machine has, int[machines]: inside a machine all are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning.pipelines.problem import Cluster

Devices = NDArray[np.intp]
"""int[..., machines]: accelerators of each machine."""


class Links(Protocol):
    """Times of what stages exchange."""

    def transfer_s(self, sources: Devices, targets: Devices, nbytes: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[...]: from the accelerators of one stage, int[..., machines], to those of the next, int[machines]."""

    def all_reduce_s(self, devices: Devices, nbytes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The seconds of an all-reduce of `nbytes` among the accelerators int[machines]."""


@dataclass(frozen=True)
class ClusterLinks:
    """DAPPLE's rules (Fan et al., PPoPP 2021, section 4.2, and its planner): a micro-batch is split and concatenated
    between replicas, so that what crosses machines is the share of the senders in other machines, at the rate from one
    to another; where the receivers are in several machines, all of it moves as a collective does.
    """

    cluster: Cluster

    def transfer_s(self, sources: Devices, targets: Devices, nbytes: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[...]: from the accelerators of one stage, int[..., machines], to those of the next, int[machines]."""
        machines = np.flatnonzero(targets)
        if len(machines) > 1:
            return nbytes / self.cluster.all_reduce_bytes_per_s(across=True)
        total = sources.sum(axis=-1)
        remote = (total - sources[..., machines[0]]) / np.maximum(total, 1)
        across_s = nbytes * remote / self.cluster.point_to_point_bytes_per_s(across=True)
        return np.where(remote > 0, across_s, nbytes / self.cluster.point_to_point_bytes_per_s(across=False))

    def all_reduce_s(self, devices: Devices, nbytes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The seconds of a ring all-reduce of `nbytes` among the accelerators int[machines]."""
        total = int(devices.sum())
        rate = self.cluster.all_reduce_bytes_per_s(across=bool(np.count_nonzero(devices) > 1))
        return nbytes * (2 * (total - 1) / total / rate)


def placements(free: Devices, per_machine: int, wanted: int) -> list[Devices]:
    """DAPPLE's ways to choose `wanted` accelerators of those free: from fresh machines first, from machines in use
    first, or evenly from all; each once, in this order.

    Args:
        free: int[machines], accelerators that no stage has.
        per_machine: accelerators of a machine.
        wanted: at most all that are free.
    """
    fresh = free == per_machine
    chosen = [
        _fill(free, np.argsort(~fresh, kind="stable"), wanted),
        _fill(free, np.argsort(fresh, kind="stable"), wanted),
    ]
    chosen.append(_scatter(free, wanted))
    return list({tuple(devices.tolist()): devices for devices in chosen}.values())


def _fill(free: Devices, order: NDArray[np.intp], wanted: int) -> Devices:
    chosen = np.zeros_like(free)
    before = np.cumsum(free[order]) - free[order]
    chosen[order] = np.clip(wanted - before, 0, free[order])
    return chosen


def _scatter(free: Devices, wanted: int) -> Devices:
    chosen = np.zeros_like(free)
    while wanted:
        open_machines = np.flatnonzero(free > chosen)[:wanted]
        chosen[open_machines] += 1
        wanted -= len(open_machines)
    return chosen
