"""One run: build, plan, simulate, show, record."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import DictConfig

from hypar_exp.errors import UserError
from hypar_exp.experiments.evaluation import Result, evaluated
from hypar_exp.experiments.job import Job, build_job, is_step, require_used
from hypar_exp.experiments.record import Origin, against, record_of, resolved, step_of, title_of
from hypar_exp.experiments.recorded import show_recorded
from hypar_exp.experiments.run_record import KNOBS_OF_THE_COMMAND
from hypar_exp.planning import DoesNotFitError, Progress, no_progress
from hypar_exp.reporting import console
from hypar_exp.reporting.exploration import show_exploration
from hypar_exp.reporting.findings import show_findings
from hypar_exp.reporting.progress import PlanCounter
from hypar_exp.systems import Findings
from hypar_exp.tracking.store import RecordedRun, now_ms


@dataclass(frozen=True)
class Made:
    """A run that was made."""

    job: Job
    result: Result | Findings
    recorded: RecordedRun | None
    """None where nothing is recorded."""


def run(config: DictConfig, overrides: Sequence[str], origin: Origin) -> Result | Findings:
    """Plan and simulate what a configuration describes, show it, and record it; see `make`."""
    made = make(config, overrides, origin, PlanCounter("plans" if is_step(config) else "steps"))
    _show(made.job, made.result)
    if made.recorded is not None:
        show_recorded(made.recorded)
    return made.result


def make(config: DictConfig, overrides: Sequence[str], origin: Origin, progress: Progress = no_progress) -> Made:
    """Plan and simulate what a configuration describes, and record it.

    Args:
        config: the composed configuration.
        overrides: what the user set on the command line, for the run's name.
        origin: what the run is part of.
        progress: see `PlanningProblem`.

    Raises:
        UserError: the configuration does not describe a run, or it cannot be recorded; nothing is recorded then.
        DoesNotFitError: there is no plan, or not this strategy's, that fits; that is recorded.
    """
    for knob in KNOBS_OF_THE_COMMAND:
        if config.get(knob):
            raise UserError(f"{knob}=true is for sweeps; add -m")
    job = build_job(config)
    require_used(job, overrides)
    job.recorder.check()
    started_ms = now_ms()
    try:
        result = evaluated(job, progress=progress)
    except BaseException as error:
        if isinstance(error, DoesNotFitError) or not isinstance(error, UserError):
            with contextlib.suppress(UserError):  # what ended the run is told, not that it could not be recorded
                job.recorder.record(record_of(resolved(config), overrides, started_ms, origin, job, error=error))
        raise
    return Made(
        job, result, job.recorder.record(record_of(resolved(config), overrides, started_ms, origin, job, result))
    )


def require_no_chdir(hydra_node: DictConfig) -> None:
    """Refuse to run in a folder of Hydra's: paths, the store's among them, are relative to where the user stands.

    Raises:
        UserError: `hydra.job.chdir=true`.
    """
    if hydra_node.job.chdir:
        raise UserError(
            "hydra.job.chdir must be false: paths in overrides, and the store's, are relative to where you stand; what "
            "a run leaves is in its artifacts"
        )


def _show(job: Job, result: Result | Findings) -> None:
    if isinstance(result, Findings):
        show_findings(result)
        if result.timeline is not None:
            console.show_timeline(result.timeline)
        return
    console.show_plan(job.network, result.plan, title_of(job))
    capacity = job.hardware.dram_capacity_bytes
    console.show_report(step_of(job), job.planned_by, result.report, against(job, result), capacity)
    if result.report.pipeline is not None:
        console.show_timeline(result.report.pipeline.timeline)
    if job.convergence is not None:
        console.show_training(job.convergence, result.report, job.batch_size)
    if result.gap is not None:
        console.show_gap(result.gap, job.objective.name)
    if result.exploration is not None:
        show_exploration(result.exploration)
    console.show_notes(result.notes)
