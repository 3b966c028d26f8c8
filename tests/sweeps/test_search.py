"""`hydra/sweeper=search`: what it finds, that it goes on where it stopped, and spaces that make no sense."""

from __future__ import annotations

import contextlib
import csv
import itertools
import sqlite3
from pathlib import Path

import pytest

from hypar_exp.sweeps.outcome import Outcome
from hypar_exp.sweeps.search.goals import Goals
from hypar_exp.tracking import RunStatus
from tests.conftest import Command, NewStore

SPACE = [
    "hydra/sweeper=search",
    "network=lenet_c",
    "baseline=null",
    "array.levels=range(1,6)",
    "hardware.processing_elements=16,64",
    "hardware.link_bandwidth_bits_per_s=1e9,4e9",
    "hydra.sweeper.minimise=[step_time_s,accelerators*hardware.processing_elements]",
]


def test_the_front_of_a_small_space_is_the_exhaustive_one(
    tmp_path: Path, command: Command, new_store: NewStore
) -> None:
    new_store(tmp_path / "search")
    searched = command("-m", *SPACE, "hydra.sweeper.trials=120", cwd=tmp_path / "search", timeout=300)
    assert "Optuna's study" in searched.stdout
    new_store(tmp_path / "grid")
    command("-m", "hydra/sweeper=batch", *SPACE[1:-1], cwd=tmp_path / "grid")
    every, found = (_points(tmp_path / folder) for folder in ("grid", "search"))
    assert len(every) == 20
    assert found <= every
    front = {one for one in every if not any(_dominates(other, one) for other in every)}
    assert front <= found
    with contextlib.closing(sqlite3.connect(tmp_path / "search" / "outputs" / "mlflow.db")) as database:
        (children,) = database.execute("SELECT count(*) FROM tags WHERE key = 'mlflow.parentRunId'").fetchone()
        (pictures,) = database.execute("SELECT artifact_uri FROM runs JOIN tags USING (run_uuid) WHERE key = 'kind'")
    assert children == len(found)  # a configuration that was tried before is not run again
    assert (Path(pictures[0].removeprefix("file://")) / "search.png").stat().st_size > 5000


def test_resume_goes_on_with_the_study(tmp_path: Path, command: Command, new_store: NewStore) -> None:
    new_store(tmp_path)
    space = [*SPACE[:-1], "hydra.sweeper.batch=4", "hardware.utilisation=interval(0.1,1)"]
    command("-m", *space, "hydra.sweeper.trials=6")
    command("-m", *space, "hydra.sweeper.trials=10", "resume=true")
    command("-m", *space, "hydra.sweeper.trials=3")
    with contextlib.closing(sqlite3.connect(tmp_path / "outputs" / "optuna.db")) as database:
        trials = database.execute(
            "SELECT study_name, count(*) FROM studies JOIN trials USING (study_id) "
            "WHERE state = 'COMPLETE' GROUP BY study_id ORDER BY study_id"
        ).fetchall()
    (first, tried), (second, again) = trials
    assert (tried, again) == (10, 3)
    assert second == f"{first} 2"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["network=sfc"], "there is nothing to search; give a key a space, as "),
        (["array.levels=interval(3,3)"], "the axis array.levels=interval(3,3) of the search must begin below its end"),
        (["batch_size=tag(log,interval(0,8))"], "is logarithmic: it must begin above 0"),
        (["array.levels=interval(1,4)"], "the space of the search holds what is no run: array.levels must be a"),
        (["array.level=range(1,4)"], "there is no key 'array.level'; did you mean array.levels"),
        (["array.levels=range(1,4)", "hydra.sweeper.minimise=[step_tme_s]"], "did you mean step_time_s"),
        (["array.levels=range(1,4)", "hydra.sweeper.minimise=[]"], "must name what the search is for"),
        (["array.levels=range(1,4)", "hydra.sweeper.bounds=[step_energy_j]"], "must be a list as [step_energy_j <= 34"),
        (["array.levels=range(1,4)", "hydra.sweeper.trials=0"], "hydra.sweeper.trials must be a whole number of at"),
    ],
)  # fmt: skip
def test_a_search_that_makes_no_sense_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, command: Command
) -> None:
    refused = command("-m", "hydra/sweeper=search", "tracking=none", *arguments, expect=2)
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1, refused.stderr
    assert not (tmp_path / "outputs" / "optuna.db").exists()


def test_front_of_one_to_be_small_and_one_to_be_large() -> None:
    goals = Goals(["time"], ["speed * size"], ["energy <= 5"])
    points = [(1, 1, 5), (2, 3, 5), (3, 2, 5), (1, 9, 6), (1, 1, 4)]
    outcomes = [
        Outcome(at, "", RunStatus.FINISHED, str(at), {"size": "2"}, {"time": time, "speed": speed, "energy": energy})
        for at, (time, speed, energy) in enumerate(points)
    ]
    assert goals.values(outcomes[1]) == [2, 6]
    assert goals.front(outcomes) == [0, 1, 4]


def _points(folder: Path) -> set[tuple[float, float]]:
    """Step time and processing elements in all of every run, from the sweep's table."""
    (table,) = (folder / "outputs").glob("hydra/*/*/sweep.csv")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    columns = dict(itertools.chain.from_iterable(row.items() for row in rows)).keys()
    elements = next(column for column in columns if column.endswith("hardware.processing_elements"))
    time, accelerators = (next(c for c in columns if c.endswith(name)) for name in ("step_time_s", "accelerators"))
    return {(round(float(row[time]), 9), float(row[accelerators]) * float(row[elements])) for row in rows}


def _dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def test_a_study_is_in_any_file_or_refused(tmp_path: Path, command: Command, new_store: NewStore) -> None:
    new_store(tmp_path)
    space = ["-m", *SPACE, "hydra.sweeper.trials=2"]
    done = command(*space, "hydra.sweeper.storage='a?b/50%20 #1.db'")
    assert (tmp_path / "a?b" / "50%20 #1.db").stat().st_size > 0
    assert "50%20 #1.db" in done.stdout
    command(*space, "hydra.sweeper.storage='sqlite:///there.db'")
    assert (tmp_path / "there.db").is_file()
    refused = command(*space, "hydra.sweeper.storage=':memory:'", expect=2)
    assert "hydra.sweeper.storage must be a file" in refused.stderr
    away = command(*space, "hydra.sweeper.storage='postgresql://ada:opensesame@127.0.0.1:1/x'", expect=2)
    assert "Optuna's database postgresql://127.0.0.1:1/x cannot be used" in away.stderr
    assert "opensesame" not in away.stderr + away.stdout
    assert {file.name.partition(".db-")[0] for file in tmp_path.iterdir()} == {"a?b", "outputs", "there.db", "there"}
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"opensesame" in file.read_bytes()]
