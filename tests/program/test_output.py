"""Where nobody reads the output, or it cannot be written, all that was asked for is done and recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Command, program_environment
from tests.sweeps.store import children, parents, stored_runs

RUN = ("network=lenet_c",)
SWEEP = ("-m", "network=lenet_c", "strategy=dp,mp")


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("arguments", [RUN, SWEEP])
def test_a_pipe_that_is_closed_early_is_no_failure(arguments: tuple[str, ...], tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "hypar_exp", *arguments],
        cwd=tmp_path,
        env=program_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    program.stdout.close()
    _, error = program.communicate(timeout=120)
    assert (program.returncode, error) == (0, b"")
    assert {run.status for run in stored_runs(tmp_path)} == {"FINISHED"}


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("arguments", [RUN, SWEEP])
def test_a_full_disk_under_the_output_is_told_when_all_is_done(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hypar_exp", *arguments],
            cwd=tmp_path,
            env=program_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "hypar_exp: standard output cannot be written: No space left on device; all else is done\n"
    assert {run.status for run in stored_runs(tmp_path)} == {"FINISHED"}


@pytest.mark.usefixtures("database")
def test_odd_values_leave_no_parent_open(command: Command, tmp_path: Path) -> None:
    names = 'network.name="a$b$","$\\\\frac","[/red]"'
    command("-m", "network=lenet_c", names, "batch_size=64,9223372036854775808", "baseline=null", expect=2)
    (parent,) = parents(tmp_path)
    assert parent.status == "FAILED"
    assert sorted(run.status for run in children(tmp_path)) == ["FAILED"] * 3 + ["FINISHED"] * 3


@pytest.mark.usefixtures("database")
def test_runs_are_named_by_whole_values(command: Command, tmp_path: Path) -> None:
    command("-m", "network=lenet_c", "hardware.utilisation=0.5,0.75", "hardware.link_bandwidth_bits_per_s=1.6e9")
    assert sorted(run.name for run in children(tmp_path)) == [
        f"lenet_c hypar htree-16 b256 utilisation={share} link_bandwidth_bits_per_s=1600000000.0"
        for share in (0.5, 0.75)
    ]
