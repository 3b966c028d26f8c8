"""A grid's jobs in one process: what is equal between them is made once, and they are recorded in batches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from hypar_exp.experiments.evaluation import Result, evaluated
from hypar_exp.experiments.job import Builder, Job, build_job, require_used
from hypar_exp.experiments.record import Origin, record_of
from hypar_exp.sweeps.axes import Grid
from hypar_exp.sweeps.cache import Bounded, Memory
from hypar_exp.sweeps.composition import Composed, Composer
from hypar_exp.sweeps.grid.conduct import conduct
from hypar_exp.sweeps.job import kept, outcome_of
from hypar_exp.sweeps.parent import View
from hypar_exp.sweeps.sweep import Sweep
from hypar_exp.systems import Findings
from hypar_exp.tracking.store import BatchRecorder, RunRecord, RunStatus, StoreError, now_ms

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader

RUNS_PER_BATCH, SECONDS_PER_BATCH = 250, 1.0
"""Runs are recorded when there are so many of them, or so long after the last ones."""
MOST_OBJECTS, MOST_RESULTS = 1000, 8000
"""Objects, and plans and reports, that are kept; a result is some 20 kB."""


def run_grid(grid: Grid, config: DictConfig, loader: ConfigLoader, view: View | None = None) -> None:
    """Run a grid's jobs one after the other in this process.

    Args:
        grid: the axes.
        config: as Hydra composed it for the sweep itself.
        loader: composes a job.
        view: how it is shown at its end; None as grids are.

    Raises:
        HydraException: a job that cannot be composed; nothing was run then.
        UserError: the sweep cannot be recorded; nothing was run then.
        SweepError: some of the jobs failed.
    """
    sweep = Sweep(grid, config, view)
    composer = Composer(loader, config, [axis.key for axis in grid.swept])

    def run(left: Sequence[int]) -> None:
        with Batches(sweep) as batches:
            jobs = Jobs(sweep.parent_id)
            for number, at in enumerate(left):
                composed = composer.compose(sweep.jobs[at], number)
                record, error = jobs.run(composed, sweep.jobs[at])
                batches.add(at, number, record, error)
                if sweep.fail_fast and record.status is RunStatus.FAILED:
                    break

    conduct(sweep, config, composer, run)


class Jobs:
    """Runs jobs and remembers what they share."""

    def __init__(self, parent_id: str | None) -> None:
        self._parent_id = parent_id
        self._objects: Bounded[tuple[str, str], object] = Bounded(MOST_OBJECTS)
        self._memory = Memory(MOST_RESULTS)

    def run(self, composed: Composed, overrides: Sequence[str]) -> tuple[RunRecord, BaseException | None]:
        """The record of a job, and the error or the interruption that ended it, which its status and a tag tell too."""
        started_ms = now_ms()
        origin = Origin(composed.preset, self._parent_id)
        job: Job | None = None
        result: Result | Findings | None = None
        error: BaseException | None = None
        try:
            job = build_job(composed.plain, _SharedBuilder(composed, self._objects))
            require_used(job, overrides)
            result = evaluated(job, self._memory.call)
        except BaseException as raised:
            error = raised
        call = self._memory.call
        return record_of(composed.plain, overrides, started_ms, origin, job, result, error, call), error


class _SharedBuilder(Builder):
    """Makes the objects of a job; equal ones were made before."""

    def __init__(self, composed: Composed, objects: Bounded[tuple[str, str], object]) -> None:
        self._composed, self._objects = composed, objects

    def group(self, name: str) -> object:
        def make() -> object:
            with self._composed.config() as config:
                return Builder(config).group(name)

        return self._objects.get((name, self._composed.text(name)), make)

    def baseline(self, name: str) -> object:
        return self._objects.get(("baseline", name), lambda: super(_SharedBuilder, self).baseline(name))


Waiting = tuple[int, int, RunRecord, BaseException | None]
"""A job's place and number, its record, and what ended it."""


class Batches:
    """Records runs some at a time, and notes what became of each; the rest when it is left, whatever for."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._waiting: list[Waiting] = []
        self._recorded = time.monotonic()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *exception: object) -> None:
        self._record()

    def add(self, at: int, number: int, record: RunRecord, error: BaseException | None) -> None:
        """Take the record of the job at a place, and its error; what interrupted it goes on up."""
        self._waiting.append((at, number, record, error))
        if error is not None and not isinstance(error, Exception):
            raise error
        since = time.monotonic() - self._recorded
        if len(self._waiting) >= RUNS_PER_BATCH or since > SECONDS_PER_BATCH:
            self._record()

    def _record(self) -> None:
        """Record what waits; what cannot be recorded because the store is gone is left to be made again.

        Raises:
            StoreError: the store cannot be written.
        """
        waiting, self._waiting = self._waiting, []
        recorder = self._sweep.recorder
        if isinstance(recorder, BatchRecorder) and waiting:
            try:
                recorded = recorder.record_many([record for _, _, record, _ in waiting])
            except StoreError:
                raise
            except Exception:
                self._record_one_by_one(waiting)  # one of them was refused
            else:
                for (at, number, record, error), kept in zip(waiting, recorded, strict=True):
                    self._sweep.note(at, outcome_of(record, number, error, kept.run_id, record.status))
        else:
            self._record_one_by_one(waiting)
        self._recorded = time.monotonic()
        self._sweep.show_progress()

    def _record_one_by_one(self, waiting: Sequence[Waiting]) -> None:
        for at, number, record, error in waiting:
            self._sweep.note(at, kept(record, number, error, self._sweep.recorder))
