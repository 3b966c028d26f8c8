"""A run's page: put together from its job and its result."""

from __future__ import annotations

import numpy as np

from hypar_exp.experiments.evaluation import Result, cost_model
from hypar_exp.experiments.job import Job
from hypar_exp.planning import HyPar, Plan, PlanningProblem, Split
from hypar_exp.reporting.breakdown_picture import breakdown_svg
from hypar_exp.reporting.console import comparison_words
from hypar_exp.reporting.page.costs import page_costs
from hypar_exp.reporting.page.run_page import run_page
from hypar_exp.reporting.page.timeline_page import timeline_page
from hypar_exp.reporting.plan_picture import plan_svg
from hypar_exp.reporting.report_rows import Rows
from hypar_exp.reporting.timeline_chart import timeline_words
from hypar_exp.reporting.timeline_picture import timeline_svg


def page_of(job: Job, result: Result, title: str, rows: Rows) -> str:
    """The page, to compare with HyPar's plan and with data parallelism; of a step with a timeline, with that.

    Args:
        job: of the run.
        result: of the run.
        title: what was planned.
        rows: the step's numbers.
    """
    words = []
    if result.comparison is not None and job.baseline is not None:
        words.append(f"{job.planned_by} has {comparison_words(result.comparison, job.baseline.name)}.")
    pipeline, names = result.report.pipeline, job.network.layer_names
    if pipeline is not None:
        return timeline_page(
            title,
            [*words, *(f"{line}." for line in timeline_words(pipeline.timeline))],
            rows,
            plan_svg=plan_svg(result.plan, names, "Plan"),
            timeline_svg=timeline_svg(pipeline.timeline, "Timeline"),
            breakdown_svg=breakdown_svg(result.report, names, "By layer"),
        )
    model = cost_model(job).charges.communication
    return run_page(
        title,
        words,
        job.strategy.name,
        job.network.layer_names,
        model.splits,
        result.plan,
        _references(job),
        page_costs(cost_model(job)),
    )


def _references(job: Job) -> dict[str, Plan]:
    model = cost_model(job).charges.communication
    problem = PlanningProblem(job.network, job.batch_size, job.array.levels, model, kinds=cost_model(job).groups)
    hypar = HyPar(types=[split.label for split in model.splits]).plan(problem)
    plans = {"hypar": hypar}
    if Split.DP in model.splits:
        plans["dp"] = Plan(np.full_like(hypar.choices, Split.DP))
    return {name: plan for name, plan in plans.items() if name != job.strategy.name}
