"""A run on the terminal: the plan as dots, its numbers beside the baseline's, and where it was recorded."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TextIO, cast

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hypar_exp.networks import Network
from hypar_exp.planning import (
    DOTS,
    PLAIN_DOTS,
    OptimalityGap,
    Plan,
    level_names,
)
from hypar_exp.reporting.output import OUTPUT
from hypar_exp.reporting.plan_runs import run_lines
from hypar_exp.reporting.report_rows import report_rows
from hypar_exp.simulation import Comparison, StepReport
from hypar_exp.simulation.timeline import Timeline
from hypar_exp.systems.convergence import Convergence
from hypar_exp.text_files import printable
from hypar_exp.units import percent, percent_at_most, quantity, significant

MOST_UPRIGHT = 30
"""A plan of more layers is easier to read in lines of layers that are split alike."""


class SafeConsole(Console):
    """A console that shows control characters in what is printed and never sends them to a terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


@cache
def console() -> Console:
    """Standard output; plain where it is not a terminal, or one that can move no cursor and show no colour.

    What users name is text: no markup is read in it.
    """
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return SafeConsole(
        file=cast(TextIO, OUTPUT),
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=True,
        width=terminal_width(),
        force_terminal=False if dumb else None,
    )


def terminal_width() -> int:
    """Columns of the terminal; COLUMNS counts where it is a number above zero."""
    return shutil.get_terminal_size().columns


def print_uncut(table: Table) -> None:
    """Print a table as wide as it is, so that no number is cut, also where the terminal breaks its lines then."""
    out = console()
    width = out.width
    out.width = max(width, _width(table))
    try:
        out.print(table)
    finally:
        out.width = width


def print_first_that_fits(tables: Iterable[Table]) -> None:
    """Print the first table that is no wider than the terminal, else the last, uncut."""
    for table in tables:
        if _width(table) <= console().width:
            break
    print_uncut(table)


def _width(table: Table) -> int:
    out = console()
    return out.measure(table, options=out.options.update(width=10_000)).maximum


def show_plan(network: Network, plan: Plan, title: str) -> None:
    """Print a plan as figure 5 draws it.

    Layers that are split alike share a line where there are many, or the terminal is not wide enough.
    """
    out = console()
    dots = _dots(out)
    out.print(Text(title, style="bold"))
    out.print()
    if len(network.layers) > min(MOST_UPRIGHT, (out.width - 6) // 2):
        for line in run_lines(plan, network.layer_names, dots):
            out.print(line)
    else:
        for line in _upright(network.layer_names):
            out.print("     " + line, style="dim")
        for name, choices in zip(level_names(plan.levels), plan.choices, strict=True):
            out.print(f" {name:<4}" + " ".join(dots[choice] for choice in choices))
    legend = "   ".join(f"{dots[entry]} {entry.words}" for entry in plan.legend())
    out.print(f"\n     {legend}" if plan.levels else "     a single accelerator: nothing is split")


def show_report(
    step: str,
    strategy: str,
    report: StepReport,
    baseline: tuple[str, StepReport] | None,
    capacity_bytes: float,
) -> None:
    """Print a report's numbers with units, beside the baseline's and how much better they are.

    Args:
        step: what was simulated, as in "one training step".
        strategy: the name of what planned it.
        report: the numbers.
        baseline: the name and the numbers of what it is compared with.
        capacity_bytes: an accelerator's memory.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    (label, *heads), *rows = report_rows(step, strategy, report, baseline)
    table.add_column(label)
    for head in heads:
        table.add_column(head, justify="right", style="bold" if head == strategy else "")
    for row in rows:
        table.add_row(*row)
    print_uncut(table)
    if baseline is not None:
        console().print(f"{strategy} has {comparison_words(Comparison.of(report, baseline[1]), baseline[0])}.")
    if not report.fits_in_memory:
        need = quantity(report.memory_per_accelerator_bytes, "B")
        have = quantity(capacity_bytes, "B")
        console().print(f"Does not fit: an accelerator needs {need} and has {have}.", style="bold red")
    if report.dram_bound_layers.any():
        count = int(report.dram_bound_layers.sum())
        console().print(f"DRAM, not arithmetic, bounds the compute time of {count} layer{'s' * (count > 1)}.")


def show_timeline(step: Timeline) -> None:
    """Print a chart of the devices over time, as wide as the terminal, and what bounds the step."""
    from hypar_exp.reporting.timeline_chart import timeline_lines, timeline_words

    out = console()
    out.print()
    for line in [*timeline_lines(step, out.width), *timeline_words(step)]:
        out.print(line, highlight=False, markup=False)


def show_training(convergence: Convergence, report: StepReport, batch_size: int) -> None:
    """Print what a training to an accuracy takes."""
    steps = convergence.steps(batch_size)
    seconds, joules = steps * report.step_time_s, steps * report.step_energy_j
    console().print(f"Training: {convergence.words} take {quantity(seconds, 's')} and {quantity(joules, 'J')}.")


def show_gap(gap: OptimalityGap, objective: str) -> None:
    """Print how far a plan is from the best one."""
    console().print(f"Optimality gap: {gap_words(gap, objective)}.")


def show_notes(notes: Sequence[str]) -> None:
    """Print what the user should know, a line each."""
    for note in notes:
        console().print(f"Note: {note}.")


def comparison_words(comparison: Comparison, baseline: str) -> str:
    """`2.73x the speed and 1.13x the energy efficiency of dp`."""
    return (
        f"{significant(comparison.speedup)}x the speed and {significant(comparison.energy_efficiency)}x "
        f"the energy efficiency of {baseline}"
    )


def gap_words(gap: OptimalityGap, objective: str) -> str:
    """`1.91 % above the least communication over all levels at once, which differs in 1 of 66 choices`."""
    least = f"the least {objective} over all levels at once"
    if gap.excess == 0:
        return f"none, the plan has {least}"
    choices = f"differs in {gap.differing} of {gap.optimal.choices.size} choices"
    if not math.isfinite(gap.excess):
        return f"{least} is none, and its plan {choices}"
    above = percent(gap.excess) if gap.exact else f"at most {percent_at_most(gap.excess)}"
    return f"{above} above {least}, whose plan {choices}"


def _upright(names: Sequence[str]) -> list[str]:
    """Layer names written downwards, one column a layer, their ends aligned above the dots."""
    height = max(len(name) for name in names)
    padded = [name.rjust(height) for name in names]
    return [" ".join(name[line] for name in padded).rstrip() for line in range(height)]


def _dots(out: Console) -> str:
    """The symbol of each entry of a plan, by its number."""
    return DOTS if out.encoding.lower().startswith("utf") else PLAIN_DOTS
