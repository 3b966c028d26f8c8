"""`python -m hypar_exp.show`: the table, the picture, the YAML, and what it says when it cannot."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.networks.importers.onnx_models import LIGHT, floats, node, save, weights

SHOW = "hypar_exp.show"


def test_the_table_has_every_layer_and_the_published_totals(command: Command) -> None:
    lines = command("resnet50", module=SHOW).stdout.splitlines()
    assert lines[0] == "resnet50: 25.5 M weights, 4.09 GMACs a sample"
    rows = [line.split() for line in lines]
    assert ["conv2_1s", "conv", "64x56x56", "256x56x56", "16,384", "51,380,224"] in rows
    assert ["conv2_1c", "conv", "64x56x56", "256x56x56", "16,384", "51,380,224", "conv2_1s,", "conv2_1b"] in rows
    assert ["54", "layers", "25,502,912", "4,089,184,256", "69", "edges"] in rows


@pytest.mark.parametrize("network", ["vgg_e", "googlenet", "densenet121", "bert_base"])
def test_the_table_fits_80_columns(command: Command, network: str) -> None:
    lines = command(network, module=SHOW, COLUMNS="80").stdout.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    rows = [line.split() for line in lines]
    assert rows[2][:2] == ["layer", "kind"]
    assert {"weights", "MACs"} <= set(rows[2])


def test_long_names_lose_their_middle_where_there_is_no_room(command: Command, tmp_path: Path) -> None:
    names = [f"a/very/long/path/of/a/model/encoder/block_{number}/attention/output" for number in range(3)]
    layers = "\n".join(f"  {name}: {{conv: 8, kernel: 3, padding: 1}}" for name in names)
    (tmp_path / "long.yaml").write_text(f"name: long\ninput: [8, 16, 16]\nlayers:\n{layers}\n")
    lines = command("long.yaml", module=SHOW, COLUMNS="80").stdout.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert sum(line.strip().startswith("a/very/lo...") for line in lines) == 3


def test_a_picture_has_a_box_for_each_layer_and_an_arrow_for_each_edge(command: Command, tmp_path: Path) -> None:
    command(str(LIGHT / "light_squeezenet.onnx"), "--picture", "graph.svg", module=SHOW)
    document = ElementTree.fromstring((tmp_path / "graph.svg").read_text())
    name = "{http://www.w3.org/2000/svg}"
    boxes = [box for box in document.iter(f"{name}rect") if box.get("rx")]
    arrows = [path for path in document.iter(f"{name}path") if path.get("marker-end")]
    assert (len(boxes), len(arrows)) == (26, 33)


def test_the_yaml_of_an_onnx_model_trains_as_the_model_does(command: Command, tmp_path: Path) -> None:
    model = str(LIGHT / "light_squeezenet.onnx")
    (tmp_path / "squeeze.yaml").write_text(command(model, "--yaml", module=SHOW).stdout)
    of_yaml = command("network=file", "network.path=squeeze.yaml", "tracking=none").stdout
    of_model = command("network=onnx", f"network.path={model}", "tracking=none").stdout
    assert of_yaml.partition("\n")[2] == of_model.partition("\n")[2]
    assert "26 layers" in of_model


def test_options_go_to_the_files_reader(command: Command, tmp_path: Path) -> None:
    x = [floats("x", ["batch", "tokens", 6])]
    path = save(tmp_path / "m.onnx", [node("MatMul", "x head.weight", "y")], x, "y", [weights("head.weight", 6, 4)])
    shown = command(path, "network.shapes={tokens: 7}", module=SHOW).stdout
    assert re.search(r"head +matmul +6x7 +4x7 +24 +168", shown)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["resnet51"], "there is no network 'resnet51'; did you mean resnet50"),
        (["nothing.onnx"], "the ONNX file nothing.onnx cannot be read: No such file or directory"),
        (["vgg_a", "--picture", "a.bmp"], "--picture writes SVG; the file must end in .svg (got 'a.bmp')"),
        (["vgg_a", "shapes"], "an option of a network's file is KEY=VALUE (got 'shapes')"),
        (["vgg_a", "shapes=1"], "reading vgg_a takes no option 'shapes'"),
        (["vgg_a", "--picture", "no/where.svg"], "no/where.svg cannot be used: No such file or directory"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(command: Command, arguments: list[str], sentence: str) -> None:
    done = command(*arguments, module=SHOW, expect=2)
    assert done.stderr.startswith(f"hypar_exp: {sentence}")
    assert done.stderr.count("\n") == 1
