"""Where a run was recorded, on the terminal."""

from __future__ import annotations

from hypar_exp.reporting.console import console, show_notes
from hypar_exp.tracking.store import RecordedRun


def show_recorded(run: RecordedRun) -> None:
    """Print where a run was recorded and how to look at it."""
    out = console()
    out.print(f"Recorded in {run.store}")
    if run.ui_command is not None:
        out.print(f"  open:   {run.ui_command}")
    out.print(f"  run:    {run.url}")
    if run.runs_url is not None:
        out.print(f"  runs:   {run.runs_url}")
    if run.note is not None:
        show_notes([run.note])
