"""The networks of conf/network against the numbers that others publish for them."""

from __future__ import annotations

import pytest

from hypar_exp import networks
from hypar_exp.paths import CONF_DIR

# weights: the parameters of torchvision's models (11,689,512 of resnet18, 25,557,032 of resnet50, ...) less those of
# biases and normalisation; MACs: torchvision's documentation of its weights, "GFLOPS", for one sample
PUBLISHED = {
    "resnet18": (11_678_912, 1.814e9),
    "resnet34": (21_779_648, 3.664e9),
    "resnet50": (25_502_912, 4.089e9),
    "resnet101": (44_442_816, 7.801e9),
    "resnet152": (60_040_384, 11.514e9),
    "densenet121": (7_894_208, 2.834e9),
    "mobilenet_v2": (3_469_760, 0.301e9),
    "inception_v3": (23_799_136, 5.713e9),
    "squeezenet": (1_231_552, 0.349e9),
    # Szegedy et al., table 1: 6.8 M parameters (its rows sum to 6.99 M) and 1.5 G operations (1.58 G)
    "googlenet": (6_990_272, 1.583e9),
    # the papers' 110 M and 124 M parameters less position embeddings, biases, normalisation and heads
    "bert_base": (30522 * 768 + 12 * 12 * 768**2, None),
    "gpt2_small": (50257 * 768 + 12 * 12 * 768**2, None),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_weights_and_macs_are_the_published_ones(name: str) -> None:
    network = networks.load(name)
    weights, macs = PUBLISHED[name]
    assert sum(layer.weights for layer in network.layers) == weights
    if macs is not None:
        assert sum(layer.macs_at_output for layer in network.layers) == pytest.approx(macs, abs=0.5e6)


@pytest.mark.parametrize(("name", "positions"), [("bert_base", 512), ("gpt2_small", 1024)])
def test_transformer_macs_are_those_of_its_matrices_and_of_attention(name: str, positions: int) -> None:
    network = networks.load(name)
    matrices = 12 * 12 * 768**2 * positions
    attention = 12 * 2 * positions**2 * 768
    assert sum(layer.macs_at_output for layer in network.layers) == matrices + attention
    assert sum(layer.macs_at_input for layer in network.layers) == matrices + attention
    assert sum(layer.extra_macs for layer in network.layers) == attention


@pytest.mark.parametrize(
    ("name", "weighted", "shortcuts"),
    [("resnet18", 21, 8), ("resnet34", 37, 16), ("resnet50", 54, 16), ("resnet101", 105, 33), ("resnet152", 156, 50)],
)
def test_a_resnet_has_one_edge_for_each_layer_and_each_shortcut(name: str, weighted: int, shortcuts: int) -> None:
    network = networks.load(name)
    assert len(network.layers) == weighted
    # every layer but the first reads one tensor, every block adds one more
    assert len(network.edges) == weighted - 1 + shortcuts


def test_a_densenet_layer_reads_all_layers_of_its_block_before_it() -> None:
    network = networks.load("densenet121")
    last = network.layer_names.index("dense1_6a")
    reads = {network.layer_names[edge.producer]: edge.elements for edge in network.edges if edge.consumer == last}
    growth = {f"dense1_{layer}b": 32 * 56 * 56 for layer in range(1, 6)}
    assert reads == {"conv1": 64 * 56 * 56} | growth


def test_the_zoo_is_readable() -> None:
    for file in (CONF_DIR / "network").glob("*.yaml"):
        lines = file.read_text().splitlines()
        assert lines[0].startswith("# "), f"{file.name} does not say what it is"
        assert max(map(len, lines)) <= 150, file.name
