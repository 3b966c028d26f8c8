"""How a command ends: one sentence and exit code 2 for what a user can put right, and no run left open."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

from hypar_exp.errors import SweepError
from hypar_exp.text_files import printable
from hypar_exp.tracking.secrets import without_passwords

FAULT, USER_ERROR, INTERRUPTED, TERMINATED = 1, 2, 130, 143

_job_error: Exception | None = None


class Terminated(BaseException):
    """SIGTERM arrived; like KeyboardInterrupt it passes every `except Exception`."""


def run_command(command: Callable[[], object]) -> NoReturn:
    """Run a command to its end and exit: 0, 1 for a fault of ours, 2 for a user's, 130 or 143 when interrupted.

    With HYDRA_FULL_ERROR=1 every error keeps its traceback.
    """
    full_error = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra hands its errors on instead of printing them its own way
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files; the name of another, or of none, ends in a traceback
    signal.signal(signal.SIGTERM, _terminate)
    try:
        command()
        if _job_error is not None:
            raise _job_error
    except (KeyboardInterrupt, Terminated) as interruption:
        if full_error:
            raise
        terminated = isinstance(interruption, Terminated)
        _exit("terminated" if terminated else "interrupted", TERMINATED if terminated else INTERRUPTED)
    except SweepError as failure:
        if full_error:
            print("\n".join(failure.tracebacks), file=sys.stderr)
        _exit(str(failure), USER_ERROR if failure.by_user else FAULT)
    except BrokenPipeError:  # nobody reads the output, and that is no failure
        from hypar_exp.reporting.output import leave_output

        leave_output()
    except Exception as error:
        from hypar_exp.experiments.user_errors import user_sentence

        sentence = user_sentence(error)
        if full_error or sentence is None:
            raise
        _exit(sentence, USER_ERROR)
    _end_output()
    gc.freeze()  # nothing is worth collecting at the end; it would take longer than the run
    sys.exit(0)


@contextlib.contextmanager
def job_errors() -> Iterator[None]:
    """Keep a single job's error for `run_command`: Hydra would print a line of its own above it.

    The jobs of a sweep hand their errors to Hydra, so that its launcher sees which of them failed.
    """
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    global _job_error
    try:
        yield
    except Exception as error:
        if HydraConfig.get().mode != RunMode.RUN:
            raise
        _job_error = error


def _end_output() -> None:
    """Write what is left of the output; where it could not be written, say so, unless it is that nobody reads it."""
    from hypar_exp.reporting.output import OUTPUT

    OUTPUT.flush()
    if OUTPUT.error is not None and not isinstance(OUTPUT.error, BrokenPipeError):
        _exit(f"standard output cannot be written: {OUTPUT.error.strerror}; all else is done", USER_ERROR)


def _terminate(signum: int, frame: FrameType | None) -> None:
    raise Terminated


def _exit(sentence: str, code: int) -> NoReturn:
    print(f"hypar_exp: {printable(without_passwords(sentence))}", file=sys.stderr)
    sys.exit(code)
