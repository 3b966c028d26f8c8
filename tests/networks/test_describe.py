"""Networks written as YAML are the same networks when they are read again."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from hypar_exp import networks
from hypar_exp.paths import CONF_DIR
from tests.conftest import DATA
from tests.networks.importers.onnx_models import LIGHT

ZOO = sorted(
    file.stem for file in (CONF_DIR / "network").glob("*.yaml") if "hypar_exp.networks.build" in file.read_text()
)


def round_trip(network: networks.Network, folder: Path) -> networks.Network:
    file = folder / "written.yaml"
    file.write_text(networks.network_yaml(network))
    return networks.load(str(file))


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_survives(name: str, tmp_path: Path) -> None:
    network = networks.load(name)
    assert round_trip(network, tmp_path) == network


@pytest.mark.parametrize("file", sorted(LIGHT.glob("*.onnx")), ids=lambda file: file.stem)
def test_onnx_models_survive(file: Path, tmp_path: Path) -> None:
    network = networks.load(str(file))
    assert round_trip(network, tmp_path) == network


OTHERS = [
    *("accpar/Alexnet.txt", "accpar/Vgg11.txt", "calculon/gpt3-13B.json", "calculon/megatron-1T.json"),
    *("onnx/deepautoencoder.onnx", "onnx/swiglu_1_16_32.onnx", "pipedream/pipedream_list_of_sizes.txt"),
    *("pipedream/resnet18.graph.txt", "pipedream/vgg16.graph.txt"),
    *(f"scalesim/{file.name}" for file in sorted((DATA / "scalesim").glob("*.csv"))),
]


@pytest.mark.parametrize("file", OTHERS)
def test_other_tools_files_survive(file: str, tmp_path: Path) -> None:
    network = networks.load(str(DATA / file))
    assert round_trip(network, tmp_path) == dataclasses.replace(network, notes=())


def test_names_that_yaml_would_take_for_something_else_survive(tmp_path: Path) -> None:
    network = networks.build("yes", [3], {"1": {"fc": 2}, "null": {"fc": 2}, "a: b": {"fc": 2, "reads": "1"}})
    assert round_trip(network, tmp_path) == network
