"""The hardware presets against the totals that their makers publish."""

import pytest

from hypar_exp.simulation import load_hardware


@pytest.mark.parametrize(
    ("name", "peak_operations_per_s", "capacity_bytes"),
    [
        ("hmc", 84e9, 8e9),
        ("eyeriss", 67.2e9, 4e9),
        ("tpu_v2", 46e12, 16 * 2**30),
        ("tpu_v3", 123e12, 32 * 2**30),
        ("a100", 312e12, 80e9),
        ("h100", 989e12, 80e9),
    ],
)
def test_peak_and_capacity_are_the_published_ones(
    name: str, peak_operations_per_s: float, capacity_bytes: float
) -> None:
    hardware = load_hardware(name)
    assert hardware.name == name
    assert hardware.peak_operations_per_s == pytest.approx(peak_operations_per_s, rel=0.005)
    assert hardware.dram_capacity_bytes == pytest.approx(capacity_bytes, rel=0.001)
