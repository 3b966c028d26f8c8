"""A store that goes away in the middle of a sweep: that stops at once, keeps what is done, and says how to go on."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.conftest import Command, NewStore
from tests.sweeps.store import SLOW, children, finished, finished_once, start, started, wait_until

AXES = ["-m", "network=lenet_c", "batch_size=range(1,31)", "strategy=slow", "--config-dir", "conf"]


@pytest.fixture
def slow_strategy(tmp_path: Path) -> Path:
    (tmp_path / "slow_strategy.py").write_text(SLOW)
    (tmp_path / "conf" / "strategy").mkdir(parents=True)
    (tmp_path / "conf" / "strategy" / "slow.yaml").write_text(
        "_target_: slow_strategy.Slow\nname: slow\ndefault: dp\nseconds: 0.2\n"
    )
    return tmp_path


@pytest.mark.parametrize("sweeper", ["grid", "batch"])
def test_a_database_that_goes_away(slow_strategy: Path, new_store: NewStore, command: Command, sweeper: str) -> None:
    new_store(slow_strategy)
    outputs = slow_strategy / "outputs"
    axes = [*AXES, f"hydra/sweeper={sweeper}"]
    with start(slow_strategy, *axes, PYTHONPATH=f"{Path.cwd()}:{slow_strategy}") as sweep:
        wait_until(lambda: finished(slow_strategy) >= 3)
        outputs.joinpath("mlflow.db").rename(slow_strategy / "away.db")
        for suffix in ("-wal", "-shm"):
            if outputs.joinpath(f"mlflow.db{suffix}").exists():
                outputs.joinpath(f"mlflow.db{suffix}").rename(slow_strategy / f"away.db{suffix}")
        begun = time.monotonic()
        printed, error = sweep.communicate(timeout=60)
    assert sweep.returncode == 2, printed + error
    assert time.monotonic() - begun < 10
    assert "the store was taken away" in error
    assert "of 30 runs are recorded, and once the store can be written again the same command with resume=true" in error
    assert len(error.splitlines()) == 1
    assert started(slow_strategy) < 20
    assert not (outputs / "mlflow.db").exists()
    for file in slow_strategy.glob("away.db*"):
        shutil.move(file, outputs / file.name.replace("away", "mlflow"))
    before = len([run for run in children(slow_strategy) if run.status == "FINISHED"])
    assert 3 <= before < 30
    assert f"{before} of 30 runs are recorded" in error
    command(*axes, "resume=true", PYTHONPATH=f"{Path.cwd()}:{slow_strategy}", timeout=120)
    finished_once(slow_strategy, 30)
