"""What README and tutorial show, executed: the main job, its picture, the library example, the network file."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT, Command

README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "pictures" / "first_run.svg"


def block(language: str, containing: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", TUTORIAL, flags=re.DOTALL)
    (found,) = [text for text in blocks if containing in text]
    return str(found)


def lines(text: str) -> list[str]:
    """Without blank ends of lines, and without where it was recorded, which differs."""
    return [line.rstrip() for line in text.split("Recorded in")[0].splitlines() if line.strip()]


def lines_of_picture(path: Path) -> list[str]:
    """The lines of a terminal, from the texts that stand side by side in its picture."""
    by_height: dict[float, str] = {}
    for text in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text"):
        if "clip-path" in text.attrib and text.text is not None:
            height = float(text.attrib["y"])
            by_height[height] = by_height.get(height, "") + text.text.replace("\u00a0", " ")
    return [line.rstrip() for _, line in sorted(by_height.items()) if line.strip()]


@pytest.mark.usefixtures("database")
def test_the_main_job_prints_what_the_readme_shows(command: Command) -> None:
    printed = lines(command("network=vgg_e", "strategy=hypar", "array.levels=4").stdout)
    assert printed == lines(block("text", "vgg_e by hypar"))
    assert printed == lines_of_picture(PICTURE)


def test_the_library_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(block("python", "networks.load"), {})
    printed = capsys.readouterr().out
    assert "['0000000000000000111', '0000000000000000111', '0000000000000000111', '0000000000000001111']" in printed


def test_the_library_needs_numpy_and_pyyaml_alone(command: Command, tmp_path: Path) -> None:
    others = (
        "lambda name: name != 'hypar_exp' and 'site-packages' in (getattr(sys.modules[name], '__file__', '') or '')"
    )
    check = "import sys\nimported = {name.split('.')[0] for name in sys.modules}\n"
    check += f"found = set(filter({others}, imported & sys.modules.keys()))\n"
    check += "assert {'numpy', 'yaml'} <= found <= {'numpy', 'yaml', '_yaml'} | started, found - started\n"
    start = "import sys\nstarted = {name.split('.')[0] for name in sys.modules}\n"  # what an editable install brings in
    (tmp_path / "library.py").write_text(start + block("python", "networks.load") + check)
    command(module="library", cwd=tmp_path, PYTHONPATH=f"{ROOT}:{tmp_path}")


def test_the_network_file_runs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(block("yaml", "name: mine"))
    assert "mine by hypar: 3 layers" in command("network=file", "network.path=mine.yaml", "tracking=none").stdout


def test_what_the_readme_links_to_is_there() -> None:
    assert "docs/pictures/first_run.svg" in README
    for target in re.findall(r"\]\((?!http|#)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
