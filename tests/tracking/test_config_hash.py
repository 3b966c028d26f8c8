"""What makes two configurations the same experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
