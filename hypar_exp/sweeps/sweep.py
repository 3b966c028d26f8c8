"""A sweep from its opening to its end: the parent run, what became of every job, and what is left when it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from omegaconf import DictConfig

from hypar_exp.errors import SweepError, UserError
from hypar_exp.experiments.objects import build_object
from hypar_exp.experiments.recorded import show_recorded
from hypar_exp.experiments.run import require_no_chdir
from hypar_exp.experiments.run_record import VERSION_TAG, source_tags
from hypar_exp.reporting.console import console, show_notes
from hypar_exp.reporting.progress import ProgressLine
from hypar_exp.reporting.sweep_table import show_runs
from hypar_exp.sweeps import parent
from hypar_exp.sweeps.axes import Grid, values_of
from hypar_exp.sweeps.outcome import Outcome
from hypar_exp.sweeps.parent import SweepResults, View
from hypar_exp.sweeps.stopping import wait_for_orphans
from hypar_exp.tracking.repair import repair
from hypar_exp.tracking.store import RecordedRun, Recorder, RunRecord, RunStatus, Store, StoredRun, StoreError, store_of

SERIES = ("level/", "layer/", "stage/", "block/", "epoch/")
"""How the keys of series begin, which are no numbers of a run as a whole."""
MOST_FAILURES = 20
"""More failures than this are left to the file."""


class Sweep:
    """The jobs of a grid and their outcomes, under a parent run."""

    def __init__(self, grid: Grid, config: DictConfig, view: View | None = None) -> None:
        """Plan a sweep.

        Args:
            grid: the axes.
            config: as Hydra composed it for the sweep itself, with its `hydra` node.
            view: how it is shown at its end; None as grids are.

        Raises:
            UserError: the sweep could not be recorded.
        """
        require_no_chdir(config.hydra)
        self.grid = grid
        self._view = view or View([str(metric) for metric in config.hydra.sweeper.get("chart") or ()])
        self.jobs = grid.jobs()
        self.fail_fast = bool(config.hydra.sweeper.get("fail_fast", False))
        """Whether the sweep stops at the first run that fails."""
        self.folder = Path(str(config.hydra.sweep.dir)).absolute()
        self.preset: str | None = config.hydra.runtime.choices.get("experiment")
        self.name = parent.title_of(grid, self.preset)
        self.outcomes: dict[int, Outcome] = {}
        """By the job's place in `jobs`."""
        self.recorder = cast(Recorder, build_object(config, "tracking"))
        self.recorder.check()
        self._parent: RecordedRun | None = None
        self._to_continue: StoredRun | None = None
        self._to_record_at_end: RunRecord | None = None
        self._progress = ProgressLine(len(self.jobs))
        self._done = self._failed = 0

    @property
    def left(self) -> list[int]:
        """The places of the jobs that have no outcome."""
        return [at for at in range(len(self.jobs)) if at not in self.outcomes]

    @property
    def stops_here(self) -> bool:
        """Whether no more jobs are to be run."""
        return self.fail_fast and self._failed > 0

    @property
    def parent_id(self) -> str | None:
        """The parent's run id once it is open; None where nothing is recorded."""
        return None if self._parent is None else self._parent.run_id

    def adopt_finished(self, hashes: Sequence[str]) -> None:
        """Take the outcomes of the jobs that have a FINISHED run of this version; `hashes` are the jobs' own.

        A preset's sweep takes its own preset's runs only, so that the runs of each are together. What dead processes
        left RUNNING is closed first; what a launcher still runs for a sweep of this grid that was killed is waited for.
        The last parent of this very grid is continued if it ended early.
        """
        store = store_of(self.recorder)
        repair(store)
        tags = {VERSION_TAG: source_tags()[VERSION_TAG]} | ({"experiment": self.preset} if self.preset else {})
        for run in store.results().runs(**tags, **{parent.GRID_TAG: parent.grid_hash(self.grid)}):
            if run.status == RunStatus.KILLED:
                wait_for_orphans(Path(run.tags["sweep_folder"]), lambda words: show_notes([words]))
        stored = store.results().runs(**tags)
        finished = {run.tags.get("config_hash"): run for run in stored if run.status == RunStatus.FINISHED}
        for at, config_hash in enumerate(hashes):
            if config_hash in finished:
                self.note(at, _outcome_of(finished[config_hash], at))
        parents = [run for run in stored if run.tags.get(parent.GRID_TAG) == parent.grid_hash(self.grid)]
        if parents and parents[-1].status in (RunStatus.FAILED, RunStatus.KILLED):
            self._to_continue = parents[-1]

    def note(self, at: int, outcome: Outcome) -> None:
        """Take the outcome of the job at a place."""
        self.outcomes[at] = outcome
        self._done += outcome.status is RunStatus.FINISHED
        self._failed += outcome.status is RunStatus.FAILED

    def recorded(self) -> dict[str, Outcome]:
        """Configuration hash -> outcome of the runs that are recorded under the parent."""
        if self._parent is None:
            return {}
        stored = store_of(self.recorder).results().children(self._parent.run_id)
        return {run.tags["config_hash"]: _outcome_of(run, at) for at, run in enumerate(stored)}

    def show_progress(self, *, at_end: bool = False) -> None:
        """Show how far the sweep is."""
        self._progress.show(self._done, self._failed, at_end=at_end)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Open the parent run; close it, whatever happens inside, with the table, the files and the picture.

        Where no run is left to make there is no new parent.

        Raises:
            SweepError: some of the jobs failed.
            UserError: the store cannot be written any more; the parent stays open in it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        opening = parent.opening(self.grid, self.preset, str(self.folder))
        if isinstance(self.recorder, Store) and self._to_continue is not None:
            self._parent = self.recorder.amend(self._to_continue.run_id, opening)
        elif isinstance(self.recorder, Store) and self.left:
            self._parent = self.recorder.record(opening)
        elif self.left:
            self._to_record_at_end = opening  # a recorder of ended runs only
        try:
            yield
        except StoreError as error:
            self._close(RunStatus.FAILED, str(error), in_store=False)
            raise UserError(
                f"{error}; {self._done} of {len(self.jobs)} runs are recorded, and once the store can be written again "
                "the same command with resume=true makes the others"
            ) from error
        except Exception as error:
            self._close(RunStatus.FAILED, f"{type(error).__name__}: {error}")
            raise
        except BaseException:
            left = len(self.jobs) - self._done - self._failed
            with contextlib.suppress(UserError):  # an interruption ends as one, whatever the store says
                self._close(RunStatus.KILLED, f"interrupted with {left} of {len(self.jobs)} runs left")
            raise
        failure = self._failure()
        self._close(RunStatus.FAILED if failure else RunStatus.FINISHED, str(failure) if failure else None)
        if failure is not None:
            raise failure

    def _close(self, status: RunStatus, error: str | None, *, in_store: bool = True) -> None:
        keys = [axis.key for axis in self.grid.swept]
        ended = [(values_of(self.jobs[at], keys), outcome) for at, outcome in sorted(self.outcomes.items())]
        results = SweepResults(self.grid, ended)
        self.show_progress(at_end=True)
        files, troubles = self._files(results)
        closing = parent.closing(self.name, status, results, files, error)
        closing = replace(closing, metrics=(*closing.metrics, *self._view.metrics(results)))
        if not in_store:
            self._parent = None
        elif isinstance(self.recorder, Store) and self._parent is not None:
            self.recorder.amend(self._parent.run_id, closing)
        elif self._to_record_at_end is not None:
            self._parent = self.recorder.record(parent.whole(self._to_record_at_end, closing))
        show_runs(self.name, self._view.axes(results), self._view.rows(results))
        out = console()
        if status is RunStatus.KILLED:
            done, left = f"{self._done} of {len(self.jobs)} runs are done", results.left
            out.print(f"{done}, {left} are left; resume=true makes them.")
        for trouble in troubles:
            out.print(f"Note: {trouble}.")
        out.print(f"Files in {self.folder}: {', '.join(files)}")
        if self._parent is not None:
            show_recorded(self._parent)

    def _files(self, results: SweepResults) -> tuple[dict[str, str | bytes], list[str]]:
        """The table, the picture and the page as far as they can be made, and a sentence for each that cannot.

        Whatever is odd in a value or wrong with the disk, the parent is closed.
        """
        files: dict[str, str | bytes] = {}
        troubles = []
        for name, make in {**parent.tables_of(results), **self._view.pictures(results, self.name)}.items():
            try:
                content = make()
                if content is None:
                    continue
                (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
                files[name] = content
            except UserError as error:
                troubles.append(f"{name} could not be made: {error}")
            except Exception as error:
                troubles.append(f"{name} could not be made: {type(error).__name__}: {error}")
        return files, troubles

    def _failure(self) -> SweepError | None:
        failed = [(at, outcome) for at, outcome in sorted(self.outcomes.items()) if outcome.error is not None]
        if not failed:
            return None
        keys = [axis.key for axis in self.grid.swept]
        lines = [
            f"{' '.join(f'{key}={value}' for key, value in values_of(self.jobs[at], keys).items())}: {outcome.error}"
            for at, outcome in failed[:MOST_FAILURES]
        ]
        if len(failed) > MOST_FAILURES:
            lines.append(f"{len(failed) - MOST_FAILURES} more are in {self.folder / 'sweep.csv'}")
        stopped = f"; {len(self.left)} were not begun (resume=true makes them)" if self.stops_here and self.left else ""
        return SweepError(
            "\n  ".join([f"{len(failed)} of {len(self.jobs)} runs failed{stopped}", *lines]),
            by_user=all(outcome.by_user for _, outcome in failed),
            tracebacks=[outcome.traceback for _, outcome in failed if outcome.traceback],
        )


def _outcome_of(run: StoredRun, at: int) -> Outcome:
    return Outcome(
        number=at,
        name=run.name,
        status=RunStatus(run.status),
        config_hash=run.tags["config_hash"],
        params=run.params,
        metrics={key: value for key, value in run.metrics.items() if not key.startswith(SERIES)},
        run_id=run.run_id,
    )
