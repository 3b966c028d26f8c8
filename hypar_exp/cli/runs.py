"""`hypar-exp runs`: puts a store in order: runs that were left open, an older schema, files that were moved."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from hypar_exp.cli.endings import run_command
from hypar_exp.errors import UserError
from hypar_exp.experiments.job import compose_recorder
from hypar_exp.reporting.console import console
from hypar_exp.tracking import Recorder, SqliteRecorder, store_of
from hypar_exp.tracking.process import PROCESS_TAG
from hypar_exp.tracking.repair import repair

DESCRIPTION = """Put a store in order.

repair    close, as KILLED, the runs that were left RUNNING by processes of this machine that are no more;
          with --run RUN_ID one whose process is on another machine or in another container
upgrade   give the database of an older MLflow the installed MLflow's schema; the database as it was is kept beside it
relocate  after outputs/ was moved or copied: let the runs have their files where they are now"""


def main() -> None:
    """The command `hypar-exp runs`."""
    run_command(lambda: _put_in_order(sys.argv[1:]))


def _put_in_order(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="hypar-exp runs", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["repair", "upgrade", "relocate"])
    parser.add_argument(
        "--run", action="append", default=[], metavar="RUN_ID", help="a run to repair, whatever made it"
    )
    parser.add_argument("overrides", nargs="*", metavar="override", help="where runs are recorded, as tracking=server")
    given = parser.parse_args(arguments)
    if given.run and given.action != "repair":
        raise UserError("--run is for repair")
    recorder = compose_recorder(given.overrides)
    if given.action == "repair":
        recorder.check()
        _repair(recorder, given.run)
    elif not isinstance(recorder, SqliteRecorder):
        raise UserError(f"{given.action} is for tracking=sqlite (got tracking={recorder.name})")
    elif given.action == "upgrade":
        kept = recorder.upgrade()
        console().print("It is up to date." if kept is None else f"Upgraded; as it was it is in {kept}")
    else:
        console().print(f"{recorder.relocate()} runs were pointed to their files.")


def _repair(recorder: Recorder, run_ids: Sequence[str]) -> None:
    repaired = repair(store_of(recorder), run_ids)
    for run in repaired:
        process = run.tags.get(PROCESS_TAG, "an unknown process")
        console().print(f"{run.name} ({run.run_id}) was left RUNNING by {process}; it is KILLED now.")
    if not repaired:
        console().print("No run was left RUNNING by a dead process of this machine.")
