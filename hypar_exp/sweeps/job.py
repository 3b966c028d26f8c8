"""One run of a sweep: quiet, recorded whatever becomes of it, and its outcome left for the process that waits."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from omegaconf import DictConfig, OmegaConf

from hypar_exp.experiments.evaluation import Result, evaluated
from hypar_exp.experiments.job import Job, build_job, require_used
from hypar_exp.experiments.objects import build_object
from hypar_exp.experiments.record import Origin, record_of, resolved
from hypar_exp.experiments.user_errors import user_sentence
from hypar_exp.sweeps import PARENT
from hypar_exp.sweeps.outcome import Outcome, leave, leave_word_of_lost_store, word_of_lost_store
from hypar_exp.sweeps.stopping import mark_begun
from hypar_exp.systems import Findings
from hypar_exp.tracking.store import Recorder, RunRecord, RunStatus, StoreError, now_ms


def run_sweep_job(config: DictConfig, hydra_node: DictConfig) -> Outcome:
    """Run one configuration and record it; an error ends this run FAILED and is no error of the sweep's process.

    An interruption ends it KILLED and goes on up.

    Raises:
        StoreError: the store cannot be written, or an earlier run of the sweep saw that.

    Args:
        config: the composed configuration.
        hydra_node: Hydra's own, which says of what sweep the run is part.
    """
    overrides, number = list(hydra_node.overrides.task), int(hydra_node.job.num)
    parent_id = hydra_node.job.env_set[PARENT] or None
    origin = Origin(hydra_node.runtime.choices.get("experiment"), parent_id)
    sweep_dir = Path(hydra_node.sweep.dir)
    word = word_of_lost_store(sweep_dir)
    if word is not None:
        raise StoreError(word)
    mark_begun(number, sweep_dir)
    started_ms = now_ms()
    job: Job | None = None
    result: Result | Findings | None = None
    error: BaseException | None = None
    try:
        job = build_job(config)
        require_used(job, overrides)
        result = evaluated(job)
    except BaseException as raised:
        error = raised
    record = record_of(resolved(config), overrides, started_ms, origin, job, result, error)
    try:
        outcome = kept(record, number, error, cast(Recorder, build_object(config, "tracking")))
    except StoreError as gone:
        leave_word_of_lost_store(str(gone), sweep_dir)
        raise
    leave(outcome, sweep_dir)
    if error is not None and not isinstance(error, Exception):
        raise error
    return outcome


def end_as_killed(
    folder: Path, number: int, origin: Origin, recorder: Recorder, recorded: Mapping[str, Outcome]
) -> Outcome | None:
    """Record as KILLED a run whose process was killed before it could do so; None where the run had not begun.

    Hydra writes a run's configuration and, last of all, its overrides just before the run begins. A run that is in
    `recorded`, by its configuration's hash, has what became of it there.
    """
    written = folder / ".hydra" / "overrides.yaml"
    if not written.is_file():
        return None
    config = cast(DictConfig, OmegaConf.load(written.with_name("config.yaml")))
    overrides = [str(override) for override in OmegaConf.load(written)]
    started_ms = int(written.stat().st_mtime * 1000)
    error = KeyboardInterrupt("the sweep was interrupted")
    record = record_of(resolved(config), overrides, started_ms, origin, None, error=error)
    return recorded.get(record.tags["config_hash"]) or kept(record, number, error, recorder)


def kept(record: RunRecord, number: int, error: BaseException | None, recorder: Recorder) -> Outcome:
    """The outcome of a run after it was recorded; a run that the store refuses has failed.

    Raises:
        StoreError: the store cannot be written.
    """
    run_id = None
    status = record.status
    try:
        recorded = recorder.record(record)
        run_id = None if recorded is None else recorded.run_id
    except StoreError:
        raise
    except Exception as refused:
        status, error = RunStatus.FAILED, error or refused
    return outcome_of(record, number, error, run_id, status)


def outcome_of(
    record: RunRecord, number: int, error: BaseException | None, run_id: str | None, status: RunStatus
) -> Outcome:
    """What became of a run with the record `record`."""
    if status is RunStatus.FINISHED:
        error = None  # that no plan fits is a result
    sentence = None if error is None else user_sentence(error)
    return Outcome(
        number=number,
        name=record.name,
        status=status,
        config_hash=record.tags["config_hash"],
        params=record.params,
        metrics={metric.key: metric.value for metric in record.metrics if metric.step == 0},
        run_id=run_id,
        error=None if error is None else sentence or f"{type(error).__name__}: {error}",
        by_user=sentence is not None,
        traceback=None if error is None else "".join(traceback.format_exception(error)),
    )
