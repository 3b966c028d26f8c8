"""AccPar's network files: its own two, and every way in which one can be malformed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks.importers import accpar
from tests.conftest import DATA

SMALL = """num_layers 2
conv1 CONV
in_ch 3
in_fmap_h 8
in_fmap_w 8
kernel 3
out_ch 4
out_fmap_h 4
out_fmap_w 4
pool 2
fc1 FC
in_ch 64
out_ch 10
"""


def test_vgg11_is_vgg_a_of_the_zoo_but_for_where_its_pools_are() -> None:
    read = accpar.load(str(DATA / "accpar" / "Vgg11.txt"))
    ours = networks.load("vgg_a")
    assert read.name == "Vgg11"
    assert read.is_chain
    assert [layer.weights for layer in read.layers] == [layer.weights for layer in ours.layers]
    assert [layer.input.elements for layer in read.layers] == [layer.input.elements for layer in ours.layers]
    assert [layer.macs_at_output for layer in read.layers] == [layer.macs_at_output for layer in ours.layers]


def test_alexnet_has_one_undivided_tower() -> None:
    read = accpar.load(str(DATA / "accpar" / "Alexnet.txt"), name="alexnet")
    assert [layer.kind for layer in read.layers] == ["conv"] * 5 + ["fc"] * 3
    # 11*11*3*96, 5*5*96*256, 3*3*256*384, 3*3*384*384, 3*3*384*256, and 9216*4096, 4096*4096, 4096*1000
    assert sum(layer.weights for layer in read.layers) == 34848 + 614400 + 884736 + 1327104 + 884736 + 58621952


@pytest.mark.parametrize(
    ("line", "replacement", "sentence"),
    [
        ("num_layers 2", "layers 2", "line 1: an AccPar file starts with 'num_layers N'"),
        ("num_layers 2", "num_layers 3", "line 1: num_layers is 3, but the file has 2 layers"),
        ("num_layers 2", "num_layers two", "line 1: num_layers must be a whole number of at least 1 (got 'two')"),
        ("conv1 CONV", "conv1", "line 2: a line is 'NAME CONV', 'NAME FC' or 'FIELD NUMBER'"),
        ("conv1 CONV", "in_ch 3", "line 2: a layer, 'NAME CONV' or 'NAME FC', must come before the field 'in_ch'"),
        ("kernel 3", "kernle 3", "line 6: a CONV layer has no field 'kernle'; did you mean kernel?"),
        ("kernel 3", "kernel -3", "line 6: kernel must be a whole number of at least 1 (got '-3')"),
        ("kernel 3", "in_ch 3", "line 6: layer conv1 has the field 'in_ch' twice"),
        ("pool 2\n", "", "line 2: layer conv1 (CONV) needs the field 'pool'"),
        ("fc1 FC", "conv1 FC", "line 11: the layer 'conv1' is there twice"),
        ("in_ch 64", "in_ch 65", "line 11: layer fc1 reads 65, but conv1 before it writes 4x4x4"),
    ],
)
def test_malformed(tmp_path: Path, line: str, replacement: str, sentence: str) -> None:
    file = tmp_path / "small.txt"
    file.write_text(SMALL.replace(line, replacement, 1))
    with pytest.raises(UserError) as error:
        accpar.load(str(file))
    assert str(error.value).startswith(f"{file}, {sentence}")


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "is empty"), (b"\xff\xfe\x00", "not UTF-8"), (None, "No such file")]
)
def test_no_text_at_all(tmp_path: Path, content: bytes | None, words: str) -> None:
    file = tmp_path / "small.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UserError, match=words):
        accpar.load(str(file))
