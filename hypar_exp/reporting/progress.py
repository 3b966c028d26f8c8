"""Progress: one line that is rewritten on a terminal, a line now and then where it is not one."""

from __future__ import annotations

import time

from hypar_exp.reporting.console import console
from hypar_exp.units import quantity, significant

BETWEEN_LINES_S = 10.0
"""Between two lines where they stay."""
BETWEEN_CHANGES_S = 0.1
"""Between two changes of a line that is rewritten."""
BAR_CHARACTERS = 30


class StatusLine:
    """A line of text that changes."""

    def __init__(self) -> None:
        self._shown = time.monotonic()
        self._last = ""

    def due(self) -> bool:
        """Whether it is time for another line."""
        between = BETWEEN_CHANGES_S if console().is_terminal else BETWEEN_LINES_S
        return time.monotonic() - self._shown >= between

    def show(self, line: str, *, at_end: bool = False) -> None:
        """Show the line; at the end it stays."""
        self._shown = time.monotonic()
        if console().is_terminal:
            if line != self._last or at_end:
                console().file.write(f"\r\x1b[2K{line[: console().width - 1]}" + "\n" * at_end)
        else:
            console().file.write(f"{line}\n")
        console().file.flush()
        self._last = line

    def clear(self) -> None:
        """Take the line away, where it was one that is rewritten."""
        if console().is_terminal and self._last:
            console().file.write("\r\x1b[2K")
            console().file.flush()


class PlanCounter:
    """Shows how much of a long computation is done, as of an exploration's plans; nothing stays of it on a terminal."""

    def __init__(self, counted: str = "plans") -> None:
        self._counted = counted
        self._line = StatusLine()
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if done == total:
            self._line.clear()
        elif self._line.due():
            seconds = time.monotonic() - self._started
            filled = "#" * (BAR_CHARACTERS * done // total)
            self._line.show(
                f"[{filled:.<{BAR_CHARACTERS}}] {done:,} of {total:,} {self._counted}, "
                f"{quantity(done / seconds, self._counted)}/s, {_clock((total - done) * seconds / done)} to go"
            )


class ProgressLine:
    """Shows how far a sweep of `jobs` runs is."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._started = time.monotonic()
        self._status = StatusLine()

    def show(self, done: int, failed: int, *, at_end: bool = False) -> None:
        """Show the numbers of runs that are done and that failed; the line at the end stays."""
        if at_end or console().is_terminal or self._status.due():
            self._status.show(self._line(done, failed, time.monotonic() - self._started), at_end=at_end)

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
