"""strategy=file: what a run shows and records is a plan that another run can take."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command


def test_a_recorded_and_a_pasted_plan_are_the_plan(command: Command, tmp_path: Path) -> None:
    options = ["network=alexnet", "strategy=accpar", "accounting=accpar"]
    shown = command(*options).stdout
    (tmp_path / "pasted.txt").write_text(shown, encoding="utf-8")
    recorded = next((tmp_path / "outputs" / "artifacts").rglob("plan.csv"))
    for file in (recorded, tmp_path / "pasted.txt"):
        again = command(
            "strategy=file", f"strategy.path={file}", "network=alexnet", "accounting=accpar", "tracking=none"
        )
        plan = [line for line in again.stdout.splitlines() if line.startswith(" H")]
        assert plan == [line for line in shown.splitlines() if line.startswith(" H")]
        assert len(plan) == 4


def test_a_plan_of_another_network(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("level,conv1,conv2,fc1,fc2\nH1,0,0,1,7\n")
    error = command("network=lenet_c", "strategy=file", "strategy.path=mine.csv", "tracking=none", expect=2).stderr
    assert error.startswith("hypar_exp: mine.csv, line 2: '7' is no split; a plan is written in ")
