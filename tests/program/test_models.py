"""Models as users bring them: every reader from the command line, and the same model from two files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from hypar_exp import networks
from tests.conftest import DATA, ROOT, Command
from tests.networks.importers.onnx_models import LIGHT, floats, node, save, weights


def test_resnet50_trains_alike_from_onnx_and_from_the_zoo(command: Command) -> None:
    reports = [
        command(*network, "tracking=none").stdout.partition("one training step")[2]
        for network in (["network=onnx", f"network.path={LIGHT / 'light_resnet50.onnx'}"], ["network=resnet50"])
    ]
    assert reports[0] == reports[1]
    assert "step energy" in reports[0]


@pytest.mark.parametrize(
    ("network", "file", "layers"),
    [
        ("accpar", "accpar/Vgg11.txt", 11),
        ("scalesim", "scalesim/Resnet18.csv", 21),
        ("calculon", "calculon/gpt3-13B.json", 160),
        ("pipedream", "pipedream/vgg16.graph.txt", 16),
        ("file", "scalesim/alexnet.csv", 5),
    ],
)
def test_other_tools_files_run(network: str, file: str, layers: int, command: Command) -> None:
    path = DATA / file
    shown = command(f"network={network}", f"network.path={path}", "tracking=none", "array.levels=2").stdout
    assert shown.startswith(f"{path.name.rsplit('.', 1)[0]} by hypar: {layers} layers")


def test_what_the_file_leaves_open_can_be_given(command: Command, tmp_path: Path) -> None:
    x = [floats("x", ["batch", "tokens", 6])]
    save(tmp_path / "m.onnx", [node("Mine", "x head.weight", "y", domain="d")], x, "y", [weights("head.weight", 6, 4)])
    own = ["network=onnx", "network.path=m.onnx", "tracking=none"]
    done = command(*own, expect=2)
    assert (
        "axis 1 of the input 'x' of m.onnx is dynamic; give its size, as in network.shapes={tokens: N}" in done.stderr
    )
    done = command(*own, "network.shapes={tokens: 8}", expect=2)
    assert "node 'y' (Mine): this operator has weights and is not known" in done.stderr
    assert "network.map={Mine: MatMul}" in done.stderr
    command(*own, "network.shapes={tokens: 8}", "network.map={Mine: MatMul}")


def test_a_run_keeps_the_layers_of_a_model_that_is_only_a_file(command: Command, tmp_path: Path) -> None:
    model = LIGHT / "light_squeezenet.onnx"
    command("network=onnx", f"network.path={model}")
    command("network=squeezenet")
    (kept,) = tmp_path.glob("outputs/artifacts/*/artifacts/network.yaml")
    assert networks.load(str(kept)) == networks.load(str(model))


def test_the_network_of_the_documentation_is_one() -> None:
    page = (ROOT / "docs" / "models.md").read_text()
    found = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    network = networks.build(**yaml.safe_load(found[1]))
    assert [str(layer.output) for layer in network.layers] == [
        "32x32x32",
        "32x32x32",
        "32x16x16",
        "16",  # both branches are pooled for all who read them
        "16",
        "10",
    ]
    assert len(network.edges) == 7
