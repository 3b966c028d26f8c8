"""Sweeps that stop at the first failure, and ranges that are counted before they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command
from tests.sweeps.store import children, parents

SWEEP = ("-m", "network=lenet_c", "batch_size=256,0,64,128")


@pytest.mark.parametrize("sweeper", ["grid", "batch"])
@pytest.mark.usefixtures("database")
def test_a_sweep_stops_at_the_first_failure_and_goes_on_with_resume(
    sweeper: str, command: Command, tmp_path: Path
) -> None:
    chosen = (*SWEEP, f"hydra/sweeper={sweeper}")
    done = command(*chosen, "hydra.sweeper.fail_fast=true", expect=2)
    assert "1 of 4 runs failed; 2 were not begun (resume=true makes them)" in done.stderr
    assert sorted(run.status for run in children(tmp_path)) == ["FAILED", "FINISHED"]
    (parent,) = parents(tmp_path)
    assert parent.status == "FAILED"
    command(*chosen, "resume=true", expect=2)
    finished = {run.params["batch_size"] for run in children(tmp_path) if run.status == "FINISHED"}
    assert finished == {"256", "64", "128"}


@pytest.mark.parametrize("sweeper", ["grid", "batch"])
def test_a_range_that_is_too_long_is_refused_before_it_is_made(sweeper: str, command: Command) -> None:
    swept = "batch_size=range(1,1000000000000)"
    done = command("-m", swept, f"hydra/sweeper={sweeper}", "tracking=none", expect=2, timeout=20)
    assert done.stderr.startswith("hypar_exp: this sweep has 999,999,999,999 jobs, more than 100,000; if you mean it, ")


def test_a_search_needs_no_list_of_a_range(command: Command) -> None:
    swept = "batch_size=range(1,1000000000000)"
    command(
        "-m", swept, "hydra/sweeper=search", "hydra.sweeper.trials=2", "network=lenet_c", "tracking=none", timeout=20
    )


def test_a_range_that_goes_nowhere(command: Command) -> None:
    done = command("-m", "batch_size=range(1,9,0)", "tracking=none", expect=2)
    assert done.stderr == "hypar_exp: the axis batch_size=range(1,9,0) has a step of 0\n"
