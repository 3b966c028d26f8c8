"""What a job comes to: plan with the strategy and its baseline, simulate both, see how far from the best that is."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from hypar_exp.errors import UserError
from hypar_exp.experiments.job import Job
from hypar_exp.planning import (
    DoesNotFitError,
    Exploration,
    OptimalityGap,
    Plan,
    Planned,
    PlanningProblem,
    Progress,
    Split,
    Strategy,
    layers_in_fractions_of_channels,
    no_progress,
    optimality_gap,
    planned,
)
from hypar_exp.simulation import (
    Communication,
    Comparison,
    CostModel,
    Objective,
    PlanCosts,
    StepReport,
    memory_limit,
    step_report,
)
from hypar_exp.simulation.halving import NoPipeline
from hypar_exp.simulation.operations import Schedule
from hypar_exp.systems import Findings, Step
from hypar_exp.units import quantity

Value = TypeVar("Value")

MOST_NAMED = 3
"""More layers than this are counted in a sentence, not named."""
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
    notes: tuple[str, ...] = ()
    """What the user should know and need not change."""

    @property
    def comparison(self) -> Comparison | None:
        return None if self.baseline is None else Comparison.of(self.report, self.baseline)


def call(function: Callable[..., Value], *arguments: Any) -> Value:
    """Call a function; a sweep puts in its place what remembers the results."""
    return function(*arguments)


def cost_model(job: Job, call: Callable[..., Any] = call) -> CostModel:
    """What a step of a job costs."""
    arguments = job.network, job.array, job.hardware, job.accounting, job.batch_size, job.interconnect
    return cast(CostModel, call(CostModel, *arguments, job.memory_model))


def evaluated(job: Job, call: Callable[..., Any] = call, progress: Progress = no_progress) -> Result | Findings:
    """What a job comes to, whatever its workload; see `evaluate` for the arguments."""
    if isinstance(job.workload, Step):
        return evaluate(job, call, progress)
    return job.workload.run(replace(job.setting, progress=progress))


def evaluate(job: Job, call: Callable[..., Any] = call, progress: Progress = no_progress) -> Result:
    """Plan with the strategy and its baseline, and simulate both.

    Args:
        job: what to plan and simulate.
        call: calls the functions that depend on nothing but their arguments.
        progress: see `PlanningProblem`.
    """
    model = cost_model(job, call)
    notes = list(job.notes)

    def found_by(strategy: Strategy, problem: PlanningProblem) -> Planned:
        found, warned = call(_plan, strategy, problem)
        notes.extend(warned)
        return cast(Planned, found)

    def problem_for(stage: CostModel, objective: Objective, fits: bool) -> PlanningProblem:
        return cast(PlanningProblem, call(_problem, stage, objective, fits, progress))

    def simulated(plan: Plan) -> StepReport:
        return cast(StepReport, call(_step, model, plan, job.schedule, job.overlap_gradients))

    found: list[Planned] = []

    # what a stage holds depends on the micro-batches that are alive in it, which only the whole step knows
    fits_alone = job.must_fit and isinstance(job.pipeline, NoPipeline)

    def plan_stage(stage: CostModel) -> Plan:
        found.append(found_by(job.strategy, problem_for(stage, job.objective, fits_alone)))
        return found[-1].plan

    def step_time_s(plan: Plan) -> float:
        report = simulated(plan)
        return math.inf if job.must_fit and not report.fits_in_memory else report.step_time_s

    plan = job.pipeline.plan(model, plan_stage, step_time_s)
    exploration = found[0].exploration if len(found) == 1 else None
    if job.gap:
        _require_without_stages("gap", plan)
    if job.accounting.halves_contested_layers:
        _require_the_papers_step(job, plan)
    report = simulated(plan)
    notes += _notes_of_shares(job, plan, call)
    if job.must_fit and not report.fits_in_memory:
        raise _not_fitting(job, report)
    baseline = None
    if job.baseline is not None:
        baseline = simulated(found_by(job.baseline, problem_for(model, LEAST_COMMUNICATION, False)).plan)
    if not job.gap:
        return Result(plan, report, baseline, exploration, None, None, tuple(notes))
    problem = problem_for(model, job.objective, job.must_fit)
    gap, warned = call(_gap, job.strategy, problem, plan)
    optimum = simulated(gap.optimal)
    return Result(plan, report, baseline, exploration, gap, optimum, (*notes, *warned))


def _require_the_papers_step(job: Job, plan: Plan) -> None:
    """Refuse what does not know an accounting that charges a layer by what the planner would choose.

    Raises:
        UserError: a page, a gap, a pipeline or an overlap.
    """
    others = {
        "page=true": job.page,
        "gap=true": job.gap,
        f"pipeline={job.pipeline.name}": _is_pipelined(plan),
        "overlap=gradients": job.overlap_gradients,
    }
    for knob, is_on in others.items():
        if is_on:
            raise UserError(
                f"accounting={job.accounting.name} charges a layer by what the planner would choose, which {knob} does "
                "not know; leave it out or choose accounting=as_evaluated"
            )


def _is_pipelined(plan: Plan) -> bool:
    """Whether a step under a plan is more than the sum of its parts."""
    return plan.has_stages or plan.micro_batches > 1 or plan.recompute != "none"


def _step(model: CostModel, plan: Plan, schedule: Schedule, overlap_gradients: bool) -> StepReport:
    """One step under a plan: the sum of its parts, or a timeline where something goes on at the same time."""
    if _is_pipelined(plan):
        from hypar_exp.simulation.pipelined import pipelined_report

        return pipelined_report(model, plan, schedule, overlap_gradients=overlap_gradients)
    if overlap_gradients:
        from hypar_exp.simulation.overlapped import overlapped_report

        return overlapped_report(model, plan)
    return step_report(model, plan)


def _require_without_stages(knob: str, plan: Plan) -> None:
    """Raises UserError where a plan has stages and a knob that is on looks at plans without."""
    if plan.has_stages:
        raise UserError(f"{knob}=true looks at plans without stages; leave it out or choose pipeline=none")


def _notes_of_shares(job: Job, plan: Plan, call: Callable[..., Any]) -> list[str]:
    """What is cut below a whole one."""
    notes = []
    split = np.where(plan.choices > max(Split), Split.DP, plan.choices)
    halved = call(layers_in_fractions_of_channels, job.network, split)
    if halved:
        notes.append(_fractions_note(halved))
    if plan.micro_batches > 1 and job.batch_size % plan.micro_batches:
        notes.append(
            f"a batch of {job.batch_size} in {plan.micro_batches} micro-batches: they are fractions of a sample"
        )
    return notes


def _problem(model: CostModel, objective: Objective, fits: bool, progress: Progress) -> PlanningProblem:
    """What is planned; `fits`: whether a plan that does not fit in memory is none."""
    return PlanningProblem(
        model.network,
        model.batch_size,
        model.array.levels,
        model.charges.communication,
        costs=objective.costs(model),
        simulator=PlanCosts(model),
        memory=memory_limit(model) if fits else None,
        progress=progress,
        kinds=model.groups,
    )


def _fractions_note(layers: list[str]) -> str:
    named = ", ".join(layers[:MOST_NAMED]) + (
        f" and {len(layers) - MOST_NAMED} more" if len(layers) > MOST_NAMED else ""
    )
    return f"the plan halves the channels of {named} below whole numbers: shares are fractions of a channel"


def _not_fitting(job: Job, report: StepReport) -> DoesNotFitError:
    needed, capacity = report.memory_per_accelerator_bytes, job.hardware.dram_capacity_bytes
    if report.pipeline is not None and len(report.pipeline.stages) > 1:
        stage = int(np.argmax(report.pipeline.memory_by_device_bytes)) + 1
        return DoesNotFitError(
            f"the plan does not fit: an accelerator of stage {stage} of {len(report.pipeline.stages)} needs "
            f"{quantity(needed, 'B')} and has {quantity(capacity, 'B')}; more pipeline.micro_batches, another "
            "schedule or pipeline.recompute=full leave it less to keep",
            needed,
            capacity,
        )
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
