"""Fixtures that every part of the suite shares."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
settings.register_profile("suite", deadline=None)  # no test fails for being slow on a busy machine
settings.load_profile("suite")

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of design notes, published values and input files beside the checkout; skips where it is not there."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the shared/ folder beside the checkout")
    return folder


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `python -m hypar_exp ...` (or another module of the package) in a folder of the test's own."""

    def run(
        *arguments: str,
        module: str = "hypar_exp",
        expect: int | None = 0,
        cwd: Path = tmp_path,
        timeout: float = 120,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
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

    return run


def program_environment(**environment: str) -> dict[str, str]:
    """The environment in which a test starts the program: this checkout's package, a fixed width, no colours."""
    return os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"} | environment
