"""One run: build, plan, simulate, show, record."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hypar_exp.config import Job, build_job
from hypar_exp.errors import UserError
from hypar_exp.networks import Network, network_yaml
from hypar_exp.planning import (
    COMMUNICATION,
    DoesNotFitError,
    Exploration,
    OptimalityGap,
    Plan,
    Planned,
    PlanningProblem,
    Progress,
    Strategy,
    legend_splits,
    no_progress,
    optimality_gap,
    plan_csv,
    plan_rows,
    planned,
)
from hypar_exp.reporting import console
from hypar_exp.reporting.exploration import exploration_artifacts, show_exploration
from hypar_exp.reporting.layer_table import layer_csv
from hypar_exp.reporting.plan_picture import plan_svg
from hypar_exp.reporting.progress import PlanCounter
from hypar_exp.reporting.units import quantity
from hypar_exp.reporting.yaml_text import to_yaml
from hypar_exp.simulation import (
    AcceleratorArray,
    Accounting,
    Communication,
    Comparison,
    Hardware,
    Objective,
    PlanCosts,
    StepReport,
    kinds_of,
    memory_limit,
    simulate,
)
from hypar_exp.tracking.recorder import RunRecord, RunStatus
from hypar_exp.tracking.run_record import (
    KNOBS_OF_THE_COMMAND,
    baseline_metrics_of,
    exploration_metrics_of,
    gap_metrics_of,
    metrics_of,
    not_fitting_metrics_of,
    params_of,
    run_name,
    tags_of,
)

Value = TypeVar("Value")


LEAST_COMMUNICATION = Communication()
"""What a baseline plans for, whatever the run's own objective."""


@dataclass(frozen=True)
class Result:
    """What a run came to."""

    plan: Plan
    report: StepReport
    baseline: StepReport | None
    exploration: Exploration | None
    """What the strategy found out about other plans."""
    gap: OptimalityGap | None
    optimum: StepReport | None
    """A step under the best plan, where the run has a gap."""

    @property
    def comparison(self) -> Comparison | None:
        return None if self.baseline is None else Comparison.of(self.report, self.baseline)


@dataclass(frozen=True)
class Origin:
    """What a run is part of."""

    experiment: str | None = None
    """The preset, of `conf/experiment`."""
    parent_id: str | None = None
    """The run of the sweep."""


def run(config: DictConfig, overrides: Sequence[str], origin: Origin) -> Result:
    """Plan and simulate what a configuration describes, show it, and record it.

    Args:
        config: the composed configuration.
        overrides: what the user set on the command line, for the run's name.
        origin: what the run is part of.

    Raises:
        UserError: the configuration does not describe a run, or it cannot be recorded; nothing is recorded then.
        DoesNotFitError: there is no plan, or not this strategy's, that fits; that is recorded.
    """
    for knob in KNOBS_OF_THE_COMMAND:
        if config[knob]:
            raise UserError(f"{knob}=true is for sweeps; add -m")
    job = build_job(config)
    job.recorder.check()
    started_ms = _now_ms()
    try:
        result = evaluate(job, progress=PlanCounter())
        _show(job, result)
    except DoesNotFitError as outcome:
        job.recorder.record(record_of(resolved(config), overrides, started_ms, origin, job, error=outcome))
        raise
    except UserError:
        raise
    except BaseException as error:
        job.recorder.record(record_of(resolved(config), overrides, started_ms, origin, job, error=error))
        raise
    recorded = job.recorder.record(record_of(resolved(config), overrides, started_ms, origin, job, result))
    if recorded is not None:
        console.show_recorded(recorded)
    return result


def call(function: Callable[..., Value], *arguments: Any) -> Value:
    """Call a function; a sweep puts in its place what remembers the results."""
    return function(*arguments)


def evaluate(job: Job, call: Callable[..., Any] = call, progress: Progress = no_progress) -> Result:
    """Plan with the strategy and its baseline, and simulate both.

    Args:
        job: what to plan and simulate.
        call: calls the functions that depend on nothing but their arguments.
        progress: see `PlanningProblem`.
    """

    accounting, array, hardware = job.accounting, job.array, job.hardware

    def found_by(strategy: Strategy, problem: PlanningProblem) -> Planned:
        found, notes = call(_plan, strategy, problem)
        job.notes.extend(notes)
        return cast(Planned, found)

    def problem_for(objective: Objective, enforce_memory: bool) -> PlanningProblem:
        asked = objective, job.network, job.batch_size, array, hardware, accounting, enforce_memory, progress
        return cast(PlanningProblem, call(_problem, *asked))

    def simulated(plan: Plan) -> StepReport:
        return cast(StepReport, call(simulate, job.network, plan, array, hardware, accounting, job.batch_size))

    problem = problem_for(job.objective, array.enforce_memory)
    found = found_by(job.strategy, problem)
    plan, report = found.plan, simulated(found.plan)
    if array.enforce_memory and not report.fits_in_memory:
        raise _not_fitting(job, report)
    baseline = None
    if job.baseline is not None:
        baseline = simulated(found_by(job.baseline, problem_for(LEAST_COMMUNICATION, False)).plan)
    if not job.gap:
        return Result(plan, report, baseline, found.exploration, None, None)
    gap, notes = call(_gap, job.strategy, problem, plan)
    job.notes.extend(notes)
    return Result(plan, report, baseline, found.exploration, gap, simulated(gap.optimal))


def _problem(
    objective: Objective,
    network: Network,
    batch_size: int,
    array: AcceleratorArray,
    hardware: Hardware,
    accounting: Accounting,
    enforce_memory: bool,
    progress: Progress,
) -> PlanningProblem:
    return PlanningProblem(
        network,
        batch_size,
        array.levels,
        accounting.communication,
        costs=objective.costs(network, batch_size, array, hardware, accounting),
        simulator=PlanCosts(network, array, hardware, accounting, batch_size),
        memory=memory_limit(network, batch_size, hardware, accounting) if enforce_memory else None,
        progress=progress,
        kinds=tuple(kind.group for kind in kinds_of(array, hardware)),
    )


def _not_fitting(job: Job, report: StepReport) -> DoesNotFitError:
    needed, capacity = report.memory_per_accelerator_bytes, job.hardware.dram_capacity_bytes
    return DoesNotFitError(
        f"the plan of strategy {job.strategy.name} does not fit: an accelerator needs {quantity(needed, 'B')} and has "
        f"{quantity(capacity, 'B')}; strategy=optimal finds the best plan that fits, if there is one",
        needed,
        capacity,
    )


def _plan(strategy: Strategy, problem: PlanningProblem) -> tuple[Planned, list[str]]:
    """The plan of a strategy, and what it warned of."""
    with _noting() as notes:
        return planned(strategy, problem), notes


def _gap(strategy: Strategy, problem: PlanningProblem, plan: Plan) -> tuple[OptimalityGap, list[str]]:
    """How far a strategy's plan is from the best of the splits that it chooses from, and what was warned of."""
    with _noting() as notes:
        return optimality_gap(problem, plan, getattr(strategy, "types", None)), notes


@contextlib.contextmanager
def _noting() -> Iterator[list[str]]:
    """Warnings as notes, which are complete at the end of the block."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes.extend(str(warning.message) for warning in caught)


def _show(job: Job, result: Result) -> None:
    console.show_plan(job.network, result.plan, _title(job))
    baseline = None if result.baseline is None or job.baseline is None else (job.baseline.name, result.baseline)
    console.show_report(_step(job), job.strategy.name, result.report, baseline, job.hardware.dram_capacity_bytes)
    if result.gap is not None:
        console.show_gap(result.gap, job.objective.name)
    if result.exploration is not None:
        show_exploration(result.exploration)
    console.show_notes(job.notes)


def _title(job: Job) -> str:
    planned_for = "" if job.objective.name == COMMUNICATION else f" for {job.objective.name}"
    return (
        f"{job.network.name} by {job.strategy.name}{planned_for}: {len(job.network.layers)} layers, "
        f"{2**job.array.levels} accelerators ({job.array.name}), batch {job.batch_size}"
        f"{', inference' if job.accounting.forward_only else ''}"
    )


def _step(job: Job) -> str:
    return "one inference step" if job.accounting.forward_only else "one training step"


def record_of(
    values: Mapping[str, Any],
    overrides: Sequence[str],
    started_ms: int,
    origin: Origin,
    job: Job | None,
    result: Result | None = None,
    error: BaseException | None = None,
    call: Callable[..., Any] = call,
) -> RunRecord:
    """The record of a run that finished (with `job` and `result`) or that `error` ended, maybe before it had a job.

    Args:
        values: the configuration as `resolved` gives it.
        overrides: what the user set, for the run's name.
        started_ms: when the run began, in ms since the epoch.
        origin: what the run is part of.
        job: the run's objects, where they could be made.
        result: what it came to, where it finished.
        error: what ended it, where it did not.
        call: calls the functions that depend on nothing but their arguments.
    """
    artifacts = {"config.yaml": "".join(call(to_yaml, key, value) for key, value in values.items())}
    tags = tags_of(values, origin.experiment, origin.parent_id)
    metrics = []
    if isinstance(error, DoesNotFitError):
        tags |= {"outcome": "does not fit", "mlflow.note.content": str(error)}
        metrics = not_fitting_metrics_of(error)
    elif error is not None:
        tags["error"] = f"{type(error).__name__}: {error}"
    if job is not None and result is not None:
        metrics = metrics_of(result.report)
        if result.baseline is not None and result.comparison is not None:
            metrics += baseline_metrics_of(result.comparison, result.baseline)
        if result.gap is not None and result.optimum is not None:
            metrics += gap_metrics_of(result.gap, result.optimum)
        if result.exploration is not None:
            metrics += exploration_metrics_of(result.exploration)
        artifacts |= _artifacts(job, result)
        if "layers" not in values["network"]:  # they are in a file that may change or go
            artifacts["network.yaml"] = call(network_yaml, job.network)
        tags["mlflow.note.content"] = _description(job, result)
    return RunRecord(
        name=" ".join(overrides)[:250] if job is None else run_name(values, overrides),
        status=RunStatus.FINISHED if error is None else RunStatus.of(error),
        start_time_ms=started_ms,
        end_time_ms=_now_ms(),
        params=params_of(values),
        tags=tags,
        metrics=tuple(metrics),
        artifacts=artifacts,
    )


def resolved(config: DictConfig) -> Mapping[str, Any]:
    """A configuration as plain data; as it is written where it cannot be resolved, which is an error told elsewhere."""
    try:
        return cast(Mapping[str, Any], OmegaConf.to_container(config, resolve=True))
    except OmegaConfBaseException:
        return cast(Mapping[str, Any], OmegaConf.to_container(config, resolve=False))


def _artifacts(job: Job, result: Result) -> dict[str, str]:
    names = job.network.layer_names
    artifacts = {
        "plan.csv": plan_csv(result.plan, names),
        "plan.svg": plan_svg(result.plan, names, _title(job)),
        "layers.csv": layer_csv(job.network, result.report),
    }
    if result.gap is not None:
        artifacts["optimal_plan.csv"] = plan_csv(result.gap.optimal, names)
    if result.exploration is not None:
        artifacts |= exploration_artifacts(result.exploration, _title(job))
    return artifacts


def _description(job: Job, result: Result) -> str:
    """Markdown that the MLflow UI shows on the run's page."""
    lines = [_title(job)]
    if result.comparison is not None and job.baseline is not None:
        lines.append(console.comparison_words(result.comparison, job.baseline.name))
    if result.gap is not None:
        lines.append(f"Optimality gap: {console.gap_words(result.gap, job.objective.name)}.")
    plan = "\n".join(plan_rows(result.plan))
    legend = ", ".join(f"{split.value} is {split.words}" for split in legend_splits(result.plan))
    return "\n\n".join([*lines, f"```\n{plan}\n```", f"{legend}; rows are levels H1, H2, ..."])


def _now_ms() -> int:
    return int(time.time() * 1000)
