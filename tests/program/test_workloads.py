"""Workloads that are no step: run, swept, recorded, resumed and made again like any other run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import hypar_exp
from tests.forked import Program, forked_program


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with forked_program() as started:
        yield started


def test_a_single_run_shows_and_keeps_what_it_found(
    program: Program, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = program("workload=spectrain", "workload.stages=3", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "SpecTrain in 3 stages" in ended.stdout
    assert "15 of 15 published steps and delays of 3 stages are equal to ours." in ended.stdout
    monkeypatch.chdir(tmp_path)
    (run,) = hypar_exp.runs().to_dict("records")
    assert (run["status"], run["tags.workload"], run["params.workload.stages"]) == ("FINISHED", "spectrain", 3)
    assert run["metrics.most_steps_ahead"] == 2
    assert not [key for key in run if str(key).startswith(("params.network", "params.strategy", "tags.network"))]
    names = {path.name for path in (tmp_path / "outputs").rglob("*.*")}
    assert {"steps_ahead.csv", "config.yaml"} <= names

    again = program("rerun", run["run_id"], cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(set(hypar_exp.runs()["tags.config_hash"])) == 1
    assert hypar_exp.run("workload=spectrain workload.stages=3 tracking=none").metrics["most_steps_ahead"] == 2


@pytest.mark.parametrize("sweeper", ["grid", "batch"])
def test_a_sweep_is_resumed(program: Program, database: Path, tmp_path: Path, sweeper: str) -> None:
    sweep = ("-m", "workload=pipelined_backprop", "network=lenet_c,sfc", f"hydra/sweeper={sweeper}", "resume=true")
    first = program(*sweep, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "samples_per_s" in first.stdout
    table = next((tmp_path / "outputs").rglob("sweep.csv"))
    assert "gain_over_flush_256_samples" in table.read_text().splitlines()[0]
    assert "All 2 runs are finished already." in program(*sweep, cwd=tmp_path).stdout
    other = (*sweep[:2], "network=lenet_c,sfc,vgg_a", *sweep[3:], "dry_run=true")
    assert "1 runs to make, 2 finished already" in program(*other, cwd=tmp_path).stdout


def test_what_a_workload_does_not_use_is_refused(program: Program, database: Path, tmp_path: Path) -> None:
    ended = program("workload=pipelined_backprop", "strategy=mp", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == (
        "hypar_exp: workload=pipelined_backprop does not use strategy; it uses network, hardware, accounting and its "
        "own keys; leave out strategy=mp\n"
    )
    swept = program("-m", "workload=spectrain", "batch_size=1,2", cwd=tmp_path)
    assert swept.returncode == 2
    assert "workload=spectrain does not use batch_size; it uses its own keys alone" in swept.stderr


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["workload=spectrain", "workload.stages=1"], "workload.stages must be a whole number from 2 to 10000 (got 1)"),
        (["workload=pipelined_backprop", "workload.granularity=row"], "workload.granularity must be sample or batch"),
        (
            ["workload=pipelined_backprop", "workload.policies=[stach]"],
            "workload.policies has no 'stach'; did you mean",
        ),
        (["workload=pipelined_backprop", "workload.samples=[]"], "must name at least one (got an empty list)"),
        (["workload=pipelined_backprop_quadratic", "workload.delays=[0]"], "workload.delays must be a whole number"),
        (["workload=pipelined_backprop_quadratic", "workload.methods=[adam]"], "workload.methods has no 'adam'"),
        (
            ["workload=pipelined_backprop_quadratic", "workload.condition_numbers=[1e12]"],
            "workload.condition_numbers must be numbers from 1 to 1e+09 (got 1000000000000.0)",
        ),
        (["workload=spectrain", "workload.stage=3"], "there is no key 'workload.stage'; did you mean workload.stages"),
    ],
)
def test_bad_values(program: Program, tmp_path: Path, overrides: list[str], sentence: str) -> None:
    ended = program(*overrides, "tracking=none", cwd=tmp_path)
    assert ended.returncode == 2
    assert sentence in ended.stderr, json.dumps(ended.stderr)
    assert len(ended.stderr.splitlines()) == 1
