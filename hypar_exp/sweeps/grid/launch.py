"""A grid's jobs, checked and handed to one of Hydra's launchers, and their outcomes taken as they arrive."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from hypar_exp.experiments.record import Origin
from hypar_exp.sweeps import PARENT
from hypar_exp.sweeps.axes import Grid
from hypar_exp.sweeps.composition import Composer
from hypar_exp.sweeps.grid.conduct import conduct
from hypar_exp.sweeps.job import end_as_killed
from hypar_exp.sweeps.outcome import Inbox, Outcome, forget_lost_store, word_of_lost_store
from hypar_exp.sweeps.stopping import stop_jobs
from hypar_exp.sweeps.sweep import Sweep
from hypar_exp.tracking.store import StoreError

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader
    from hydra.core.utils import JobReturn
    from hydra.plugins.launcher import Launcher

BETWEEN_LOOKS_S = 0.25


def launch_grid(grid: Grid, config: DictConfig, loader: ConfigLoader, launcher: Launcher) -> None:
    """Run a grid's jobs with a launcher.

    Args:
        grid: the axes.
        config: as Hydra composed it for the sweep itself; the launcher composes each job from it.
        loader: composes a job.
        launcher: set up with `config`.

    Raises:
        HydraException: a job that cannot be composed; nothing was run then.
        UserError: the sweep cannot be recorded; nothing was run then.
        SweepError: some of the jobs failed.
    """
    sweep = Sweep(grid, config)

    def launch(launched: Sequence[int]) -> None:
        # it reaches every job, wherever that runs, because every launcher composes its jobs from these overrides
        config.hydra.overrides.hydra.append(f"+hydra.job.env_set.{PARENT}='{sweep.parent_id or ''}'")
        one_by_one = config.hydra.runtime.choices["hydra/launcher"] == "basic"
        together = 1 if one_by_one else (os.cpu_count() or 1) if sweep.fail_fast else len(launched)
        _launch(sweep, launched, launcher, together)

    conduct(sweep, config, Composer(loader, config, [axis.key for axis in grid.swept]), launch)


def _launch(sweep: Sweep, launched: Sequence[int], launcher: Launcher, together: int) -> None:
    """Launch the jobs at some places, so many together that a sweep which is to stop can.

    Raises:
        StoreError: a job could not be recorded as the store cannot be written.
    """
    inbox = Inbox(sweep.folder)
    forget_lost_store(sweep.folder)
    logging.getLogger("submitit").setLevel(logging.ERROR)  # it warns at every look where SLURM keeps no accounts

    def take_new() -> None:
        for outcome in inbox.new():
            sweep.note(launched[outcome.number], outcome)
        sweep.show_progress()

    try:
        returns: list[JobReturn] = []
        with _repeated(take_new):
            for first in range(0, len(launched), together):
                group = launched[first : first + together]
                returns += launcher.launch([sweep.jobs[at] for at in group], initial_job_idx=first)
                take_new()
                word = word_of_lost_store(sweep.folder)
                if word is not None:
                    raise StoreError(word)
                if sweep.stops_here:
                    break
    except Exception:
        take_new()
        raise
    except BaseException:
        stop_jobs([number for number, at in enumerate(launched) if at not in sweep.outcomes], sweep.folder)
        take_new()
        origin = Origin(sweep.preset, sweep.parent_id)
        recorded = sweep.recorded()  # a process may have been killed after it recorded its run and before it said so
        for number, at in enumerate(launched):
            if at not in sweep.outcomes:
                killed = end_as_killed(sweep.folder / str(number), number, origin, sweep.recorder, recorded)
                if killed is not None:
                    sweep.note(at, killed)
        raise
    take_new()
    for number, returned in enumerate(returns):  # what no shared folder brought, the launcher did
        if launched[number] not in sweep.outcomes:
            outcome = returned.return_value
            assert isinstance(outcome, Outcome)
            sweep.note(launched[number], outcome)


@contextmanager
def _repeated(action: Callable[[], None]) -> Iterator[None]:
    """Do something again and again while the caller waits for something else."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(BETWEEN_LOOKS_S):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
