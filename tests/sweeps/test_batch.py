"""`hydra/sweeper=batch` against Hydra's basic sweeper and `grid`: the same runs, record by record."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command, NewStore

BY_CHANCE = {"hypar_exp.process", "mlflow.parentRunId", "sweep_folder"}
GRIDS = {
    "groups and values": ["network=sfc,lenet_c", "strategy=glob(*p)", "array.levels=range(0,5,2)", "batch_size=24"],
    "hardware": [
        "network=cifar_c",
        "hardware.link_bandwidth_bits_per_s=1e9,16e9",
        "array=htree,torus",
        "baseline=null",
    ],
    "own network": ["network=file", "network.path=mine.yaml,yours.yaml", "pass=training,inference"],
}
NETWORK = "input: [1, 8, 8]\nlayers:\n  conv1: {conv: 4, kernel: 3, pool: 2}\n  fc1: {fc: %d}\n"


@pytest.mark.parametrize("axes", GRIDS.values(), ids=GRIDS)
def test_runs_are_those_of_hydra_s_basic_sweeper(
    axes: list[str], tmp_path: Path, command: Command, new_store: NewStore
) -> None:
    for sweeper in ("basic", "batch"):
        new_store(tmp_path / sweeper)
        for at, name in enumerate(("mine", "yours")):
            (tmp_path / sweeper / f"{name}.yaml").write_text(NETWORK % (10 + at))
        command("-m", f"hydra/sweeper={sweeper}", *axes, cwd=tmp_path / sweeper)
    basic, batch = (_runs(tmp_path / sweeper) for sweeper in ("basic", "batch"))
    assert len(basic) > 3
    assert batch == basic


def test_failures_are_those_of_the_grid_sweeper(tmp_path: Path, command: Command, new_store: NewStore) -> None:
    axes = ["network=sfc", "array.levels=2,99,3", "strategy=dp,hypar", "hardware.utilisation=0.5,2"]
    printed = {}
    for sweeper in ("grid", "batch"):
        new_store(tmp_path / sweeper)
        refused = command("-m", f"hydra/sweeper={sweeper}", *axes, expect=2, cwd=tmp_path / sweeper)
        printed[sweeper] = refused.stderr
    grid, batch = (_runs(tmp_path / sweeper) for sweeper in ("grid", "batch"))
    assert batch == grid
    assert [run["status"] for run in batch.values()].count("FAILED") == 8
    assert "array.levels must be a whole number from 0 to 16 (got 99)" in printed["batch"]
    assert printed["batch"] == printed["grid"]


def test_resume_makes_what_is_missing(tmp_path: Path, command: Command, new_store: NewStore) -> None:
    new_store(tmp_path)
    command("-m", "hydra/sweeper=batch", "network=sfc", "batch_size=16,32")
    listed = command("-m", "hydra/sweeper=batch", "network=sfc", "batch_size=16,32,64", "resume=true", "dry_run=true")
    assert "1 runs to make, 2 finished already" in listed.stdout
    command("-m", "hydra/sweeper=batch", "network=sfc", "batch_size=16,32,64", "resume=true")
    runs = _runs(tmp_path)
    assert sorted(run["params"]["batch_size"] for run in runs.values()) == ["16", "32", "64"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["network=sfc,alexnot"], "there is no network 'alexnot'; did you mean alexnet"),
        (["array.level=1,2"], "there is no key 'array.level'"),
        (["batch_size=1,many"], "batch_size"),
        (["hydra/launcher=joblib", "batch_size=1,2"], "hydra/launcher=joblib needs hydra/sweeper=grid"),
    ],
)
def test_what_cannot_be_composed_is_refused_before_anything_runs(
    arguments: list[str], sentence: str, tmp_path: Path, command: Command
) -> None:
    refused = command("-m", "hydra/sweeper=batch", *arguments, expect=2)
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not (tmp_path / "outputs" / "mlflow.db").exists()


def _runs(folder: Path) -> dict[str, Any]:
    """Config hash and name -> all that is kept of a child run, but for what differs by chance."""
    with contextlib.closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as connection:
        runs: dict[str, Any] = {}
        for run_id, name, status, uri in connection.execute("SELECT run_uuid, name, status, artifact_uri FROM runs"):
            tags = dict(connection.execute("SELECT key, value FROM tags WHERE run_uuid = ?", [run_id]))
            if tags.get("kind") == "sweep":
                continue
            points = "SELECT key, step, value, is_nan FROM metrics WHERE run_uuid = ? ORDER BY key, step, value"
            files = sorted(Path(uri.removeprefix("file://")).iterdir())
            runs[f"{tags['config_hash']} {name}"] = {
                "status": status,
                "params": dict(connection.execute("SELECT key, value FROM params WHERE run_uuid = ?", [run_id])),
                "tags": {key: value for key, value in tags.items() if key not in BY_CHANCE},
                "metrics": connection.execute(points, [run_id]).fetchall(),
                # of which breakdown.svg is for runs that are in no sweep of ours
                "artifacts": {file.name: file.read_text() for file in files if file.name != "breakdown.svg"},
            }
    return runs
