"""What makes two configurations the same experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hypar_exp.experiments.identity import code_state, option_text
from hypar_exp.experiments.run_record import config_hash


def config(**changes: Any) -> dict[str, Any]:
    return {"network": {"name": "vgg_a"}, "batch_size": 256, "tracking": {"name": "sqlite"}} | changes


def test_where_and_how_it_is_recorded_does_not_matter() -> None:
    assert config_hash(config()) == config_hash(config(tracking={"name": "server"}, resume=True, dry_run=True))


def test_any_other_key_matters() -> None:
    assert config_hash(config()) != config_hash(config(batch_size=128))


def test_what_is_in_a_model_s_file_matters(tmp_path: Path) -> None:
    model = tmp_path / "mine.yaml"
    model.write_text("input: [3]\nlayers: {fc1: {fc: 10}}\n")
    named = config(network={"name": "mine", "path": str(model)})
    first = config_hash(named)
    assert config_hash(named) == first
    model.write_text("input: [3]\nlayers: {fc1: {fc: 11}}\n")
    assert config_hash(named) != first


def test_a_file_behind_any_key_matters(tmp_path: Path) -> None:
    model = tmp_path / "mine.yaml"
    model.write_text("input: [3]\n")
    named = config(network={"name": "part", "of": str(model)})
    first = config_hash(named)
    model.write_text("input: [4]\n")
    assert config_hash(named) != first


def test_the_code_of_a_target_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_strategies.py").write_text("first = 1\n")
    named = config(strategy={"_target_": "my_strategies.Mine"})
    first = config_hash(named)
    code_state.cache_clear()
    assert config_hash(named) == first
    code_state.cache_clear()
    (tmp_path / "my_strategies.py").write_text("second = 2\n")
    assert config_hash(named) != first


def test_a_file_without_an_ending_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan").write_text("level,a\nH1,0\n")
    named = config(strategy={"name": "file", "path": "plan"})
    first = config_hash(named)
    Path("plan").write_text("level,a\nH1,1\n")
    assert config_hash(named) != first


def test_what_a_named_strategy_builds_on_matters(tmp_path: Path) -> None:
    (tmp_path / "strategy").mkdir()
    (tmp_path / "strategy" / "base.yaml").write_text("name: base\n")
    (tmp_path / "strategy" / "mine.yaml").write_text("defaults:\n  - base  # with less\n  - _self_\nname: mine\n")
    before = option_text((str(tmp_path),), "mine")
    option_text.cache_clear()
    (tmp_path / "strategy" / "base.yaml").write_text("name: base\ntypes: [dp]\n")
    assert option_text((str(tmp_path),), "mine") != before
    assert option_text((str(tmp_path),), "other") is None


def test_the_data_of_a_package_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_tables").mkdir()
    (tmp_path / "my_tables" / "__init__.py").touch()
    (tmp_path / "my_tables" / "epochs.csv").write_text("network,epochs\nmine,10\n")
    before = code_state("my_tables")
    code_state.cache_clear()
    (tmp_path / "my_tables" / "epochs.csv").write_text("network,epochs\nmine,11\n")
    assert code_state("my_tables") != before
