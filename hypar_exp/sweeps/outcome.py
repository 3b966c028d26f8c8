"""What became of one run of a sweep, and how it gets from the process that ran it to the one that waits."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hypar_exp.tracking.store import RunStatus

FOLDER = "outcomes"
LOST_STORE = ".lost_store"


@dataclass(frozen=True)
class Outcome:
    """How a run ended and what it came to."""

    number: int
    """The job's number within its launch, counted from 0."""
    name: str
    status: RunStatus
    config_hash: str
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The totals; series by level and layer stay in the run."""
    run_id: str | None = None
    error: str | None = None
    """One sentence."""
    by_user: bool = False
    """The error is the user's to put right."""
    traceback: str | None = None


def leave(outcome: Outcome, sweep_dir: Path) -> None:
    """Leave an outcome in the sweep's folder, where the process that waits for it looks; whole or not at all."""
    folder = sweep_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{outcome.number}.{os.getpid()}"
    unfinished.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    unfinished.replace(folder / f"{outcome.number}.json")


def leave_word_of_lost_store(sentence: str, sweep_dir: Path) -> None:
    """Leave word that the store cannot be written, so that the sweep's other runs need not find out one by one."""
    with contextlib.suppress(OSError):  # the sweep's folder may be where the store was
        (sweep_dir / FOLDER).mkdir(parents=True, exist_ok=True)
        (sweep_dir / FOLDER / LOST_STORE).write_text(sentence, encoding="utf-8")


def word_of_lost_store(sweep_dir: Path) -> str | None:
    """The sentence that a run of the sweep left; None for none."""
    try:
        return (sweep_dir / FOLDER / LOST_STORE).read_text(encoding="utf-8")
    except OSError:
        return None


def forget_lost_store(sweep_dir: Path) -> None:
    """Take away what an earlier sweep left in the same folder."""
    (sweep_dir / FOLDER / LOST_STORE).unlink(missing_ok=True)


class Inbox:
    """The outcomes that arrive in a sweep's folder."""

    def __init__(self, sweep_dir: Path) -> None:
        self._folder = sweep_dir / FOLDER
        self._seen: set[str] = set()

    def new(self) -> Iterator[Outcome]:
        """Those that arrived since the last call."""
        try:
            names = [entry.name for entry in os.scandir(self._folder) if entry.name[0] != "."]
        except FileNotFoundError:
            return
        for name in names:
            if name not in self._seen:
                self._seen.add(name)
                yield _outcome(json.loads((self._folder / name).read_text(encoding="utf-8")))


def _outcome(fields: dict[str, Any]) -> Outcome:
    return Outcome(**fields | {"status": RunStatus(fields["status"])})
