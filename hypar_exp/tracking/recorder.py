"""What a recorder is: it takes finished runs, whole, and says where they can be seen."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from hypar_exp.errors import UserError
from hypar_exp.planning import DoesNotFitError
from hypar_exp.tracking.results import Results


class RunStatus(StrEnum):
    """How a run ended, or that it has not, in MLflow's words."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    KILLED = "KILLED"

    @classmethod
    def of(cls, error: BaseException) -> RunStatus:
        """The status of a run that `error` ended: an interruption kills, a plan that does not fit is a result, anything
        else fails."""
        if isinstance(error, DoesNotFitError):
            return cls.FINISHED
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


@dataclass(frozen=True)
class RecordedRun:
    """Where a recorded run can be seen."""

    run_id: str
    experiment_id: str
    store: str
    """The tracking URI."""
    ui_command: str | None
    """The command that opens the MLflow UI on the store; None where a server is up already."""
    url: str
    note: str | None = None
    """What the user should know of how the run was recorded."""


class Recorder(Protocol):
    """Keeps runs; a user's own recorder needs no more than this."""

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
            UserError: the store refused it or did not answer.
        """
        ...

    def record_many(self, runs: Sequence[RunRecord]) -> list[RecordedRun]:
        """Keep runs, each whole, faster than one by one; [] where nothing is kept.

        Raises:
            UserError: the store refused one of them or did not answer.
        """
        ...

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun | None:
        """Give a recorded run the status of `run` and add its params, tags, metrics and artifacts.

        Raises:
            UserError: there is no such run, or the store refused it or did not answer.
        """
        ...

    def results(self) -> Results:
        """What reads the runs back.

        Raises:
            UserError: nothing is kept.
        """
        ...


@dataclass(frozen=True)
class NoRecorder:
    """Keeps nothing."""

    name: str = "none"

    def check(self) -> None:
        pass

    def record(self, run: RunRecord) -> RecordedRun | None:
        return None

    def record_many(self, runs: Sequence[RunRecord]) -> list[RecordedRun]:
        return []

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun | None:
        return None

    def results(self) -> Results:
        raise UserError("tracking=none keeps no runs to read; choose tracking=sqlite or tracking=server")
