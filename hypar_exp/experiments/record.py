"""What is kept of a run, put together from its configuration and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hypar_exp.experiments.evaluation import Result, call
from hypar_exp.experiments.job import Job
from hypar_exp.experiments.run_record import (
    KNOBS_OF_THE_COMMAND,
    baseline_metrics_of,
    exploration_metrics_of,
    findings_metrics_of,
    gap_metrics_of,
    headline_first,
    metrics_of,
    not_fitting_metrics_of,
    params_of,
    run_name,
    source,
    tags_of,
    training_metrics_of,
)
from hypar_exp.networks import network_yaml
from hypar_exp.planning import COMMUNICATION, DoesNotFitError
from hypar_exp.reporting import console
from hypar_exp.reporting.breakdown_picture import breakdown_svg
from hypar_exp.reporting.exploration import exploration_artifacts
from hypar_exp.reporting.findings import findings_artifacts, findings_markdown
from hypar_exp.reporting.layer_table import layer_csv
from hypar_exp.reporting.plan_picture import plan_svg
from hypar_exp.reporting.report_rows import Rows, headline_markdown, report_rows
from hypar_exp.reporting.yaml_text import to_yaml
from hypar_exp.simulation import StepReport
from hypar_exp.simulation.timeline import Timeline
from hypar_exp.systems import Findings
from hypar_exp.tracking.secrets import plain_without_passwords
from hypar_exp.tracking.store import RunRecord, RunStatus, now_ms

MOST_TRACED = 50_000
"""Operations up to which a timeline is recorded as trace events, some 300 bytes each."""


@dataclass(frozen=True)
class Origin:
    """What a run is part of."""

    experiment: str | None = None
    """The preset, of `conf/experiment`."""
    parent_id: str | None = None
    """The run of the sweep."""


def record_of(
    values: Mapping[str, Any],
    overrides: Sequence[str],
    started_ms: int,
    origin: Origin,
    job: Job | None,
    result: Result | Findings | None = None,
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
    values = {**values, "tracking": plain_without_passwords(values["tracking"])}
    artifacts = {
        "config.yaml": "".join(
            call(to_yaml, key, value) for key, value in values.items() if key not in KNOBS_OF_THE_COMMAND
        )
    }
    tags = tags_of(values, origin.experiment)
    metrics = []
    description = None
    if isinstance(error, DoesNotFitError):
        tags["outcome"] = "does not fit"
        description = str(error)
        metrics = not_fitting_metrics_of(error)
    elif error is not None:
        tags["error"] = f"{type(error).__name__}: {error}"
    if isinstance(result, Findings):
        metrics = findings_metrics_of(result)
        artifacts |= findings_artifacts(result)
        if result.timeline is not None and _has_pictures(job, origin):
            artifacts |= _timeline_artifacts(result.timeline, result.title)
        description = findings_markdown(result)
    elif job is not None and result is not None:
        tags["hops"] = " ".join(f"{count:.6g}" for count in dict.fromkeys(hops_of(job))) or "none"
        metrics = metrics_of(result.report)
        if result.baseline is not None and result.comparison is not None:
            metrics += baseline_metrics_of(result.comparison, result.baseline)
        if job.convergence is not None:
            metrics += training_metrics_of(job.convergence, result.report, job.batch_size)
        if result.gap is not None and result.optimum is not None:
            metrics += gap_metrics_of(result.gap, result.optimum)
        if result.exploration is not None:
            metrics += exploration_metrics_of(result.exploration)
        artifacts |= _artifacts(job, result, origin)
        if "layers" not in values["network"]:  # they are in a file that may change or go
            artifacts["network.yaml"] = call(network_yaml, job.network)
        description = _description(job, result)
    return RunRecord(
        name=" ".join(overrides)[:250] if job is None else run_name(values, overrides),
        status=RunStatus.FINISHED if error is None or isinstance(error, DoesNotFitError) else RunStatus.of(error),
        start_time_ms=started_ms,
        end_time_ms=now_ms(),
        params=params_of(values),
        tags=tags,
        metrics=headline_first(metrics),
        artifacts=artifacts,
        description=description,
        parent_id=origin.parent_id,
        **source(),
    )


def resolved(config: DictConfig) -> Mapping[str, Any]:
    """A configuration as plain data; as it is written where it cannot be resolved, which is an error told elsewhere."""
    try:
        return cast(Mapping[str, Any], OmegaConf.to_container(config, resolve=True))
    except OmegaConfBaseException:
        return cast(Mapping[str, Any], OmegaConf.to_container(config, resolve=False))


def _artifacts(job: Job, result: Result, origin: Origin) -> dict[str, str]:
    names = job.network.layer_names
    artifacts = {
        "plan.csv": result.plan.csv(names),
        "plan.svg": plan_svg(result.plan, names, title_of(job)),
        "layers.csv": layer_csv(job.network, result.report),
    }
    if job.page:
        from hypar_exp.experiments.page import page_of

        artifacts["page.html"] = page_of(job, result, title_of(job), numbers_of(job, result))
    if result.gap is not None:
        artifacts["optimal_plan.csv"] = result.gap.optimal.csv(names)
    if result.exploration is not None:
        artifacts |= exploration_artifacts(result.exploration, title_of(job))
    if _has_pictures(job, origin):
        artifacts["breakdown.svg"] = breakdown_svg(result.report, names, title_of(job))
        if result.report.pipeline is not None:
            artifacts |= _timeline_artifacts(result.report.pipeline.timeline, title_of(job))
    return artifacts


def _has_pictures(job: Job | None, origin: Origin) -> bool:
    """Whether a run keeps what is looked at one by one: sweeps have thousands of runs, and pictures of their own."""
    return origin.parent_id is None or (job is not None and job.page)


def _timeline_artifacts(step: Timeline, title: str) -> dict[str, str]:
    from hypar_exp.reporting.timeline_picture import timeline_svg
    from hypar_exp.reporting.timeline_trace import timeline_json

    artifacts = {"timeline.svg": timeline_svg(step, title)}
    if len(step.graph) <= MOST_TRACED:
        artifacts["timeline.json"] = timeline_json(step)
    return artifacts


def _description(job: Job, result: Result) -> str:
    """Markdown that the MLflow UI shows on the run's page."""
    first = title_of(job)
    if result.comparison is not None and job.baseline is not None:
        first += f". {console.comparison_words(result.comparison, job.baseline.name)}"
    lines = [first, headline_markdown(numbers_of(job, result))]
    if result.gap is not None:
        lines.append(f"Optimality gap: {console.gap_words(result.gap, job.objective.name)}.")
    plan = "\n".join(result.plan.rows())
    legend = ", ".join(f"{split.value} is {split.words}" for split in result.plan.legend())
    return "\n\n".join([*lines, f"```\n{plan}\n```", f"{legend}; rows are levels H1, H2, ..."])


def against(job: Job, result: Result) -> tuple[str, StepReport] | None:
    """The name and the numbers of what a run is compared with; None where it is with nothing."""
    return None if result.baseline is None or job.baseline is None else (job.baseline.name, result.baseline)


def numbers_of(job: Job, result: Result) -> Rows:
    """A run's numbers beside the baseline's, as people read them."""
    return report_rows(step_of(job), job.planned_by, result.report, against(job, result))


def title_of(job: Job) -> str:
    """What a run plans, in a line."""
    planned_for = "" if job.objective.name == COMMUNICATION else f" for {job.objective.name}"
    return (
        f"{job.network.name} by {job.planned_by}{planned_for}: {len(job.network.layers)} layers, "
        f"{2**job.array.levels} accelerators ({_way_words(job)}), batch {job.batch_size}"
        f"{', inference' if job.accounting.forward_only else ''}"
    )


def _way_words(job: Job) -> str:
    """What an exchanged byte crosses: the topology, links that are not the paper's, and hops where they are several."""
    words = [job.array.name]
    if job.interconnect.name != "shared":
        words.append(f"{job.interconnect.name} links")
    hops = hops_of(job)
    if any(count != 1 for count in hops):
        least, most = f"{min(hops):.3g}", f"{max(hops):.3g}"
        words.append(f"{most} hops" if least == most else f"{least} to {most} hops")
    return ", ".join(words)


def hops_of(job: Job) -> list[float]:
    """By hierarchy level, the links that a byte crosses: the topology's hop factor, or the routes' own."""
    rates = np.full(job.array.levels, job.hardware.link_bandwidth_bits_per_s, dtype=np.float64)
    hops: list[float] = job.interconnect.links(job.array, rates).hops.tolist()
    return hops


def step_of(job: Job) -> str:
    """What a run simulates, as a person calls it."""
    return "one inference step" if job.accounting.forward_only else "one training step"
