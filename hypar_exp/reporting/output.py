"""Standard output that cannot stop a run: what was computed is recorded, whether anybody reads of it or not."""

from __future__ import annotations

import os
import sys
from typing import Any


def leave_output() -> None:
    """Let standard output go nowhere from now on, with what is still in its buffer when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Output:
    """Writes to standard output until that is gone: a pipe that nobody reads any more, a full disk."""

    def __init__(self) -> None:
        self.error: OSError | None = None
        """Why nothing is written any more."""

    def write(self, text: str) -> int:
        if self.error is None:
            try:
                sys.stdout.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        if self.error is None:
            try:
                sys.stdout.flush()
            except OSError as error:
                self._give_up(error)

    def isatty(self) -> bool:
        return sys.stdout.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stdout, name)

    def _give_up(self, error: OSError) -> None:
        self.error = error
        leave_output()


OUTPUT = Output()
"""The standard output of this process."""
