"""What tracking keeps: the record of a run, and the protocols of what takes records and what reads them back.

A `Recorder` takes ended runs; that is enough for single runs and for sweeps. A `Store` can do more: leave a run open
and amend it, and read runs back, which `resume=true`, `compare` and `reproduce` need. A `BatchRecorder` takes many at
once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from hypar_exp.errors import UserError


class RunStatus(StrEnum):
    """How a run ended, or that it has not, in MLflow's words."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    KILLED = "KILLED"

    @classmethod
    def of(cls, error: BaseException) -> RunStatus:
        """The status of a run that `error` ended: an interruption kills, anything else fails."""
        return cls.FAILED if isinstance(error, Exception) else cls.KILLED


def now_ms() -> int:
    """Milliseconds since the epoch, as MLflow keeps times."""
    return int(time.time() * 1000)


@dataclass(frozen=True)
class Metric:
    """A number, or one point of a series (`step` is a level or layer, counted from 1)."""

    key: str
    value: float
    step: int = 0


@dataclass(frozen=True)
class RunRecord:
    """All that is kept of one run."""

    name: str
    status: RunStatus
    """RUNNING leaves the run open, to be amended."""
    start_time_ms: int
    """Milliseconds since the epoch, as `end_time_ms`."""
    end_time_ms: int
    """When the run ended, or now while it is RUNNING."""
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: tuple[Metric, ...] = ()
    artifacts: Mapping[str, str | bytes] = field(default_factory=dict)
    """File name -> content."""
    description: str | None = None
    """Markdown."""
    parent_id: str | None = None
    """The run that this one is nested in: a sweep's."""
    user: str | None = None
    source: str | None = None
    """The program that made the run."""
    commit: str | None = None
    """The state of the program's code."""


@dataclass(frozen=True)
class RecordedRun:
    """Where a recorded run can be seen."""

    run_id: str
    experiment_id: str
    store: str
    """The tracking URI, or the folder."""
    ui_command: str | None
    """The command that opens the MLflow UI on the store; None where a server is up already, or none can show it."""
    url: str
    note: str | None = None
    """What the user should know of how the run was recorded."""
    runs_url: str | None = None
    """The table of all runs; None where none can show it."""


@dataclass(frozen=True)
class StoredRun:
    """One run as the store has it; `metrics` are last values, so a series shows its last step."""

    run_id: str
    experiment_id: str
    name: str
    status: str
    start_time_ms: int
    end_time_ms: int | None
    """None while it runs."""
    artifact_uri: str
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    description: str | None = None
    parent_id: str | None = None
    """The run that this one is nested in."""
    user: str | None = None


class Results(Protocol):
    """Reads what a store kept."""

    def runs(self, **tags: str) -> list[StoredRun]:
        """The runs that have all of these tags, oldest first; deleted ones left out, [] where there is no store yet.

        Raises:
            UserError: the store cannot be read.
        """
        ...

    def children(self, parent_id: str) -> list[StoredRun]:
        """The runs nested in another one, oldest first.

        Raises:
            UserError: the store cannot be read.
        """
        ...

    def search(self, where: str) -> list[StoredRun]:
        """The runs that a filter in MLflow's own grammar selects, oldest first.

        Raises:
            UserError: the filter cannot be read, or the store.
        """
        ...

    def artifact(self, run: StoredRun, name: str) -> str:
        """The text of an artifact.

        Raises:
            UserError: the run has none of that name, or it cannot be read.
        """
        ...


class Recorder(Protocol):
    """Takes ended runs; a user's own recorder needs no more than this."""

    @property
    def name(self) -> str: ...

    def check(self) -> None:
        """See, before any work and without side effects that matter, that a run could be recorded.

        Raises:
            UserError: it could not; says why.
        """
        ...

    def record(self, run: RunRecord) -> RecordedRun | None:
        """Keep a run, whole.

        Raises:
            StoreError: the store cannot be written.
            UserError: it refused the run.
        """
        ...


@runtime_checkable
class Store(Recorder, Protocol):
    """A recorder that also amends runs and reads them back."""

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """Give a recorded run the status of `run` and add its params, tags, metrics and artifacts.

        Raises:
            StoreError: the store cannot be written.
            UserError: there is no such run, or the store refused it.
        """
        ...

    def results(self) -> Results:
        """What reads the runs back."""
        ...


@runtime_checkable
class BatchRecorder(Recorder, Protocol):
    """A recorder that also takes many runs in one step."""

    def record_many(self, runs: Sequence[RunRecord]) -> list[RecordedRun]:
        """Keep runs, all of them or none, faster than one by one.

        Raises:
            StoreError: the store cannot be written.
            UserError: it refused one of them.
        """
        ...


class StoreError(UserError):
    """The store itself cannot be written: gone, full, locked or not answering; the next run would fail likewise."""


def store_of(recorder: Recorder) -> Store:
    """The recorder as one that reads runs back.

    Raises:
        UserError: it keeps none to read.
    """
    if not isinstance(recorder, Store):
        raise UserError(
            f"tracking={recorder.name} keeps no runs to read; choose tracking=sqlite, tracking=server or tracking=files"
        )
    return recorder


@dataclass(frozen=True)
class NoRecorder:
    """Keeps nothing."""

    name: str = "none"

    def check(self) -> None:
        pass

    def record(self, run: RunRecord) -> RecordedRun | None:
        return None
