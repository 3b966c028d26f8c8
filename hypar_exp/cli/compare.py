"""`python -m hypar_exp.compare`: a table and a picture of chosen recorded runs or sweeps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hypar_exp.cli.endings import run_command
from hypar_exp.compare.selection import Selection, compare
from hypar_exp.compare.table import comparison_png, show_comparison
from hypar_exp.errors import UserError
from hypar_exp.experiments.job import compose_recorder
from hypar_exp.reporting.console import console
from hypar_exp.tracking import store_of

FOLDER = Path("outputs/compare")


def main() -> None:
    """The command `python -m hypar_exp.compare`."""
    run_command(lambda: _compare(sys.argv[1:]))


def _compare(arguments: Sequence[str]) -> None:
    given = _parser().parse_args(arguments)
    recorder = compose_recorder(given.overrides)
    recorder.check()
    selection = Selection(given.sweep, dict(map(_tag, given.tag)), given.where)
    runs = selection.runs(store_of(recorder).results())
    comparison = compare(runs, given.rows, given.columns, given.value, given.baseline)
    show_comparison(comparison)
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "compare.csv").write_text(comparison.csv(), encoding="utf-8")
    files = ["compare.csv"]
    picture = comparison_png(comparison)
    if picture is not None:
        (given.folder / "compare.png").write_bytes(picture)
        files.append("compare.png")
    console().print(f"{len(runs)} runs. Files in {given.folder}: {', '.join(files)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hypar_exp.compare",
        description="Recorded runs side by side, in the terminal, as CSV and as a picture. "
        "Without a choice: the runs of the last sweep.",
    )
    parser.add_argument("--sweep", action="append", default=[], metavar="RUN_ID", help="the runs of this sweep")
    parser.add_argument("--tag", action="append", default=[], metavar="KEY=VALUE", help="runs with this tag")
    parser.add_argument("--where", default="", metavar="FILTER", help="runs that a filter of MLflow's selects")
    parser.add_argument("--rows", default="network", help="a tag, param or group (%(default)s)")
    parser.add_argument("--columns", default="strategy", help="a tag, param or group (%(default)s)")
    parser.add_argument("--value", default="step_time_s", help="a metric (%(default)s)")
    parser.add_argument("--baseline", help="the column to measure the others against, as dp")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files go (%(default)s)")
    parser.add_argument("overrides", nargs="*", metavar="override", help="where runs are recorded, as tracking=server")
    return parser


def _tag(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UserError(f"--tag must be KEY=VALUE, as strategy=hypar (got {text!r})")
    return key, value
