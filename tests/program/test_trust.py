"""Whose classes a configuration may call: what Hydra refuses is not even imported, and a user can trust fewer."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from hypar_exp.errors import UserError
from hypar_exp.experiments.objects import build_object
from tests.conftest import Command


def test_what_hydra_refuses_is_refused_at_every_depth() -> None:
    for target in ("os.system", "subprocess.run", "builtins.exec", "shutil.rmtree"):
        config = OmegaConf.create({"network": {"_target_": target, "name": "x"}})
        with pytest.raises(UserError, match=f"a configuration may not call {target}: Hydra refuses it"):
            build_object(config, "network")
        nested = OmegaConf.create(
            {"strategy": {"_target_": "hypar_exp.planning.Fixed", "name": "x", "default": {"_target_": target}}}
        )
        with pytest.raises(UserError):
            build_object(nested, "strategy")


def test_a_target_that_is_not_there_is_named(command: Command) -> None:
    done = command("network=lenet_c", "strategy=dp", "strategy._target_=hypar_exp.planning.Fxed", expect=2)
    assert "strategy._target_ cannot be used: " in done.stderr
    assert "Fxed" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_only_trusted_packages_are_called(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nPath('imported').touch()\n"
        "from hypar_exp.planning import Fixed\ndef Mine(**fields):\n    return Fixed(**fields)\n"
    )
    run = ("network=lenet_c", "strategy=dp", "strategy._target_=mine.Mine", "tracking=none")
    refused = command(*run, "trust=package", expect=2)
    assert "strategy calls mine.Mine, which is of none of the packages hypar_exp; read it" in refused.stderr
    assert not (tmp_path / "imported").exists()
    command(*run, "trust=[mine]")
    assert (tmp_path / "imported").exists()
    command("network=lenet_c", "trust=package")
    assert "trust must be any, package or a list" in command("network=lenet_c", "trust=nobody", expect=2).stderr
