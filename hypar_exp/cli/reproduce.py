"""`python -m hypar_exp.reproduce fig06`, or `all`: the paper's tables and figures from recorded runs.

Runs that are missing are made by the preset's own sweep; what is shown is read from the store.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import hypar_exp
from hypar_exp.cli.endings import run_command
from hypar_exp.errors import UserError
from hypar_exp.experiments.job import register
from hypar_exp.experiments.objects import build_object
from hypar_exp.paper import terminal
from hypar_exp.paper.finding import Finding
from hypar_exp.paper.html_page import html_page
from hypar_exp.paper.items import ITEMS, Item, item
from hypar_exp.paper.markdown_page import PICTURES, markdown_page
from hypar_exp.paper.reproduction import Reproduction
from hypar_exp.paths import CONF_DIR
from hypar_exp.tracking import Recorder, store_of

ALL = "all"
FOLDER = Path("outputs/paper")


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    items: Sequence[Item]
    overrides: Sequence[str] = ()
    may_run: bool = True
    folder: Path = FOLDER
    docs: Path | None = None
    page: str = "index.html"


def main() -> None:
    """The command `python -m hypar_exp.reproduce`."""
    run_command(lambda: reproduce(request_of(sys.argv[1:])))


def request_of(arguments: Sequence[str]) -> Request:
    """Read the command line.

    Raises:
        UserError: no table or figure, or an unknown one.
    """
    parser = argparse.ArgumentParser(
        prog="python -m hypar_exp.reproduce",
        description="The HyPar paper's tables and figures from recorded runs, next to the published values.",
        epilog=f"Tables and figures: {', '.join(known.name for known in ITEMS)}.",
    )
    parser.add_argument("what", nargs="*", help="tables and figures, or all; and overrides, as tracking=server")
    parser.add_argument("--no-run", action="store_true", help="read what is recorded and make no runs")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page and pictures go (%(default)s)")
    parser.add_argument("--docs", type=Path, help="write reproduction.md and its pictures into this folder too")
    given = parser.parse_args(arguments)
    names = [word for word in given.what if "=" not in word]
    if not names:
        raise UserError(f"name a table or figure, of {', '.join(known.name for known in ITEMS)}, or all")
    return Request(
        items=ITEMS if ALL in names else [item(name) for name in dict.fromkeys(names)],
        overrides=[word for word in given.what if "=" in word],
        may_run=not given.no_run,
        folder=given.folder,
        docs=given.docs,
        page="index.html" if ALL in names else f"{'-'.join(names)}.html",
    )


def reproduce(request: Request) -> None:
    """Reproduce what was asked for: tables in the terminal, files, a page, and artifacts of the sweeps' parents.

    Raises:
        UserError: runs are missing and may not be made, or could not be; or the store cannot be read.
    """
    from hydra import compose, initialize_config_dir

    register()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        tracking = [override for override in request.overrides if override.startswith("tracking")]
        recorder = store_of(cast(Recorder, build_object(compose("config", tracking), "tracking")))
        recorder.check()
        reproduction = Reproduction(recorder, request.overrides, request.may_run, terminal.show_note)
        findings = [reproduction.of(wanted) for wanted in request.items]
    if len(findings) == 1:
        terminal.show_finding(findings[0])
    else:
        terminal.show_scoreboard(findings)
    terminal.show_files(_written(request, findings, reproduction), reproduction.ui_command)


def _written(request: Request, findings: Sequence[Finding], reproduction: Reproduction) -> Path:
    """Write the files, the page, and, where it was asked for, the page for the repository; returns the page."""
    for finding in findings:
        _write(request.folder, finding.files)
    page = html_page(findings, hypar_exp.__version__, reproduction.store, reproduction.ui_command)
    _write(request.folder, {request.page: page})
    if request.docs is not None:
        _write(request.docs, {"reproduction.md": markdown_page(findings)})
        pictures = {f"{finding.item.name}.svg": finding.svg for finding in findings if finding.svg is not None}
        _write(request.docs / PICTURES, pictures)
    return request.folder / request.page


def _write(folder: Path, files: dict[str, str | bytes] | dict[str, str] | dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
