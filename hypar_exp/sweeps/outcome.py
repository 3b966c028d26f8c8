"""What became of one run of a sweep, and how it gets from the process that ran it to the one that waits."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hypar_exp.tracking.store import RunStatus

FOLDER = "outcomes"


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
