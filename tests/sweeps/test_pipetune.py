"""PipeTune: its costs by the paper's formulas, and as a sweep that is killed, resumed and asked what makes no sense."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from hypar_exp.sweeps.pipetune.tuning import Choice, Epoch, Tuning
from tests.conftest import Command, NewStore

SYSTEMS = [["1", "2", "4"], ["a", "b"]]
TIMES: dict[Choice, float] = {
    ("1", "a"): 10.0,
    ("2", "a"): 6.0,
    ("4", "a"): 8.0,
    ("1", "b"): 9.0,
    ("2", "b"): 5.0,
    ("4", "b"): 7.0,
}


def tuning(profiles: dict[str, float], batches: dict[str, str], near: float = 0.1) -> Tuning:
    """Hyper-parameters h that all take the same, with a profile of one number and a batch each."""

    def epoch(hyper: Choice, system: Choice) -> Epoch:
        (name,) = hyper
        return Epoch(TIMES[system], 2 * TIMES[system], np.array([profiles[name]]), batches[name])

    return Tuning([(name,) for name in profiles], SYSTEMS, 20, epoch, near, clusters=2, seed=1)


def test_costs_by_the_formulas() -> None:
    tried = tuning(
        {"h": 0.0, "like": 0.05, "far": 3.0, "other": 0.0}, {"h": "8", "like": "8", "far": "8", "other": "9"}
    )
    v1, whole = tried.v1(("1", "a")), tried.v2(list(TIMES))
    assert v1.tuning_time_s == v1.training_time_s == 4 * 20 * 10
    assert whole.tuning_time_s == 4 * 20 * sum(TIMES.values())
    assert whole.training_time_s == 4 * 20 * 5
    found = tried.pipetune(("1", "a"))
    # a miss probes 2 and 4 with a, then b with the better of them; a hit trains on with what was found
    miss, hit = 10 + (6 + 8) + 5 + (20 - 1 - 3) * 5, 10 + 19 * 5
    assert tried.probes == 3
    assert found.hits == 1
    assert found.tuning_time_s == 3 * miss + hit
    assert found.tuning_energy_j == 2 * found.tuning_time_s
    assert set(found.chosen.values()) == {("2", "b")}


def test_nothing_is_near_without_nearness() -> None:
    assert tuning({"h": 0.0, "like": 0.05}, {"h": "8", "like": "8"}, near=0.01).pipetune(("1", "a")).hits == 0


AXES = ("network=lenet_c,cifar_c", "batch_size=32,1024", "array.levels=0,2,4", "strategy=dp,hypar", "baseline=null")
SWEEP = ("-m", "hydra/sweeper=pipetune", *AXES, "hydra.sweeper.default_systems=[{array.levels: 2, strategy: dp}]")


def test_a_sweep_shows_the_three_ways_and_is_resumed(tmp_path: Path, command: Command, new_store: NewStore) -> None:
    new_store(tmp_path)
    done = command(*SWEEP).stdout
    assert [line.split()[2] for line in done.splitlines() if line.startswith(" 2 dp")] == ["V1", "V2", "PipeTune"]
    assert "All 24 runs are finished already." in command(*SWEEP, "resume=true").stdout
    with next((tmp_path / "outputs").rglob("pipetune.csv")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 4
    assert {row["array.levels"] for row in rows if row["way"] == "V1"} == {"2"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            "hydra.sweeper.system=[array.level]",
            "hydra.sweeper.system names 'array.level', which is not swept; did you mean",
        ),
        (
            "hydra.sweeper.default_systems=[{array.levels: 3, strategy: dp}]",
            "array.levels must be one of 0, 2, 4 (got 3)",
        ),
        ("hydra.sweeper.default_systems=[]", "hydra.sweeper.default_systems must have at least one"),
        ("hydra.sweeper.epochs=3", "hydra.sweeper.epochs must be above 3, the system parameters' values"),
        ("hydra.sweeper.epochs=0", "hydra.sweeper.epochs must be a whole number of at least 1 (got 0)"),
    ],
)
def test_bad_values(command: Command, change: str, sentence: str) -> None:
    ended = command(*SWEEP, change, "tracking=none", expect=2)
    assert sentence in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
