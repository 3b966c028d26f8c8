"""What a shell is offered at TAB: names of files after a path, the configuration's own after anything else."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command


def test_names_of_files_after_a_path(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("mine/net.yaml", "mine/nets.yaml", "more.onnx", ".hidden"):
        (tmp_path / name).touch()

    def offered(typed: str, shell: str = "bash") -> str:
        return command("-sc", f"query={shell}", COMP_LINE=f"hypar-exp network=file {typed}").stdout

    assert offered("network.path=") == "network.path=mine/ network.path=more.onnx\n"
    assert offered("network.path=m") == "network.path=mine/ network.path=more.onnx\n"
    assert offered("strategy.path=mine/n", "fish") == "strategy.path=mine/net.yaml\nstrategy.path=mine/nets.yaml\n"
    assert offered("network.path=./mo") == "network.path=more.onnx\n"
    assert offered("network.path=nowhere/x") == "\n"
    assert "strategy=hypar" in offered("strategy=h")
