"""The only place that knows MLflow's client: how a run is written and where it can be seen."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hypar_exp.tracking.artifact_files import is_local, local_folder, write_files
from hypar_exp.tracking.limits import within_limits
from hypar_exp.tracking.recorder import RunRecord, RunStatus
from hypar_exp.tracking.sentences import deleted_experiment, no_such_run

if TYPE_CHECKING:
    from mlflow import MlflowClient

SERVER_TIMEOUT_S = 5
# MLflow's own limits for one batch
PARAMS_PER_BATCH, METRICS_PER_BATCH, TAGS_PER_BATCH = 100, 900, 100
Item = TypeVar("Item")


def prepare() -> None:
    """Import MLflow so that nothing about its use leaves the machine, and that it prints nothing of its own."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(SERVER_TIMEOUT_S))
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    gc.disable()  # imports make no garbage, and looking for it takes a fifth of this one
    import mlflow  # noqa: F401 - it sets the levels of its loggers when it is first imported

    gc.enable()
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)


def connect(uri: str) -> MlflowClient:
    """A client of a tracking store."""
    prepare()
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def migrate(uri: str, artifact_root: str) -> None:
    """Make the tables of a new database, with MLflow's default experiment in them."""
    prepare()
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    SqlAlchemyStore(uri, artifact_root).engine.dispose()


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
        raise deleted_experiment(name, str(experiment.experiment_id))
    return str(experiment.experiment_id)


def write_run(client: MlflowClient, experiment: str, run: RunRecord) -> str:
    """Write a run and end it with its status; if that fails midway, the run ends FAILED or KILLED, never RUNNING."""
    run = within_limits(run)
    created = client.create_run(experiment, run.start_time_ms, dict(run.tags), run.name)
    run_id = str(created.info.run_id)
    try:
        _write_values(client, run_id, run)
        _write_artifacts(client, run_id, str(created.info.artifact_uri), run)
        _set_status(client, run_id, run)
    except BaseException as error:
        with contextlib.suppress(Exception):
            client.set_terminated(run_id, str(RunStatus.of(error)))
        raise
    return run_id


def run_with_tag(client: MlflowClient, experiment: str, tag: str, value: str) -> str | None:
    """The id of a run of an experiment, by id, that has a tag of that value."""
    found = client.search_runs([experiment], f"tags.{tag} = '{value}'", max_results=1)
    return str(found[0].info.run_id) if found else None


def amend_run(client: MlflowClient, run_id: str, run: RunRecord) -> str:
    """Give a run a status, add to it, and return the id of its experiment.

    Raises:
        UserError: there is no such run.
    """
    from mlflow.entities import RunTag
    from mlflow.exceptions import MlflowException

    try:
        found = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise no_such_run(run_id) from None
    run = within_limits(run)
    tags = [RunTag(key, value) for key, value in run.tags.items()]
    for batch in _batches(tags, TAGS_PER_BATCH):
        client.log_batch(run_id, tags=batch)
    _write_values(client, run_id, run)
    _write_artifacts(client, run_id, str(found.info.artifact_uri), run)
    _set_status(client, run_id, run)
    return str(found.info.experiment_id)


def _set_status(client: MlflowClient, run_id: str, run: RunRecord) -> None:
    if run.status is RunStatus.RUNNING:
        client.update_run(run_id, str(run.status))
    else:
        client.set_terminated(run_id, str(run.status), run.end_time_ms)


def _write_values(client: MlflowClient, run_id: str, run: RunRecord) -> None:
    from mlflow.entities import Metric, Param

    params = [Param(key, value) for key, value in run.params.items()]
    metrics = [Metric(metric.key, metric.value, run.end_time_ms, metric.step) for metric in run.metrics]
    for batch in _batches(params, PARAMS_PER_BATCH):
        client.log_batch(run_id, params=batch, metrics=metrics[:METRICS_PER_BATCH])
        metrics = metrics[METRICS_PER_BATCH:]
    for rest in _batches(metrics, METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=rest)


def _write_artifacts(client: MlflowClient, run_id: str, artifact_uri: str, run: RunRecord) -> None:
    if not run.artifacts:
        return
    if is_local(artifact_uri):
        write_files(local_folder(artifact_uri), run.artifacts)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), run.artifacts)
        client.log_artifacts(run_id, folder)


def _batches(items: Sequence[Item], size: int) -> list[list[Item]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]
