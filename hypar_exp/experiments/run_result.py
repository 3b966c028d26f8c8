"""What a run from Python comes to: shown by a notebook, and as a DataFrame, pictures and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.experiments.evaluation import Result
from hypar_exp.experiments.job import Job
from hypar_exp.experiments.record import numbers_of, title_of
from hypar_exp.experiments.run_record import baseline_metrics_of, metrics_of
from hypar_exp.planning import ENTRIES, Plan, level_names
from hypar_exp.reporting.breakdown_picture import breakdown_svg
from hypar_exp.reporting.console import comparison_words
from hypar_exp.reporting.findings import MOST_ROWS, cell_words
from hypar_exp.reporting.line_picture import lines_svg
from hypar_exp.reporting.plan_picture import plan_svg
from hypar_exp.reporting.timeline_picture import timeline_svg
from hypar_exp.simulation import StepReport
from hypar_exp.systems import Findings
from hypar_exp.units import quantity

if TYPE_CHECKING:
    import pandas

LEVEL = "split_"
"""In front of a hierarchy level's name, the column of its splits."""


@dataclass(frozen=True)
class Picture:
    """An SVG picture that a notebook shows."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<picture of {len(self.svg):,} characters; save(path) writes it>"

    def save(self, path: str | Path) -> None:
        """Write the SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


@dataclass(frozen=True, repr=False)
class RunResult:
    """What a run came to.

    Attributes:
        job: the objects that were made of the configuration: job.network, job.array, job.hardware and so on.
        result: the plan, its report, the baseline's, and what else was asked for.
        run_id: of the recorded run; None where nothing is recorded.
    """

    job: Job
    result: Result
    run_id: str | None

    @property
    def plan(self) -> Plan:
        """uint8[levels, layers]; see `planning.Split`."""
        return self.result.plan

    @property
    def report(self) -> StepReport:
        """Every number of a step under the plan."""
        return self.result.report

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers that a record has: SI units, which end the names."""
        every = metrics_of(self.report)
        if self.result.comparison is not None and self.result.baseline is not None:
            every += baseline_metrics_of(self.result.comparison, self.result.baseline)
        return {metric.key: metric.value for metric in every if "/" not in metric.key}

    def to_frame(self) -> pandas.DataFrame:
        """A row a layer: what it is, its split at each level, and its times (s), bytes and joules in a step."""
        import pandas

        report, network = self.report, self.job.network
        layers = network.layers
        splits = {
            f"{LEVEL}{name}": [ENTRIES[choice].label for choice in row]
            for name, row in zip(level_names(self.plan.levels), self.plan.choices, strict=True)
        }
        return pandas.DataFrame(
            {
                "kind": [layer.kind for layer in layers],
                "input": [str(layer.input) for layer in layers],
                "output": [str(layer.output) for layer in layers],
                "weights": [layer.weights for layer in layers],
                **splits,
                "compute_time_s": report.compute_time_s_by_layer,
                "dram_bound": report.dram_bound_layers,
                "communication_bytes": report.communication_bytes_by_layer,
                "energy_j": report.energy.by_layer_j,
            },
            index=pandas.Index(network.layer_names, name="layer"),
        )

    def plot(self) -> Picture:
        """Where the time of a step goes, by layer and by hierarchy level."""
        return Picture(breakdown_svg(self.report, self.job.network.layer_names, title_of(self.job)))

    def plot_plan(self) -> Picture:
        """The plan as a grid of dots."""
        return Picture(plan_svg(self.plan, self.job.network.layer_names, title_of(self.job)))

    def plot_timeline(self) -> Picture:
        """When each stage of a pipeline computes, exchanges and waits.

        Raises:
            UserError: the step has no timeline.
        """
        if self.report.pipeline is None:
            raise UserError("the step has no timeline; choose pipeline=balanced, or overlap=gradients")
        return Picture(timeline_svg(self.report.pipeline.timeline, title_of(self.job)))

    def __repr__(self) -> str:
        report = self.report
        numbers = f"{quantity(report.step_time_s, 's')}, {quantity(report.step_energy_j, 'J')} and "
        numbers += f"{quantity(report.communication_bytes, 'B')} exchanged a step"
        return f"<{title_of(self.job)}: {numbers}{self._gain()}>"

    def _gain(self) -> str:
        if self.result.comparison is None or self.job.baseline is None:
            return ""
        return f"; {comparison_words(self.result.comparison, self.job.baseline.name)}"

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>Note: {escape(note)}.</p>" for note in self.result.notes)
        return f"{self.plot_plan().svg}{_html_table(numbers_of(self.job, self.result))}{notes}"


@dataclass(frozen=True, repr=False)
class WorkloadResult:
    """What a workload that is no step came to.

    Attributes:
        findings: its title, sentences, tables, numbers and chart.
        run_id: of the recorded run; None where nothing is recorded.
    """

    findings: Findings
    run_id: str | None

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers that a record has."""
        return dict(self.findings.metrics)

    def to_frame(self, table: str | None = None) -> pandas.DataFrame:
        """One of its tables, by name; the first where none is named.

        Raises:
            UserError: it has no such table.
        """
        import pandas

        tables = {each.name: each for each in self.findings.tables}
        name = next(iter(tables), "") if table is None else table
        if name not in tables:
            raise UserError(f"there is no table '{name}'{did_you_mean(name, tables)}")
        return pandas.DataFrame(list(tables[name].rows), columns=list(tables[name].columns))

    def plot(self) -> Picture:
        """Its chart.

        Raises:
            UserError: it has none.
        """
        if self.findings.chart is None:
            raise UserError(f"there is no chart of '{self.findings.title}'")
        return Picture(lines_svg(self.findings.chart))

    def __repr__(self) -> str:
        return f"<{self.findings.title}: {', '.join(table.name for table in self.findings.tables)}>"

    def _repr_html_(self) -> str:
        words = "".join(f"<li>{escape(sentence)}.</li>" for sentence in self.findings.words)
        parts = [f"<p><b>{escape(self.findings.title)}</b></p><ul>{words}</ul>"]
        for table in self.findings.tables[:1]:
            rows = [[cell_words(*pair) for pair in zip(table.columns, row, strict=True)] for row in table.rows]
            parts.append(_html_table([list(table.columns), *rows[:MOST_ROWS]]))
        if self.findings.chart is not None:
            parts.append(self.plot().svg)
        return "".join(parts)


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    """A line of headings and lines of cells; the first cell of a line says what it is, indented where it is a part."""
    lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in rows[0])}</tr>"]
    for label, *cells in rows[1:]:
        indent = "&emsp;" if label.startswith(" ") else ""
        numbers = "".join(f'<td style="text-align:right">{escape(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th style="text-align:left;font-weight:normal">{indent}{escape(label)}</th>{numbers}</tr>')
    return f"<table>{''.join(lines)}</table>"
