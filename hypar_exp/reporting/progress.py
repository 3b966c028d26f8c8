"""The progress of a sweep: one line that is rewritten on a terminal, a line now and then where it is not one."""

from __future__ import annotations

import time

from hypar_exp.reporting.console import console
from hypar_exp.reporting.units import significant

BETWEEN_LINES_S = 10.0
"""Between two lines where they stay."""


class ProgressLine:
    """Shows how far a sweep of `jobs` runs is."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._started = self._shown = time.monotonic()
        self._last = ""

    def show(self, done: int, failed: int, *, at_end: bool = False) -> None:
        """Show the numbers of runs that are done and that failed; the line at the end stays."""
        now = time.monotonic()
        terminal = console().is_terminal
        if not at_end and not terminal and now - self._shown < BETWEEN_LINES_S:
            return
        line = self._line(done, failed, now - self._started)
        self._shown = now
        if terminal:
            if line != self._last or at_end:
                console().file.write(f"\r\x1b[2K{line[: console().width - 1]}" + "\n" * at_end)
        else:
            console().file.write(f"{line}\n")
        console().file.flush()
        self._last = line

    def _line(self, done: int, failed: int, seconds: float) -> str:
        ended, parts = done + failed, [f"{done} done", f"{failed} failed"]
        left = self._jobs - ended
        parts.append(f"{left} left")
        if ended and seconds > 0:
            parts.append(f"{significant(ended / seconds)} runs/s")
            parts.append(f"{_clock(left * seconds / ended)} to go" if left else f"{_clock(seconds)} in all")
        return ", ".join(parts)


def _clock(seconds: float) -> str:
    """`42 s`, `3:07 min`, `2:15 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
