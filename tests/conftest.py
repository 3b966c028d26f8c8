"""Fixtures that every part of the suite shares."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from hypar_exp.tracking.sqlite import database as sqlite_database

ROOT = Path(__file__).resolve().parent.parent
# where the tests are started in the background, SIGINT is ignored, and every program that they start would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
DATA = ROOT / "tests" / "data"
"""Input files and values to test against; SOURCES.md there says where each is from."""
settings.register_profile("suite", deadline=None)  # no test fails for being slow on a busy machine
settings.load_profile("suite")

Command = Callable[..., subprocess.CompletedProcess[str]]
NewStore = Callable[[Path], None]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """`run_program` in a folder of the test's own."""
    return functools.partial(run_program, cwd=tmp_path)


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty tracking database, made once: MLflow takes seconds for it."""
    folder = tmp_path_factory.mktemp("new database")
    sqlite_database.create(folder / "mlflow.db", folder / "artifacts")
    return folder / "mlflow.db"


@pytest.fixture
def database(new_database: Path, tmp_path: Path) -> Path:
    """An empty tracking database where the program looks for it, for tests in which the first run is not the point."""
    (tmp_path / "outputs").mkdir()
    return Path(shutil.copy(new_database, tmp_path / "outputs" / "mlflow.db"))


def run_program(
    *arguments: str,
    cwd: Path,
    module: str = "hypar_exp",
    expect: int | None = 0,
    timeout: float = 120,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m hypar_exp ...`, or another module of the package, and expect an exit code (None: any)."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env=program_environment(**environment),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if expect is not None:
        assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def new_store(tmp_path_factory: pytest.TempPathFactory) -> NewStore:
    """Give a folder the tracking database that the program would make there, which takes seconds, from a copy."""
    made = tmp_path_factory.mktemp("store")
    sqlite_database.create(made / "mlflow.db", made / "artifacts")

    def put(folder: Path) -> None:
        (folder / "outputs").mkdir(parents=True)
        shutil.copy(made / "mlflow.db", folder / "outputs" / "mlflow.db")

    return put


def program_environment(**environment: str) -> dict[str, str]:
    """The environment in which a test starts the program: this checkout's package, a fixed width, no colours."""
    return os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"} | environment
