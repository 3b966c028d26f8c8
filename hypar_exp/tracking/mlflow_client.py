"""The only place that knows MLflow's client: how a run is written and where it can be seen."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlparse

from hypar_exp.errors import UserError
from hypar_exp.tracking.recorder import RunRecord, RunStatus

if TYPE_CHECKING:
    from mlflow import MlflowClient

SERVER_TIMEOUT_S = 5
# MLflow's own limits for one batch
PARAMS_PER_BATCH, METRICS_PER_BATCH, TAGS_PER_BATCH = 100, 900, 100
LONGEST_PARAM, LONGEST_TAG = 6000, 8000
Item = TypeVar("Item")


def prepare() -> None:
    """Import MLflow so that nothing about its use leaves the machine, and that it prints nothing of its own."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(SERVER_TIMEOUT_S))
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    import mlflow  # noqa: F401 - it sets the levels of its loggers when it is first imported

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)


def connect(uri: str) -> MlflowClient:
    """A client of a tracking store."""
    prepare()
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def experiment_id(client: MlflowClient, name: str, artifact_location: str | None = None) -> str:
    """The id of an experiment, which is made if it is not there.

    Raises:
        UserError: the experiment was deleted.
    """
    from mlflow.exceptions import MlflowException

    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        try:
            return str(client.create_experiment(name, artifact_location))
        except MlflowException:  # another process made it in the meantime
            experiment = client.get_experiment_by_name(name)
            if experiment is None:
                raise
    if experiment.lifecycle_stage != "active":
        raise UserError(
            f"the MLflow experiment '{name}' was deleted; restore it with "
            f"'mlflow experiments restore -x {experiment.experiment_id}' or set tracking.experiment"
        )
    return str(experiment.experiment_id)


def write_run(client: MlflowClient, experiment: str, run: RunRecord) -> str:
    """Write a run and end it with its status; if that fails midway, the run ends FAILED or KILLED, never RUNNING."""
    tags = {key: _cut(value, LONGEST_TAG) for key, value in run.tags.items()}
    created = client.create_run(experiment, run.start_time_ms, tags, run.name)
    run_id = str(created.info.run_id)
    try:
        _write_values(client, run_id, run)
        _write_artifacts(client, run_id, str(created.info.artifact_uri), run)
        client.set_terminated(run_id, str(run.status), run.end_time_ms)
    except BaseException as error:
        with contextlib.suppress(Exception):
            client.set_terminated(run_id, str(RunStatus.of(error)))
        raise
    return run_id


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


def _write_values(client: MlflowClient, run_id: str, run: RunRecord) -> None:
    from mlflow.entities import Metric, Param

    params = [Param(key, _cut(value, LONGEST_PARAM)) for key, value in run.params.items()]
    metrics = [Metric(metric.key, metric.value, run.end_time_ms, metric.step) for metric in run.metrics]
    for batch in _batches(params, PARAMS_PER_BATCH):
        client.log_batch(run_id, params=batch, metrics=metrics[:METRICS_PER_BATCH])
        metrics = metrics[METRICS_PER_BATCH:]
    for rest in _batches(metrics, METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=rest)


def _write_artifacts(client: MlflowClient, run_id: str, artifact_uri: str, run: RunRecord) -> None:
    """Artifacts that live on this machine are written in place, which saves MLflow's copy of each."""
    location = urlparse(artifact_uri)
    if not run.artifacts:
        return
    if location.scheme in ("", "file"):
        _write_files(Path(unquote(location.path)), run)
        return
    with tempfile.TemporaryDirectory() as folder:
        _write_files(Path(folder), run)
        client.log_artifacts(run_id, folder)


def _write_files(folder: Path, run: RunRecord) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in run.artifacts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _batches(items: Sequence[Item], size: int) -> list[list[Item]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
