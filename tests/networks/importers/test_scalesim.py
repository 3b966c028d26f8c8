"""SCALE-Sim's topologies: its own files, and every way in which one can be malformed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks.importers import scalesim
from tests.conftest import DATA

HEAD = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"


def test_resnet18_has_the_published_weights_and_branches_where_channels_say_so() -> None:
    network = scalesim.load(str(DATA / "scalesim" / "Resnet18.csv"))
    ours = networks.load("resnet18")
    assert sorted(layer.weights for layer in network.layers) == sorted(layer.weights for layer in ours.layers)
    names = network.layer_names
    sources = {names[edge.consumer]: names[edge.producer] for edge in network.edges}
    assert sources["Conv3_s"] == sources["Conv3_1a"] == "Conv2_2b"
    assert str(network.layers[0].output) == "64x56x56", "what is read of it, pooled"
    assert str(network.layers[-2].output) == "512"


def test_outputs_are_counted_as_scalesim_counts_them() -> None:
    network = scalesim.load(str(DATA / "scalesim" / "alexnet.csv"), name="alexnet")
    # ceil((224 - 11 + 4) / 4) = 55; ceil((27 - 5 + 1) / 1) = 23
    assert [layer.output_positions for layer in network.layers[:2]] == [55 * 55, 23 * 23]
    assert len(network.edges) == 4


def test_rows_of_gpt2_are_matrices_and_products() -> None:
    path = str(DATA / "scalesim" / "gpt2.csv")
    plain = scalesim.load(path)
    assert [layer.weights for layer in plain.layers[2:]] == [4800 * 1600, 1600 * 1600, 3072 * 1600, 3072 * 1600]
    told = scalesim.load(path, products=["QKT", "QKTV"])
    assert told.layer_names == ("Linear1", "Linear2", "PW-FF-L1", "PW-FF-L2")
    assert told.layers[0].extra_macs == 2 * 1024 * 1024 * 64
    assert [layer.macs_at_output for layer in told.layers[1:]] == [layer.macs_at_output for layer in plain.layers[3:]]
    with pytest.raises(UserError, match="no row 'QKV'"):
        scalesim.load(path, products=["QKV"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a, b\n", "line 1: the head of a topology is"),
        (HEAD + "c1, 8, 8, 3, 3, 3, 4,\n", "line 2: stride of c1 is missing: column 8 is empty"),
        (
            HEAD.replace("Strides", "Stirdes, x") + "c1, 8, 8, 3, 3, 3, 4, 1,\n",
            "line 1: the head of a topology is 'name, ",
        ),
        (HEAD + "c1, 8, 8, 3, 3, 3, 4, x,\n", "line 2: stride of c1 must be a whole number of at least 1 (got 'x')"),
        (HEAD + "c1, 8, 8, 9, 9, 3, 4, 1,\n", "line 2: the filter of c1, 9x9, is larger than 8x8"),
        (HEAD + ", 8, 8, 3, 3, 3, 4, 1,\n", "line 2: the layer has no name"),
    ],
)
def test_malformed(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        scalesim.load(str(file))
    assert str(error.value).startswith(f"{file}, {sentence}")
    file.write_text(HEAD)
    with pytest.raises(UserError, match="no layers"):
        scalesim.load(str(file))


FOLDER = DATA / "scalesim"
FIRST, SECOND = (216, "8x18x18", 69_984), (1152, "16x9x9", 93_312)
SAME = (
    *("batch_column", "comment_cell", "empty_rows", "head_longer_than_rows", "names_twice", "sparsity", "tabs"),
    "title_row",
)
FORMS = {  # file -> weights, output and MACs of its layers
    **{name: [FIRST, SECOND] for name in SAME},
    "two_strides": [FIRST, (1152, "16x9x16", 9 * 16 * 1152)],  # ceil((18 - 3) / 2) + 1 = 9, and (18 - 3) / 1 + 1 = 16
    "gemm_sparsity": [(128, "8x6", 768), (32, "4x6", 192)],
    "depthwise": [FIRST, (8 * 9, "8x16x16", 16 * 16 * 72), (8 * 16, "16x16x16", 16 * 16 * 128)],
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_that_are_about(name: str) -> None:
    network = scalesim.load(str(FOLDER / f"scalesim_{name}.csv"))
    assert [(layer.weights, str(layer.output), layer.macs_at_output) for layer in network.layers] == FORMS[name]
    assert len(network.edges) == len(network.layers) - 1
    assert bool(network.notes) == ("sparsity" in name or name == "depthwise")


def test_names_that_occur_twice_are_numbered() -> None:
    assert scalesim.load(str(FOLDER / "scalesim_names_twice.csv")).layer_names == ("block", "block_2")


def test_a_row_that_nobody_writes_for_is_told(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(HEAD + "a, 8, 8, 3, 3, 3, 4, 1,\nb, 8, 8, 3, 3, 7, 4, 1,\n")
    (note,) = scalesim.load(str(file)).notes
    assert note == "row 'b' is taken to read the network's input: no row before it writes 7 channels"
