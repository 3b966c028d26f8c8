"""Runs in folders of their own, as files that any program reads; MLflow is not needed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking import filters
from hypar_exp.tracking.files import run_folder
from hypar_exp.tracking.locations import local_path
from hypar_exp.tracking.run_ids import new_run_id
from hypar_exp.tracking.sentences import no_artifact, no_parent, no_such_run, user_errors
from hypar_exp.tracking.store import RecordedRun, RunRecord, StoredRun


@dataclass(frozen=True)
class FileRecorder:
    """Records every run into a folder `folder/experiment/RUN_ID`; relative paths are below the current folder."""

    name: str = "files"
    experiment: str = "hypar_exp"
    folder: str = "outputs/runs"

    def __post_init__(self) -> None:
        if not self.experiment or self.experiment.startswith(".") or set(self.experiment) & set("/\\\0"):
            raise UserError(f"tracking.experiment must be the name of a folder (got {self.experiment!r})")
        assert self._runs  # raises for an address

    @property
    def _runs(self) -> Path:
        return (
            local_path("tracking.folder", self.folder, "an MLflow server takes runs: tracking=server") / self.experiment
        )

    def check(self) -> None:
        """The folder can be written, or made.

        Raises:
            UserError: it cannot.
        """
        existing = self._runs
        while not existing.exists():
            existing = existing.parent
        if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
            raise UserError(
                f"runs cannot be recorded in {self._runs}: {existing} is no folder that can be written; "
                "set tracking.folder, or tracking=none"
            )

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run: its folder is there whole or not at all.

        Raises:
            StoreError: the folder cannot be written.
        """
        if run.parent_id is not None and not (self._runs / run.parent_id).is_dir():
            raise no_parent(run.parent_id, str(self._runs))
        folder = self._runs / new_run_id()
        with user_errors(str(self._runs)):
            run_folder.write_run(folder, run)
        return self._recorded(folder)

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """See `Store.amend`."""
        folder = self._runs / Path(run_id).name
        if not (folder / run_folder.RUN).is_file():
            raise no_such_run(run_id)
        with user_errors(str(self._runs)):
            run_folder.amend_run(folder, run)
        return self._recorded(folder)

    def results(self) -> FileResults:
        """What reads the runs back."""
        return FileResults(self._runs, self.experiment)

    def _recorded(self, folder: Path) -> RecordedRun:
        return RecordedRun(folder.name, self.experiment, store=str(self._runs), ui_command=None, url=str(folder))


@dataclass(frozen=True)
class FileResults:
    """Reads the runs whose folders are in a folder."""

    folder: Path
    experiment: str

    def runs(self, **tags: str) -> list[StoredRun]:
        """See `Results.runs`."""
        return [run for run in self._all() if tags.items() <= run.tags.items()]

    def children(self, parent_id: str) -> list[StoredRun]:
        """See `Results.children`."""
        return [run for run in self._all() if run.parent_id == parent_id]

    def search(self, where: str) -> list[StoredRun]:
        """See `Results.search`."""
        return filters.selected(self._all(), where)

    def artifact(self, run: StoredRun, name: str) -> str:
        """See `Results.artifact`."""
        try:
            return (self.folder / run.run_id / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise no_artifact(run.run_id, run.name, name, error) from None

    def _all(self) -> list[StoredRun]:
        try:
            names = [entry.name for entry in os.scandir(self.folder) if entry.is_dir() and entry.name[0] != "."]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"the runs in {self.folder} cannot be read: {error.strerror}") from None
        runs = [run_folder.read_run(self.folder / name, self.experiment) for name in names]
        return sorted(runs, key=lambda run: (run.start_time_ms, run.run_id))
