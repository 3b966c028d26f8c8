"""Compute time: arithmetic under a DRAM roofline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.hardware import Hardware

OPERATIONS_PER_MAC = 2


def mac_time_s(macs: NDArray[np.float64], hardware: Hardware, accelerators: float) -> NDArray[np.float64]:
    """Seconds for multiply-accumulates (float64[layers], of all phases and the whole batch) spread over the array.

    An accelerator that does another part of them than one in 2^levels counts as one of another number.
    """
    return OPERATIONS_PER_MAC * macs / (accelerators * hardware.sustained_operations_per_s)


def dram_time_s(elements: NDArray[np.float64], hardware: Hardware) -> NDArray[np.float64]:
    """Seconds for one accelerator's DRAM traffic, float64[layers] elements."""
    return elements * hardware.element_bytes / hardware.dram_bandwidth_bytes_per_s


def compute_time_s(mac_time: NDArray[np.float64], dram_time: NDArray[np.float64]) -> NDArray[np.float64]:
    """The roofline: a layer takes as long as the slower of its arithmetic and its DRAM traffic."""
    return np.maximum(mac_time, dram_time)
