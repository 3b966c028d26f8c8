"""Chains from their description: the paper's ten networks, shape inference, and what is said of a mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError

# sfc to cifar_c and alexnet: the weights that the dp bars of figure 8 imply (120 bytes a weight at four levels);
# the VGGs: the parameters of Simonyan & Zisserman's table 2, without biases
WEIGHTS = {
    "sfc": 140_722_176,
    "sconv": 100_500,
    "lenet_c": 430_500,
    "cifar_c": 145_376,
    "alexnet": 16_624_656,
    "vgg_a": 132_851_392,
    "vgg_b": 133_035_712,
    "vgg_c": 133_625_536,
    "vgg_d": 138_344_128,
    "vgg_e": 143_652_544,
}
CONV = {"conv": 8, "kernel": 3}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_the_papers_networks(name: str) -> None:
    assert sum(layer.weights for layer in networks.load(name).layers) == WEIGHTS[name]


@pytest.mark.parametrize(
    ("name", "layer", "reads", "writes"),
    [
        ("alexnet", "conv2", "48x55x55", "128x27x27"),
        ("alexnet", "fc1", "4608", "2048"),
        ("cifar_c", "conv1", "3x32x32", "32x16x16"),  # rounds the last, partial pooling window up
        ("cifar_c", "fc1", "1024", "64"),
        ("lenet_c", "fc1", "800", "500"),
        ("vgg_e", "fc1", "25088", "4096"),
        ("vgg_c", "conv3_3", "256x56x56", "256x28x28"),
    ],
)
def test_shapes_of_the_papers_networks(name: str, layer: str, reads: str, writes: str) -> None:
    network = networks.load(name)
    found = network.layers[network.layer_names.index(layer)]
    assert (str(found.input), str(found.output)) == (reads, writes)


def test_macs_are_counted_at_the_input_and_at_the_output_resolution() -> None:
    layer = networks.build("one", [3, 32, 32], {"conv1": {"conv": 16, "kernel": 5, "stride": 2, "pool": 2}}).layers[0]
    assert layer.weights == 5 * 5 * 3 * 16
    assert layer.macs_at_input == layer.weights * 32 * 32
    assert layer.macs_at_output == layer.weights * 14 * 14  # (32 - 5) // 2 + 1, before pooling
    assert str(layer.output) == "16x7x7"


def test_groups_divide_the_weights() -> None:
    layer = networks.build("one", [8, 6, 6], {"conv1": {"conv": 16, "kernel": 3, "padding": 1, "groups": 4}}).layers[0]
    assert layer.weights == 3 * 3 * (8 // 4) * 16


@pytest.mark.parametrize(("round_", "expected"), [("down", "2x6x6"), ("up", "2x7x7")])
def test_pooling_rounds_as_told(round_: str, expected: str) -> None:
    pool = {"kernel": 3, "stride": 2, "round": round_}
    layer = networks.build("one", [1, 14, 14], {"conv1": {"conv": 2, "kernel": 1, "pool": pool}}).layers[0]
    assert str(layer.output) == expected


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ({}, "network none has no layers"),
        (
            {"conv1": {"conv": 8, "kernel": 9}},
            "network.layers.conv1: its kernel of 9 does not fit the 3x8x8 that comes in",
        ),
        ({"conv1": CONV, "conv2": {**CONV, "kernel": 7}}, "network.layers.conv2: .* 8x6x6 that comes in .* at least 7"),
        ({"conv1": {**CONV, "pool": 9}}, "network.layers.conv1: its pool of 9 does not fit the 8x6x6"),
        ({"conv1": {**CONV, "conv": 0}}, "network.layers.conv1: conv must be a whole number of at least 1.*got 0"),
        ({"conv1": {**CONV, "conv": 1.5}}, "conv must be a whole number"),
        ({"conv1": {**CONV, "stride": -1}}, "stride must be a whole number of at least 1"),
        ({"conv1": {**CONV, "padding": -1}}, "padding must be a whole number of at least 0"),
        ({"conv1": {**CONV, "groups": 2}}, "2 groups must divide the 3 channels that come in and the 8 that go out"),
        ({"conv1": {**CONV, "kernl": 3}}, "network.layers.conv1: conv has no key 'kernl'; did you mean kernel"),
        ({"conv1": {"conv": 8}}, "network.layers.conv1: conv needs the key 'kernel'"),
        ({"fc1": {"fc": 0}}, "network.layers.fc1: fc must be a whole number of at least 1"),
        ({"fc1": {"fc": "ten"}}, "network.layers.fc1: fc must be a whole number"),
        ({"x": {"widht": 3}}, "network.layers.x: a layer needs exactly one of the keys"),
        ({"x": None}, "network.layers.x: a layer needs exactly one of the keys"),
        ({"conv1": {**CONV, "pool": {"kernel": 2, "round": "sideways"}}}, "pool.round must be down or up"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_layer(layers: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        networks.build("none", [3, 8, 8], layers)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [[3, 0, 8], [3, 8, 8, 8], [-1], "3x8x8", [3.5, 8, 8], [], None])
def test_an_input_that_is_no_shape_is_refused(shape: Any) -> None:
    with pytest.raises(
        UserError, match=r"network.input must be \[channels, height, width\], .* whole numbers above zero"
    ):
        networks.build("none", shape, {"fc1": {"fc": 10}})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: a\ninput: [3, 8, 8\nlayers: {}\n", r"mine.yaml, line \d: this is not YAML"),
        ("input: [3]\nlayers:\n  fc1: {fc: 3}\n  fc1: {fc: 4}\n", "mine.yaml, line 4: the key 'fc1' is there twice"),
        ("input: [3]\nlayer: {fc1: {fc: 3}}\n", "mine.yaml has an unknown key 'layer'; did you mean layers"),
        ("input: [3]\n", "mine.yaml needs the key 'layers'"),
        ("- 1\n- 2\n", "mine.yaml must map the keys name, input, layers to values"),
        ("input: [3]\nlayers: {}\n", "has no layers"),
        ("input: [3]\nlayers: [1]\n", "network.layers must map layer names to layers"),
    ],
)
def test_a_file_that_is_not_understood_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(UserError, match=sentence):
        networks.load(str(tmp_path / "mine.yaml"))


def test_an_unknown_network_names_the_near_ones() -> None:
    with pytest.raises(UserError, match=r"there is no network 'vgg_f'; did you mean .*vgg_e"):
        networks.load("vgg_f")
