"""A run from Python as from the command line, with a result that a notebook shows: `hypar_exp.run()`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hypar_exp.errors import UserError
from hypar_exp.experiments.evaluation import Result
from hypar_exp.experiments.job import Job, is_step, register
from hypar_exp.experiments.record import Origin, against, step_of, title_of
from hypar_exp.experiments.run import make
from hypar_exp.experiments.run_record import baseline_metrics_of, metrics_of
from hypar_exp.experiments.user_errors import user_sentence
from hypar_exp.paths import CONF_DIR
from hypar_exp.planning import ENTRIES, Plan, level_names
from hypar_exp.reporting.breakdown_picture import breakdown_svg
from hypar_exp.reporting.console import comparison_words
from hypar_exp.reporting.plan_picture import plan_svg
from hypar_exp.reporting.report_rows import report_rows
from hypar_exp.simulation import StepReport
from hypar_exp.units import quantity

if TYPE_CHECKING:
    import pandas
    from omegaconf import DictConfig

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
        head, *rows = report_rows(
            step_of(self.job), self.job.strategy.name, self.report, against(self.job, self.result)
        )
        lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"]
        for label, *cells in rows:
            indent = "&emsp;" if label.startswith(" ") else ""
            numbers = "".join(f'<td style="text-align:right">{escape(cell)}</td>' for cell in cells)
            lines.append(
                f'<tr><th style="text-align:left;font-weight:normal">{indent}{escape(label)}</th>{numbers}</tr>'
            )
        notes = "".join(f"<p>Note: {escape(note)}.</p>" for note in self.result.notes)
        return f"{self.plot_plan().svg}<table>{''.join(lines)}</table>{notes}"


def run(overrides: str | Sequence[str] = "", *, config_dir: str | Path | None = None) -> RunResult:
    """Plan, simulate and record as `hypar-exp` does with the same overrides, and print nothing.

    Args:
        overrides: as on the command line, in one text or each by itself: `"network=vgg_e strategy=hypar"`;
            `tracking=none` records nothing.
        config_dir: a folder with options of your own, as `--config-dir` takes it.

    Raises:
        UserError: an override that is not understood, or a value out of range; the sentence names the key.
        DoesNotFitError: there is no plan that fits in memory; that is recorded.
    """
    words = shlex.split(overrides) if isinstance(overrides, str) else list(overrides)
    with _composed(words, config_dir) as config:
        if not is_step(config):
            raise UserError(f"'{' '.join(words)}' is no step; hypar-exp runs it, and hypar_exp.runs() reads it")
        made = make(config, words, Origin())
    return RunResult(made.job, cast(Result, made.result), None if made.recorded is None else made.recorded.run_id)


@contextmanager
def _composed(overrides: Sequence[str], config_dir: str | Path | None) -> Iterator[DictConfig]:
    """The configuration of a run; Hydra knows its groups until the end of the block."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.types import RunMode
    from omegaconf import open_dict

    register()
    own = [] if config_dir is None else [f"hydra.searchpath=[file://{Path(config_dir).resolve()}]"]
    around = GlobalHydra.instance().hydra  # of an application that calls us
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
            config: Any = compose("config", [*own, *overrides], return_hydra_config=True)
            if config.hydra.mode == RunMode.MULTIRUN:
                raise UserError(
                    f"'{' '.join(overrides)}' is a sweep; hypar-exp makes it, and hypar_exp.runs() reads it"
                )
            with open_dict(config):
                del config["hydra"]
            yield config
    except Exception as error:
        sentence = None if isinstance(error, UserError) else user_sentence(error)
        if sentence is None:
            raise
        raise UserError(sentence) from error
    finally:
        GlobalHydra.instance().hydra = around
