"""Part of a network: the layers keep the shapes that they have in the whole."""

from __future__ import annotations

import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError


def test_layers_keep_their_shapes_and_edges() -> None:
    whole, part = networks.load("vgg_e"), networks.part("vgg_e", ["conv5_*"])
    assert part.layer_names == ("conv5_1", "conv5_2", "conv5_3", "conv5_4")
    assert part.layers == whole.layers[12:16]
    assert part.is_chain
    assert [edge.elements for edge in part.edges] == [512 * 14 * 14] * 3


def test_order_is_the_networks_own_and_gaps_leave_no_edge() -> None:
    part = networks.part("lenet_c", ["fc2", "conv1", "conv2"])
    assert part.layer_names == ("conv1", "conv2", "fc2")
    assert [(edge.producer, edge.consumer) for edge in part.edges] == [(0, 1)]


def test_a_single_layer_is_a_network() -> None:
    assert networks.part("vgg_e", ["fc3"], name="last").name == "last"
    assert networks.part("vgg_e", ["fc3"]).weights.tolist() == [4096 * 1000]


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        (["conv5_9"], "network.layers: vgg_e has no layer 'conv5_9'; did you mean conv5_4"),
        ([], r"network.layers must name at least one layer of vgg_e, as in \[fc3\]"),
    ],
)
def test_layers_that_are_not_there(layers: list[str], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        networks.part("vgg_e", layers)
