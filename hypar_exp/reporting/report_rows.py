"""The numbers of a step as people read them, beside a baseline's: for the terminal, MLflow and notebooks."""

from __future__ import annotations

from collections.abc import Callable

from hypar_exp.simulation import StepReport
from hypar_exp.units import quantity, significant

Row = tuple[str, Callable[[StepReport], str], Callable[[StepReport], float] | None]
Rows = list[list[str]]


def report_rows(step: str, strategy: str, report: StepReport, baseline: tuple[str, StepReport] | None) -> Rows:
    """A line of headings, and a line a number: what it is, its value, the baseline's, and how much less that is.

    Parts of a number are indented by two spaces.

    Args:
        step: what was simulated, as in "one training step".
        strategy: the name of what planned it.
        report: the numbers.
        baseline: the name and the numbers of what it is compared with.
    """
    if baseline is None:
        return [[step, strategy], *([label, shown(report)] for label, shown, _ in _ROWS)]
    name, other = baseline
    lines = [[label, shown(report), shown(other), _better(measured, report, other)] for label, shown, measured in _ROWS]
    return [[step, strategy, name, f"{strategy} against {name}"], *lines]


def headline_markdown(rows: Rows) -> str:
    """The rows that are no parts of others, as a table in Markdown."""
    head, *lines = [row for row in rows if not row[0].startswith(" ")]
    rule = [":--", *(["--:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *lines])


def _better(measured: Callable[[StepReport], float] | None, report: StepReport, baseline: StepReport) -> str:
    """How many times less this run takes than the baseline (`2.73x less`), or more."""
    if measured is None or not measured(report) or not measured(baseline):
        return ""
    ratio = measured(baseline) / measured(report)
    if significant(ratio) == "1.00":
        return "same"
    return f"{significant(ratio)}x less" if ratio > 1 else f"{significant(1 / ratio)}x more"


_ROWS: tuple[Row, ...] = (
    ("step time", lambda r: quantity(r.step_time_s, "s"), lambda r: r.step_time_s),
    ("  compute", lambda r: quantity(r.compute_time_s, "s"), lambda r: r.compute_time_s),
    ("  communication", lambda r: quantity(r.communication_time_s, "s"), lambda r: r.communication_time_s),
    ("samples per second", lambda r: significant(r.samples_per_s), None),
    ("step energy", lambda r: quantity(r.step_energy_j, "J"), lambda r: r.step_energy_j),
    ("  MACs", lambda r: quantity(r.energy.by_part_j["mac"], "J"), lambda r: r.energy.by_part_j["mac"]),
    ("  DRAM", lambda r: quantity(r.energy.by_part_j["dram"], "J"), lambda r: r.energy.by_part_j["dram"]),
    (
        "  communication",
        lambda r: quantity(r.energy.by_part_j["communication"], "J"),
        lambda r: r.energy.by_part_j["communication"],
    ),
    ("communication", lambda r: quantity(r.communication_bytes, "B"), lambda r: r.communication_bytes),
    (
        "memory per accelerator",
        lambda r: quantity(r.memory_per_accelerator_bytes, "B"),
        lambda r: r.memory_per_accelerator_bytes,
    ),
)
