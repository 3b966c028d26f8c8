"""Every command that README and docs print is run as it stands, as a shell would split it.

Sweeps are composed and listed (`dry_run=true`) and searches cut to two trials: what they come to has tests of its own.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.forked import Program, forked_program

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEN = "sfc,sconv,lenet_c,cifar_c,alexnet,vgg_a,vgg_b,vgg_c,vgg_d,vgg_e"
PROGRAMS = {"hypar-exp": "hypar_exp", "python -m hypar_exp": "hypar_exp", "python -m hypar_exp.show": "hypar_exp.show"}
ELSEWHERE = (
    *(
        "reproduce",
        "compare",
        "runs",
        "-sc",
        "--config-path",
        "tracking=server",
        "rerun",
        "resume=true",
        "theirs",
        "shapes=",
        "pipelined_backprop_digits",
    ),
)
"""Commands that need what others have recorded, a server, a file of others or minutes; tests of their own run them."""
FILES = {
    "model.onnx": ROOT / "tests" / "data" / "onnx" / "onnx_einsum_implicit.onnx",
    "graph.txt": ROOT / "hypar_exp" / "networks" / "profiles" / "vgg19.graph.txt",
    "stage_plan.csv": ROOT / "tests" / "data" / "pipelines" / "stage_plan.csv",
    "bert32a100.json": ROOT / "tests" / "data" / "piper" / "bert32a100.json",
}


def documented() -> dict[str, tuple[str, list[str]]]:
    """Page and command -> the module, and the arguments."""
    found: dict[str, tuple[str, list[str]]] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = [block for language, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL) if not language]
        lines = [line for block in blocks for line in block.splitlines()]
        lines += re.findall(r"^    ((?:hypar-exp|python -m hypar_exp|PYTHONPATH=).*)$", text, re.MULTILINE)
        for line in lines:
            words = shlex.split(line.removeprefix("$ ").replace("$TEN", TEN), comments=True)
            words = words[words[0].startswith("PYTHONPATH=") :] if words else []
            for start, module in PROGRAMS.items():
                words = words[: words.index(">")] if ">" in words else words
                if words[: len(start.split())] == start.split() and not {"...", "FOLDER"} & set(words):
                    found[f"{page.name}: {' '.join(words)}"] = module, words[len(start.split()) :]
    return found


DOCUMENTED = {
    command: (module, arguments)
    for command, (module, arguments) in documented().items()
    if not any(word in " ".join(arguments) for word in ELSEWHERE)
}


def test_there_are_commands() -> None:
    assert len(DOCUMENTED) > 30
    assert {command.split(":")[0] for command in DOCUMENTED} >= {
        "beyond.md",
        "models.md",
        "recording.md",
        "tutorial.md",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages speak of."""
    made = tmp_path_factory.mktemp("documented")
    for name, source in FILES.items():
        shutil.copy(source, made / name)
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    python, network, option = (
        re.findall(rf"```{language}\n(.*?)```", tutorial, re.DOTALL) for language in ("python", "yaml", "yaml")
    )
    (made / "alternate.py").write_text(python[0])
    (made / "mine.yaml").write_text(network[0])
    (made / "own" / "strategy").mkdir(parents=True)
    (made / "own" / "strategy" / "alternate.yaml").write_text(option[1])
    (made / "plan.csv").write_text(
        "level,conv1,conv2,fc1,fc2\n" + "".join(f"H{level},0,0,1,1\n" for level in range(1, 5))
    )
    return made


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with forked_program() as program:
        yield program


@pytest.mark.slow
@pytest.mark.parametrize("command", DOCUMENTED)
def test_it_runs_as_it_stands(command: str, program: Program, folder: Path) -> None:
    module, arguments = DOCUMENTED[command]
    more: list[str] = []
    if module == "hypar_exp" and not {"--help", "--cfg", "--version"} & set(arguments):
        more.append("tracking=none")
        if "search" in command or "design_space" in command:
            more += ["hydra.sweeper.trials=2", "resume=false"]
        elif "-m" in arguments or any(argument.startswith("experiment=") for argument in arguments):
            more.append("dry_run=true")
    more = [argument for argument in more if argument.split("=")[0] not in {given.split("=")[0] for given in arguments}]
    ended = program(*arguments, *more, cwd=folder, module=module, timeout=120)
    if ended.returncode == 2 and "dry_run=true is for sweeps" in ended.stderr:  # a preset of one run
        ended = program(*arguments, "tracking=none", cwd=folder, module=module, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
