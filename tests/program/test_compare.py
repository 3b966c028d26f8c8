"""`python -m hypar_exp.compare` on recorded sweeps."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from tests.conftest import Command, run_program
from tests.sweeps.store import children, parents


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where two sweeps were recorded."""
    folder = tmp_path_factory.mktemp("compared")
    run_program("-m", "network=sfc,lenet_c", "strategy=dp,hypar", "batch_size=64", cwd=folder)
    run_program("-m", "network=sfc,lenet_c", "strategy=dp,mp,hypar", cwd=folder)
    return folder


def test_the_last_sweep_against_a_baseline(command: Command, recorded: Path, tmp_path: Path) -> None:
    done = command("--baseline", "dp", "--folder", str(tmp_path), module="hypar_exp.compare", cwd=recorded)
    last = parents(recorded)[-1]
    times = {
        (run.tags["network"], run.tags["strategy"]): run.metrics["step_time_s"]
        for run in children(recorded)
        if run.parent == last.run_id
    }
    with (tmp_path / "compare.csv").open() as file:
        rows = {row["network"]: row for row in csv.DictReader(file)}
    gains = []
    for network in ("sfc", "lenet_c"):
        assert float(rows[network]["hypar step_time_s"]) == times[network, "hypar"]
        gains.append(times[network, "dp"] / times[network, "hypar"])
        assert float(rows[network]["hypar over dp"]) == pytest.approx(gains[-1])
    assert f"{math.sqrt(gains[0] * gains[1]):.2f}x" in done.stdout
    assert "3.61 s (23.5x)" in done.stdout
    assert (tmp_path / "compare.png").read_bytes()[:4] == b"\x89PNG"


def test_a_narrow_terminal_has_the_gains_alone(command: Command, recorded: Path, tmp_path: Path) -> None:
    shown = command(
        "--baseline", "dp", "--folder", str(tmp_path), module="hypar_exp.compare", cwd=recorded, COLUMNS="40"
    ).stdout.splitlines()
    table = [line.rstrip() for line in shown if line.startswith(" ")]
    assert max(map(len, table)) <= 40
    assert ["sfc", "84.6", "s", "21.3x", "23.5x"] in [line.split() for line in table]


def test_runs_by_sweep_by_tag_and_by_filter(command: Command, recorded: Path, tmp_path: Path) -> None:
    def compared(*arguments: str) -> list[list[str]]:
        command(*arguments, "--folder", str(tmp_path), module="hypar_exp.compare", cwd=recorded)
        return list(csv.reader((tmp_path / "compare.csv").read_text().splitlines()))

    first = parents(recorded)[0]
    assert compared("--sweep", first.run_id)[0] == ["network", "dp step_time_s", "hypar step_time_s"]
    by_tag = compared("--tag", "strategy=mp", "--value", "communication_bytes")
    assert [row[0] for row in by_tag[1:]] == ["sfc", "lenet_c"]
    by_batch = compared("--where", "params.`network.name` = 'sfc' and tags.strategy != 'mp'", "--rows", "batch_size")
    assert [row[0] for row in by_batch] == ["batch_size", "64", "256"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--sweep", "nosuch"), "there is no sweep nosuch"),
        (("--where", "params.batch ~ 3"), "the filter 'params.batch ~ 3' cannot be read: "),
        (("--tag", "strategy"), "--tag must be KEY=VALUE, as strategy=hypar (got 'strategy')"),
        (("--tag", "strategy=best"), "no finished run was selected; name others with --sweep, --tag or --where"),
        (("--value", "step_tim"), "no run has a metric 'step_tim'; did you mean step_time_s"),
        (("--rows", "netwrk"), "no run has a tag or param 'netwrk'; did you mean network"),
        (("--baseline", "hyper"), "no run has strategy=hyper; did you mean hypar?"),
        (
            ("--tag", "network=sfc", "--tag", "strategy=dp"),
            "2 runs have network=sfc and strategy=dp; they differ in batch_size: "
            "choose with --tag or --where, or make it the rows or columns",
        ),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(
    command: Command, recorded: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = command(*arguments, module="hypar_exp.compare", cwd=recorded, expect=2)
    assert done.stderr.startswith(f"hypar_exp: {sentence}")
    assert done.stderr.count("\n") == 1


def test_no_sweep_yet(command: Command, tmp_path: Path) -> None:
    done = command(module="hypar_exp.compare", expect=2)
    assert done.stderr.startswith("hypar_exp: no sweep is recorded yet")
