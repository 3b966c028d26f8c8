"""`python -m hypar_exp.runs repair`: closes the runs that dead processes left RUNNING."""

from __future__ import annotations

import argparse
import sys

from hypar_exp.cli.endings import run_command
from hypar_exp.experiments.job import compose_recorder
from hypar_exp.reporting.console import console
from hypar_exp.tracking.process import PROCESS_TAG
from hypar_exp.tracking.repair import repair


def main() -> None:
    """The command `python -m hypar_exp.runs`."""
    run_command(lambda: _repair(sys.argv[1:]))


def _repair(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m hypar_exp.runs",
        description="Close, as KILLED, the runs that were left RUNNING by processes of this machine that are no more.",
    )
    parser.add_argument("action", choices=["repair"])
    parser.add_argument("overrides", nargs="*", metavar="override", help="where runs are recorded, as tracking=server")
    given = parser.parse_args(arguments)
    repaired = repair(compose_recorder(given.overrides))
    for run in repaired:
        console().print(f"{run.name} ({run.run_id}) was left RUNNING by {run.tags[PROCESS_TAG]}; it is KILLED now.")
    if not repaired:
        console().print("No run was left RUNNING by a dead process of this machine.")
