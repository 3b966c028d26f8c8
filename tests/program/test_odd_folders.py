"""The program in folders of any name that the system allows: a run, a sweep, its continuation, and a comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command, NewStore

NAMES = ["a?b=c %20#1", "[/red] [x] $x", "a\nb\t\x1b[31m'\"\\`id`", "é ∂, {y} -rf"]


@pytest.mark.parametrize("name", NAMES)
def test_runs_and_sweeps_in_a_folder_of_any_name(
    tmp_path: Path, name: str, command: Command, new_store: NewStore
) -> None:
    folder = tmp_path / name
    new_store(folder)
    printed = command("network=lenet_c", cwd=folder).stdout
    swept = command("-m", "network=lenet_c", "strategy=dp,hypar", "resume=true", cwd=folder).stdout
    assert "2 done, 0 failed, 0 left" in swept
    assert "lenet_c" in command("compare", cwd=folder).stdout
    assert "\x1b" not in printed + swept
    assert [file.name for file in tmp_path.iterdir()] == [name.partition("/")[0]]
    assert (folder / "outputs" / "mlflow.db").is_file()


def test_the_one_name_that_hydra_cannot_take(tmp_path: Path, command: Command) -> None:
    (tmp_path / "${oc.env:HOME}").mkdir()
    refused = command("network=lenet_c", cwd=tmp_path / "${oc.env:HOME}", expect=2).stderr
    assert "Hydra takes ${ in the name of a folder for a value to be put in; go to another folder" in refused
    assert not list((tmp_path / "${oc.env:HOME}").iterdir())
