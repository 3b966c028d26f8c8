"""Calculon's language models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks.importers import calculon
from tests.conftest import DATA

SMALL = {"hidden": 8, "feedforward": 32, "seq_size": 6, "attn_heads": 2, "attn_size": 4, "num_blocks": 2}


def test_the_published_models_have_their_parameters() -> None:
    folder = DATA / "calculon"
    # Narayanan et al., SC 2021: 1008.0 G parameters, of which 51200 x 25600 are the embedding and the rest biases
    assert sum(layer.weights for layer in calculon.load(str(folder / "megatron-1T.json")).layers) / 1e9 == (
        pytest.approx(1008.0 - 1.3, abs=0.2)
    )
    # Brown et al., 2020: 13.0 G, with an embedding of 50257 x 5140
    assert sum(layer.weights for layer in calculon.load(str(folder / "gpt3-13B.json")).layers) / 1e9 == (
        pytest.approx(13.0 - 0.26, abs=0.1)
    )


def test_a_block_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(SMALL))
    assert len(calculon.load(str(file)).layers) == 8
    network = calculon.load(str(file), blocks=1)
    assert [layer.weights for layer in network.layers] == [8 * 24, 8 * 8, 8 * 32, 32 * 8]
    assert network.layers[1].extra_macs == 2 * 6 * 6 * 8
    with pytest.raises(UserError, match=r"network\.blocks must be a whole number from 1 to 2"):
        calculon.load(str(file), blocks=3)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{\n  hidden: 3}", ", line 2: this is not JSON"),
        ("[1]", " must map the keys"),
        (SMALL | {"hiden": 3}, " has an unknown key 'hiden'; did you mean hidden?"),
        ({key: value for key, value in SMALL.items() if key != "hidden"}, " needs the key 'hidden'"),
        (SMALL | {"num_blocks": 10**9}, ".num_blocks must be a whole number from 1 to 10000"),
        (SMALL | {"hidden": "8"}, ".hidden must be a whole number"),
        ("[" * 100_000, ": this is no model file"),
    ],
)
def test_malformed(tmp_path: Path, content: Any, sentence: str) -> None:
    file = tmp_path / "small.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UserError) as error:
        calculon.load(str(file))
    assert str(error.value).startswith(f"{file}{sentence}")


@pytest.mark.parametrize(("key", "what"), [("num_procs", "an execution"), ("networks", "a system")])
def test_its_other_files_are_told_for_what_they_are(key: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(f'{{"{key}": 64, "tensor_par": 4}}')
    with pytest.raises(UserError, match=f"is {what} file of Calculon; a network is in its model file"):
        calculon.load(str(file))
