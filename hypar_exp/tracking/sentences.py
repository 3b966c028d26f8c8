"""What every store says in the same words: where a run can be seen, why it could not be recorded, and what to type."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Iterator

from hypar_exp.errors import UserError
from hypar_exp.tracking.secrets import without_passwords
from hypar_exp.tracking.store import StoreError

LONGEST_REASON = 300


def reason_of(error: BaseException) -> str:
    """Why something failed, on one line of a bearable length, cut between words, without passwords."""
    reason = without_passwords(" ".join(str(error).split())) or type(error).__name__
    if len(reason) > LONGEST_REASON:
        reason = reason[:LONGEST_REASON].rpartition(" ")[0].rstrip(",.:;") + " ..."
    return reason


def shell_quoted(text: str) -> str:
    """A text as one word of a shell, on one line whatever is in it."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = "".join(
        letter
        if letter.isprintable() and letter not in "\\'"
        else "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))
        for letter in text
    )
    return f"$'{escaped}'"


def mlflow_command() -> str:
    """What starts MLflow's own commands, wherever they are."""
    return "mlflow" if shutil.which("mlflow") else f"{shell_quoted(sys.executable)} -m mlflow"


def deleted_experiment(name: str, experiment_id: str, at_store: str) -> UserError:
    """The error of an experiment that was deleted and keeps its name until it is purged.

    Args:
        name, experiment_id: the experiment's.
        at_store: what a command begins with to use the store that it is in.
    """
    return UserError(
        f"the MLflow experiment '{name}' was deleted; set tracking.experiment to another name, or restore it: "
        f"{at_store} {mlflow_command()} experiments restore -x {experiment_id}"
    )


@contextlib.contextmanager
def user_errors(store: str) -> Iterator[None]:
    """Turn what MLflow, its database or the disk refuse into one sentence."""
    try:
        yield
    except UserError:
        raise
    except (OSError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError | sqlite3.DataError):
            raise _refused(store, error) from error
        raise StoreError(f"the run could not be recorded in {without_passwords(store)}: {reason_of(error)}") from error
    except Exception as error:
        raise _refused(store, error) from error


def _refused(store: str, error: Exception) -> UserError:
    return UserError(f"the run could not be recorded in {without_passwords(store)}: {reason_of(error)}")


def no_parent(parent_id: str, store: str) -> StoreError:
    """The error of a store that was taken away in the middle of a sweep, and maybe replaced by an empty one."""
    return StoreError(f"the sweep's own run {parent_id} is no longer in {store}: the store was taken away")


def no_such_run(run_id: str) -> UserError:
    """The error of a run id that the store does not have."""
    return UserError(f"there is no run {run_id} in the tracking store")


def no_artifact(run_id: str, run_name: str, name: str, error: Exception) -> UserError:
    """The error of an artifact that is not there or cannot be read."""
    reason = getattr(error, "strerror", None) or reason_of(error)
    return UserError(f"the artifact {name} of run {run_id} ({run_name}) cannot be read: {reason}")
