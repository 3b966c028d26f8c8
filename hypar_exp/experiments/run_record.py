"""What is kept of a run: the configuration as params, every number as a metric, and tags to find it by."""

from __future__ import annotations

import getpass
import hashlib
import json
import math
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import hypar_exp
from hypar_exp.errors import UserError
from hypar_exp.experiments.identity import dependencies
from hypar_exp.experiments.targets import ANY, require_trusted, target_of
from hypar_exp.planning import DoesNotFitError, Exploration, OptimalityGap
from hypar_exp.simulation import Comparison, PipelineReport, StepReport
from hypar_exp.systems import Findings, Step
from hypar_exp.systems.convergence import Convergence
from hypar_exp.tracking.process import PROCESS_TAG, this_process
from hypar_exp.tracking.store import Metric

KNOBS_OF_THE_COMMAND = ("resume", "dry_run")
NOT_OF_THE_RUN = (*KNOBS_OF_THE_COMMAND, "page", "trust")
"""Keys that say which runs to make and not what a run is: they are no params and make no other configuration."""
VERSION_TAG = "hypar_exp.version"
WORKLOAD = "workload"
TOLD = (
    *("network=", "strategy=", "array=", "array.levels=", "batch_size=", "baseline=", "tracking", "hydra"),
    *("experiment=", "workload=", "case=", *(f"{knob}=" for knob in NOT_OF_THE_RUN)),
)
"""Overrides that a run's name leaves out: other parts of it, or tags, say the same."""
HEADLINES = {"Workload": WORKLOAD, "Network": "network", "Strategy": "strategy"}
"""Params that say once more what a run is: the comparison page of the MLflow UI begins with the first three params that
differ, by name with capitals first, and those would be layers."""
DEEPEST_PARAM = 3
"""Dotted parts of a param's key; what lies deeper is one value, so that a layer is one param and not five."""
HEADLINE_METRICS = (
    *("step_time_s", "speedup", "step_energy_j", "energy_efficiency", "communication_bytes"),
    *("memory_per_accelerator_bytes", "samples_per_s", "optimality_gap"),
)
"""The first metrics of a run's page in the MLflow UI, which shows them as they were recorded."""
LAYERS = ("network", "layers")
"""One param: side by side in the MLflow UI, runs differ in what people chose, not in fifty layers."""
MOST_PARAMS_OF_ONE_KEY = 40
"""A network of more layers would drown the other params; its layers are in the artifact config.yaml."""


def what_decides(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of a resolved configuration that decide what comes out: of a workload its own and those that it uses.

    A step is what a run is unless it is told otherwise: it uses all, and is not said to be one.
    """
    used = _used(config.get(WORKLOAD), config.get("trust", ANY))
    if used is None:
        unset = {WORKLOAD} if config.get("convergence") else {WORKLOAD, "convergence"}
        return {key: value for key, value in config.items() if key not in unset}
    kept = (*used, WORKLOAD, "tracking")
    return {key: value for key, value in config.items() if key in kept}


def _used(workload: Any, trust: Any) -> Sequence[str] | None:
    """The keys that a workload uses; None for all."""
    target = workload.get("_target_") if isinstance(workload, Mapping) else None
    try:
        require_trusted(workload, trust, WORKLOAD)
        made = None if target is None else target_of(str(target))
    except (ImportError, UserError):  # told where the workload is made
        return None
    uses: Sequence[str] | None = None if made is Step else getattr(made, "uses", None)
    return uses


def training_metrics_of(convergence: Convergence, report: StepReport, batch_size: int) -> list[Metric]:
    """What a training to an accuracy takes, where a step takes what `report` says."""
    steps = convergence.steps(batch_size)
    return [
        Metric("time_to_accuracy_s", steps * report.step_time_s),
        Metric("energy_to_accuracy_j", steps * report.step_energy_j),
        Metric("epochs_to_accuracy", convergence.epochs),
    ]


def findings_metrics_of(findings: Findings) -> list[Metric]:
    """The numbers of a workload, and its series whose step counts stages or epochs from 1."""
    totals = [Metric(key, float(value)) for key, value in findings.metrics.items()]
    return totals + [
        Metric(key, float(value), step)
        for key, values in findings.series.items()
        for step, value in enumerate(values, 1)
    ]


def params_of(config: Mapping[str, Any]) -> dict[str, str]:
    """The resolved configuration as params with dotted keys; `_target_` is left to the artifact."""
    config = what_decides(config)
    params = {headline: _name(config, group) for headline, group in HEADLINES.items() if group in config}
    _flatten({key: value for key, value in config.items() if key not in NOT_OF_THE_RUN}, (), params)
    return params


def metrics_of(report: StepReport) -> list[Metric]:
    """Every number of a report; by level and by layer as series whose step counts levels or layers from 1."""
    totals = {
        "step_time_s": report.step_time_s,
        "compute_time_s": report.compute_time_s,
        "communication_time_s": report.communication_time_s,
        "samples_per_s": report.samples_per_s,
        "communication_bytes": report.communication_bytes,
        "step_energy_j": report.step_energy_j,
        **{f"{part}_energy_j": energy for part, energy in report.energy.by_part_j.items()},
        "memory_per_accelerator_bytes": report.memory_per_accelerator_bytes,
        "weights_memory_bytes": report.memory.weights_bytes,
        "gradients_memory_bytes": report.memory.gradients_bytes,
        "activations_memory_bytes": report.memory.activations_bytes,
        "errors_memory_bytes": report.memory.errors_bytes,
        "fits_in_memory": float(report.fits_in_memory),
        "accelerators": float(report.accelerators),
        "dram_bound_layers": float(report.dram_bound_layers.sum()),
    }
    if report.memory.optimizer_bytes:
        totals["optimizer_memory_bytes"] = report.memory.optimizer_bytes
    if report.pipeline is not None:
        totals |= _pipeline_totals(report.pipeline)
    series = {
        "level/communication_bytes": report.communication_bytes_by_level,
        "level/communication_time_s": report.communication_time_s_by_level,
        "layer/compute_time_s": report.compute_time_s_by_layer,
        "layer/communication_bytes": report.communication_bytes_by_layer,
        "layer/energy_j": report.energy.by_layer_j,
    }
    if report.pipeline is not None:
        series |= {
            "stage/busy_s": report.pipeline.timeline.busy_s,
            "stage/peak_memory_bytes": report.pipeline.memory_by_device_bytes,
            "stage/activations_alive": report.pipeline.timeline.activations_alive(),
        }
    return [Metric(key, float(value)) for key, value in totals.items()] + [
        Metric(key, float(value), step) for key, values in series.items() for step, value in enumerate(values, 1)
    ]


def _pipeline_totals(pipeline: PipelineReport) -> dict[str, float]:
    """What a timeline adds to a report's numbers."""
    exposed_s = sum(seconds for part, seconds in pipeline.critical_s.items() if part not in ("compute", "idle"))
    return {
        "bubble_fraction": pipeline.timeline.bubble_fraction,
        "pipeline_stages": float(len(pipeline.stages)),
        "micro_batches": float(pipeline.micro_batches),
        "exposed_communication_s": exposed_s,
        "hidden_communication_s": max(pipeline.exchanged_s - exposed_s, 0.0),
        **{f"critical/{part}_s": seconds for part, seconds in pipeline.critical_s.items()},
    }


def headline_first(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """The metrics that people look for, then the others in their order."""
    places = {key: place for place, key in enumerate(HEADLINE_METRICS)}
    return tuple(sorted(metrics, key=lambda metric: places.get(metric.key, len(places))))


def baseline_metrics_of(comparison: Comparison, baseline: StepReport) -> list[Metric]:
    """How a run compares with its baseline, and the baseline's own totals."""
    return [
        Metric("speedup", comparison.speedup),
        Metric("energy_efficiency", comparison.energy_efficiency),
        Metric("baseline/step_time_s", baseline.step_time_s),
        Metric("baseline/communication_bytes", baseline.communication_bytes),
        Metric("baseline/step_energy_j", baseline.step_energy_j),
        Metric("baseline/memory_per_accelerator_bytes", baseline.memory_per_accelerator_bytes),
    ]


def not_fitting_metrics_of(outcome: DoesNotFitError) -> list[Metric]:
    """What is known of a run that has no plan: as of any other that its plan does not fit, and what it needs."""
    return [
        Metric("fits_in_memory", 0.0),
        Metric("memory_per_accelerator_bytes", outcome.needed_bytes),
        Metric("memory_capacity_bytes", outcome.capacity_bytes),
    ]


def gap_metrics_of(gap: OptimalityGap, optimum: StepReport) -> list[Metric]:
    """How far a run's plan is from the best one (not where the best costs nothing), and the best one's own totals."""
    excess = [Metric("optimality_gap", gap.excess)] if math.isfinite(gap.excess) else []
    return [
        *excess,
        Metric("optimal/differing_choices", float(gap.differing)),
        Metric("optimal/step_time_s", optimum.step_time_s),
        Metric("optimal/communication_bytes", optimum.communication_bytes),
        Metric("optimal/step_energy_j", optimum.step_energy_j),
        Metric("optimal/memory_per_accelerator_bytes", optimum.memory_per_accelerator_bytes),
    ]


def exploration_metrics_of(exploration: Exploration) -> list[Metric]:
    """How the explored plans are distributed, and how many of them are faster than each of the known strategies."""
    totals = {
        "space/plans": float(exploration.space),
        "space/costed_plans": float(exploration.costed),
        "space/best_performance": float(exploration.best.performance[0]),
        "space/median_performance": exploration.quantile(0.5),
    }
    for at, name in enumerate(exploration.names):
        totals[f"space/{name}_performance"] = float(exploration.named.performance[at])
        totals[f"space/{name}_share_faster"] = float(exploration.faster_than_named[at] / exploration.costed)
    return [Metric(key, value) for key, value in totals.items()]


def tags_of(config: Mapping[str, Any], experiment: str | None) -> dict[str, str]:
    """Tags to find a run by, and where it came from: its preset."""
    decisive = what_decides(config)
    names = {"workload": WORKLOAD, "network": "network", "strategy": "strategy", "topology": "array"}
    tags = {tag: _name(decisive, group) for tag, group in names.items() if group in decisive}
    tags |= {"config_hash": config_hash(config), **source_tags()}
    if experiment is not None:
        tags["experiment"] = experiment
    return tags


def source_tags() -> dict[str, str]:
    """Tags that say what made a run, and which process, so that a run which it left open can be told."""
    tags = {VERSION_TAG: hypar_exp.__version__, PROCESS_TAG: this_process()}
    commit = git_commit()
    return tags | ({"git_commit": commit} if commit else {})


class Source(TypedDict):
    """The fields of a `RunRecord` that say who and what made it."""

    user: str
    source: str
    commit: str | None


def source() -> Source:
    """Who and what makes the runs of this process."""
    return {"user": _user(), "source": "hypar_exp", "commit": git_commit()}


def run_name(config: Mapping[str, Any], overrides: Sequence[str]) -> str:
    """A name to read in a list of runs: what the run is, then what else the user set."""
    decisive = what_decides(config)
    parts = [_name(decisive, group) for group in (WORKLOAD, "network", "strategy") if group in decisive]
    if "array" in decisive:
        parts.append(f"{config['array']['name']}-{2 ** config['array']['levels']}")
    if "batch_size" in decisive:
        parts.append(f"b{config['batch_size']}")
    for override in overrides:
        key, equals, value = override.lstrip("+").partition("=")
        if not f"{key}{equals}".startswith(TOLD):
            parts.append(f"{key.rpartition('.')[2]}{equals}{value}")
    return " ".join(parts)[:250]


def config_hash(config: Mapping[str, Any]) -> str:
    """The same for the same experiment, wherever it is recorded.

    It is made of the resolved configuration without `tracking`, and of all that it refers to: files, strategies by
    name, and the code. Under the same names there may be others next time.
    """
    decisive = what_decides(config)
    experiment = {key: value for key, value in decisive.items() if key not in ("tracking", *NOT_OF_THE_RUN)}
    experiment["refers_to"] = dependencies(experiment)
    return hashlib.sha256(json.dumps(experiment, sort_keys=True, default=str).encode()).hexdigest()[:16]


@cache
def git_commit() -> str | None:
    """The commit of the checkout that this package runs from; None in an installed copy."""
    root = Path(hypar_exp.__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def _flatten(node: Any, path: tuple[str, ...], params: dict[str, str]) -> None:
    if isinstance(node, dict) and len(node) > MOST_PARAMS_OF_ONE_KEY:
        params[".".join(path)] = f"{len(node)} entries, in config.yaml"
    elif isinstance(node, dict) and node and len(path) < DEEPEST_PARAM and path != LAYERS:
        for key, value in node.items():
            if key != "_target_":
                _flatten(value, (*path, str(key)), params)
    else:
        params[".".join(path)] = _flow(node)


def _flow(value: Any) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return str(value)


def _name(config: Mapping[str, Any], group: str) -> str:
    node = config[group]
    return str(node.get("name", "") if isinstance(node, dict) else node)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
