"""What every store says in the same words: where a run can be seen, and why it could not be recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hypar_exp.errors import UserError


def deleted_experiment(name: str, experiment_id: str) -> UserError:
    """The error of an experiment that was deleted and keeps its name until it is purged."""
    return UserError(
        f"the MLflow experiment '{name}' was deleted; restore it with "
        f"'mlflow experiments restore -x {experiment_id}' or set tracking.experiment"
    )


def run_url(base: str, experiment: str, run_id: str) -> str:
    """The page of a run in the MLflow UI, in the mode for experiments rather than for chat models."""
    return f"{base}/#/experiments/{experiment}/runs/{run_id}?workflowType=machine_learning"


@contextlib.contextmanager
def user_errors(store: str) -> Iterator[None]:
    """Turn what MLflow, its database or the disk refuse into one sentence."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise UserError(f"the run could not be recorded in {store}: {reason[:300]}") from error


def no_such_run(run_id: str) -> UserError:
    """The error of a run id that the store does not have."""
    return UserError(f"there is no run {run_id} in the tracking store")
