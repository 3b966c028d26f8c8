"""FPDeep's chain by hand, and where VGG-16 bends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.networks import build, load
from hypar_exp.systems.fpga_chain import Chain, FpgaChain
from tests.systems.settings import setting, workload


def test_a_chain_by_hand() -> None:
    """A 3 x 3 convolution of 2 x 8 x 8 to 4 channels, pooled by 2, and fc 64 -> 10."""
    layers = {"conv": {"conv": 4, "kernel": 3, "padding": 1, "pool": 2}, "fc": {"fc": 10}}
    chain = Chain.of(build("small", [2, 8, 8], layers))
    assert chain.operations.tolist() == [6 * 72 * 64, 6 * 640]
    assert chain.by_output.tolist() == [128, 64]
    assert chain.by_input.tolist() == [256, 10]  # before pooling
    assert chain.streamed.tolist() == [128, 10]
    assert chain.kept_rows.tolist() == [3, 1]
    operations = 6 * 72 * 64 + 6 * 640
    assert chain.bend(1000.0, 64.0, 16) == pytest.approx(64 * operations / (16 * 1000 * 128))
    assert chain.rate(1, 1000.0, 64.0, 16) == pytest.approx(1000 / operations)
    assert chain.rate(100, 1000.0, 64.0, 16) == pytest.approx(64 / (16 * 128))


@pytest.mark.parametrize(("operations_per_s", "bend"), [(1.0e12, 108), (1.2e12, 90)])
def test_where_vgg_16_bends(operations_per_s: float, bend: int) -> None:
    """Six lanes of 10 Gb/s, and 1.0 to 1.2 TOPS a device."""
    assert Chain.of(load("vgg_d")).bend(operations_per_s, 60e9, 16) == pytest.approx(bend, rel=0.01)


@given(devices=st.integers(1, 300), link=st.floats(1e9, 1e12))
def test_linear_before_the_bend_and_flat_behind(devices: int, link: float) -> None:
    chain = Chain.of(load("alexnet"))
    rate, alone, bend = chain.rate(devices, 1e12, link, 16), chain.rate(1, 1e12, link, 16), chain.bend(1e12, link, 16)
    assert rate <= devices * alone * (1 + 1e-9)
    if devices > 1:
        assert rate == pytest.approx(alone * min(devices, bend))
    assert np.isclose(chain.devices(devices).sum(), devices)


def test_the_preset() -> None:
    made = workload("fpdeep")
    assert isinstance(made, FpgaChain)
    found = made.run(setting(network="vgg_d"))
    assert found.metrics["linear_up_to_devices"] == pytest.approx(108, rel=0.01)
    assert any("linear up to 60, 83 and 100 devices (published, other hardware)" in words for words in found.words)
    assert sum(found.series["layer/devices"]) == pytest.approx(128)
    layers = next(table for table in found.tables if table.name == "layers")
    assert {row[2] for row in layers.rows} == {"mp", "op"}
