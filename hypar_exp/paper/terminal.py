"""The reproduction on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hypar_exp.paper.comparison import Verdict
from hypar_exp.paper.finding import Finding
from hypar_exp.paper.markdown_page import percent
from hypar_exp.paper.table import rich_table, table_of
from hypar_exp.reporting.console import console, print_first_that_fits

if TYPE_CHECKING:
    from rich.table import Table


def show_note(sentence: str) -> None:
    """Print what the user should know."""
    console().print(sentence)


def show_finding(finding: Finding) -> None:
    """Print one table or figure: what it asks, the comparison, and what explains the differences."""
    out = console()
    out.print(finding.item.question, style="bold")
    out.print(f"Values: {finding.item.value}.")
    narrow = table_of(finding.item.columns, finding.rows, spread=False)
    print_first_that_fits([rich_table(finding.table), rich_table(narrow), rich_table(narrow, out.width)])
    for number, text in finding.shown_notes:
        out.print(f"[{number}] {text}")
    out.print(f"{finding.item.name}: {_words(finding)}.")


def show_scoreboard(findings: Sequence[Finding]) -> None:
    """Print a line for each table and figure."""
    print_first_that_fits(_scoreboard(findings, narrow=narrow) for narrow in (False, True))


def _scoreboard(findings: Sequence[Finding], *, narrow: bool) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    verdicts = [verdict.replace("within ", "within\n") for verdict in Verdict]
    for heading in ("values", *verdicts, "largest" if narrow else "largest\ndifference", "of those\nunexplained"):
        table.add_column(heading, justify="right", no_wrap=True)
    for finding in findings:
        title = finding.item.title
        counts = [str(finding.tally[verdict] or "") for verdict in Verdict]
        largest = [percent(finding.largest_difference), percent(finding.largest_unexplained_difference)]
        table.add_row(title.partition(":")[0] if narrow else title, str(finding.compared_rows), *counts, *largest)
    return table


def show_files(page: Path, ui_command: str | None) -> None:
    """Print where the page is, and how to see the sweeps."""
    out = console()
    out.print(f"Page with the pictures: {page.absolute()}")
    if ui_command is not None:
        out.print(f"The sweeps: {ui_command}")


def _words(finding: Finding) -> str:
    counts = [f"{count} {verdict}" for verdict, count in finding.tally.items() if count]
    return f"of {finding.compared_rows} published values {', '.join(counts)}"
