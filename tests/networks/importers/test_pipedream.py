"""PipeDream's profiles: its own files, and every way in which one can be malformed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks.importers import pipedream
from tests.conftest import DATA

SIZES = "forward_compute_time=0.000, backward_compute_time=0.000, activation_size={}.000, parameter_size={}.000"
SMALL = "\n".join(
    [
        "node1 -- Input -- " + SIZES.format(2 * 4 * 64, 0),
        "node2 -- Conv2d(1, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1)) -- " + SIZES.format(2 * 4 * 256, 160),
        "node3 -- Linear(in_features=256, out_features=10, bias=True) -- " + SIZES.format(2 * 4 * 10, 10280),
        "\tnode1 -- node2",
        "\tnode2 -- node3",
        "",
    ]
)


@pytest.mark.parametrize(("file", "name"), [("vgg16", "vgg_d"), ("resnet18", "resnet18")])
def test_profiles_are_the_networks_of_the_zoo(file: str, name: str) -> None:
    read, ours = pipedream.load(str(DATA / "pipedream" / f"{file}.graph.txt")), networks.load(name)
    sizes = [
        Counter((e.kind, e.input, e.output, e.weights, e.output_positions) for e in network.layers)
        for network in (read, ours)
    ]
    assert sizes[0] == sizes[1]
    assert len(read.edges) == len(ours.edges)
    assert sum(edge.elements for edge in read.edges) == sum(edge.elements for edge in ours.edges)


def test_the_batch_is_what_the_first_linear_says_or_the_user(tmp_path: Path) -> None:
    file = tmp_path / "graph.txt"
    file.write_text(SMALL)
    assert pipedream.load(str(file)).layers[0].output_positions == 8 * 8
    assert pipedream.load(str(file), batch=8).layers[0].output_positions == 4 * 4
    file.write_text("\n".join(line for line in SMALL.splitlines() if "node3" not in line))
    with pytest.raises(UserError, match=r"give them as network\.batch=N"):
        pipedream.load(str(file))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("node1 -- Input", "node1 = Input", ", line 1: a line is 'node -- Module(...) -- sizes' or 'node -- node'"),
        ("node2 -- Conv2d", "node1 -- Conv2d", ", line 2: 'node1' is there twice"),
        ("activation_size", "size", ", line 1: a node needs activation_size=BYTES"),
        ("node1 -- node2", "node1 -- node9", ", line 4: 'node1 -- node9' names a node that is not there"),
        ("node1 -- node2", "node3 -- node2", ": its nodes read each other in a circle"),
        ("node1 -- node2", "node2 -- node3", ", line 2: a Conv2d must read one node (it reads 0)"),
        ("Conv2d(1, 4,", "Conv2d(one,", ", line 2: the sizes of this Conv2d are not understood"),
        ("Conv2d(", "Bilinear(", ", line 2: the module Bilinear has 160 bytes of weights and is not known"),
    ],
)
def test_malformed(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    file = tmp_path / "graph.txt"
    file.write_text(SMALL.replace(old, new, 1))
    with pytest.raises(UserError) as error:
        pipedream.load(str(file))
    assert str(error.value).startswith(f"{file}{sentence}")


def test_recurrent_networks_have_lists_of_sizes() -> None:
    network = pipedream.load(str(DATA / "pipedream" / "pipedream_list_of_sizes.txt"))
    # the state of 256 bytes is 8 samples of 8 floats; the sequence of 2560 bytes 10 steps of them
    sizes = {layer.name: (str(layer.input), str(layer.output), layer.weights) for layer in network.layers}
    assert sizes == {
        "embedding1": ("1x10", "16x10", 100 * 16),
        "lstm2.input": ("16x10", "32x10", 16 * 32),
        "lstm2.state": ("8x10", "8x10", 8 * 32),
        "matmul4": ("8x10", "4x10", 8 * 4),
    }
