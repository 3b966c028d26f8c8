"""The wheel: all that an installed copy needs, working from any folder."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, program_environment


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_conf_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {f"hypar_exp/conf/{file.relative_to(ROOT / 'conf')}" for file in (ROOT / "conf").rglob("*.yaml")}
    assert shipped <= names
    assert "hypar_exp/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "outputs/"))]


def test_an_installed_copy_works_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    # the dependencies are this environment's; installing them again would test the network
    site_packages = next((environment / "lib").glob("python3.*/site-packages"))
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True, capture_output=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [environment / "bin" / "hypar-exp", "network=lenet_c", "tracking=none"],
        cwd=elsewhere,
        env=program_environment(PYTHONPATH=""),
        capture_output=True,
        text=True,
        check=True,
    )
    assert " H1  ○ ○ ● ●" in done.stdout
    where = subprocess.run(
        [python, "-c", "import hypar_exp.paths as p; print(p.CONF_DIR)"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.strip().startswith(str(environment))
