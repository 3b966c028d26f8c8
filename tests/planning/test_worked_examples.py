"""The examples that the paper computes by hand: kilobytes that two halves exchange for one layer."""

from __future__ import annotations

import numpy as np
import pytest

from hypar_exp import networks
from hypar_exp.planning import layers_in_fractions_of_channels, plan_communication
from tests import conf

FC = networks.build("fc", [70], {"fc1": {"fc": 100}})
# the example's output is 8x8x50, before pooling
CONV = networks.build("conv", [20, 12, 12], {"conv1": {"conv": 50, "kernel": 5}})


@pytest.mark.parametrize("accounting", ["as_evaluated", "as_tabulated"])
@pytest.mark.parametrize(
    ("network", "split", "kilobytes"), [(FC, 0, 56.0), (FC, 1, 25.6), (CONV, 0, 200.0), (CONV, 1, 819.0)]
)
def test_layer_of_the_paper(network: networks.Network, split: int, kilobytes: float, accounting: str) -> None:
    plan = np.full((1, 1, 1), split, dtype=np.uint8)
    amounts = plan_communication(network, 32, conf.accounting(accounting).communication, plan)
    assert amounts.within.sum() * 4 / 1000 == pytest.approx(kilobytes, abs=0.5 if kilobytes > 100 else 0.05)


def test_layers_whose_channels_a_plan_halves_below_whole_numbers() -> None:
    network = networks.load("lenet_c")  # channels read: 1, 20, 800, 500
    plan = np.array([[1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0]], dtype=np.uint8)
    assert layers_in_fractions_of_channels(network, plan) == ["conv1", "conv2", "fc2"]
    assert layers_in_fractions_of_channels(network, np.zeros((4, 4), dtype=np.uint8)) == []
