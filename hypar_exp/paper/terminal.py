"""The reproduction on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypar_exp.paper.comparison import Verdict
from hypar_exp.paper.finding import Finding
from hypar_exp.paper.markdown_page import percent
from hypar_exp.paper.table import rich_table
from hypar_exp.reporting.console import console, print_uncut


def show_note(sentence: str) -> None:
    """Print what the user should know."""
    console().print(sentence)


def show_finding(finding: Finding) -> None:
    """Print one table or figure: what it asks, the comparison, and what explains the differences."""
    out = console()
    out.print(finding.item.question, style="bold")
    out.print(f"Values: {finding.item.value}.")
    print_uncut(rich_table(finding.table))
    for number, text in finding.shown_notes:
        out.print(f"[{number}] {text}")
    out.print(f"{finding.item.name}: {_words(finding)}.")


def show_scoreboard(findings: Sequence[Finding]) -> None:
    """Print a line for each table and figure."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for heading in ("values", *Verdict, "largest\ndifference", "of those\nunexplained"):
        table.add_column(heading, justify="right")
    for finding in findings:
        counts = [str(finding.tally[verdict] or "") for verdict in Verdict]
        largest = [percent(finding.largest_difference), percent(finding.largest_unexplained_difference)]
        table.add_row(finding.item.title, str(finding.compared_rows), *counts, *largest)
    print_uncut(table)


def show_files(page: Path, ui_command: str | None) -> None:
    """Print where the page is, and how to see the sweeps."""
    out = console()
    out.print(f"Page with the pictures: {page.absolute()}")
    if ui_command is not None:
        out.print(f"The sweeps: {ui_command}")


def _words(finding: Finding) -> str:
    counts = [f"{count} {verdict}" for verdict, count in finding.tally.items() if count]
    return f"of {finding.compared_rows} published values {', '.join(counts)}"
