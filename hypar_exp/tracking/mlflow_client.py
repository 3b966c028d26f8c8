"""The only place that knows MLflow's client: how a run is written and read with it."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from hypar_exp.errors import UserError
from hypar_exp.tracking import filters, mlflow_tags, mlflow_view
from hypar_exp.tracking.limits import within_limits
from hypar_exp.tracking.locations import PLAIN_PATH, is_local, local_folder, write_files
from hypar_exp.tracking.sentences import deleted_experiment, no_artifact, no_such_run, reason_of
from hypar_exp.tracking.store import RunRecord, RunStatus, StoredRun

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

PAGE = 1000
# MLflow's own limits for one batch
PARAMS_PER_BATCH, METRICS_PER_BATCH, TAGS_PER_BATCH = 100, 900, 100
RECORD_TAG = "record_id"
"""The same for all attempts to write one run, so that none of them writes it a second time."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class Insistence(Protocol):
    """Does a step of writing; whether it is tried again when its answer is lost, and how often, is its own affair."""

    def __call__(self, step: Callable[[bool], Result], /) -> Result:
        """What `step` returns, which is told whether it was tried before: it may have been done then."""
        ...


def once(step: Callable[[bool], Result], /) -> Result:
    """Do a step once."""
    return step(False)


def prepare() -> None:
    """Import MLflow so that nothing about its use leaves the machine, and that it prints nothing of its own."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    enabled = gc.isenabled()
    gc.disable()  # imports make no garbage, and looking for it takes a fifth of this one
    import mlflow  # noqa: F401 - it sets the levels of its loggers when it is first imported

    if enabled:
        gc.enable()
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)


def connect(uri: str) -> MlflowClient:
    """A client of a tracking store."""
    prepare()
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


@contextlib.contextmanager
def database_uri(database: Path) -> Iterator[str]:
    """MLflow's address of a SQLite database, whatever is in the names of its folders (`?`, `%20`, `#`).

    MLflow takes such an address apart in several ways; through a link it sees plain letters only.
    """
    if PLAIN_PATH.fullmatch(str(database)):
        yield f"sqlite:///{database}"
        return
    with tempfile.TemporaryDirectory(prefix="hypar_exp-") as folder:
        link = Path(folder) / "database"
        link.symlink_to(database.parent)
        yield f"sqlite:///{link / database.name}"


def migrate(database: Path) -> None:
    """Bring a database to the installed MLflow's schema; a new one is made, with MLflow's default experiment in it."""
    prepare()
    from mlflow.store.db import utils
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    with database_uri(database) as uri:
        if database.exists():
            engine = utils.create_sqlalchemy_engine_with_retry(uri)
            utils._upgrade_db(engine)  # what `mlflow db upgrade` does
            engine.dispose()
        SqlAlchemyStore(uri, "artifacts").engine.dispose()


def experiment_id(client: MlflowClient, name: str, store: str, artifact_location: str | None = None) -> str:
    """The id of an experiment, which is made if it is not there.

    Args:
        client: of the store.
        name: the experiment's.
        store: what a command begins with to use the store, for the sentence on a deleted experiment.
        artifact_location: of an experiment that is made.

    Raises:
        UserError: the experiment was deleted.
    """
    from mlflow.exceptions import MlflowException

    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        try:
            return str(client.create_experiment(name, artifact_location, mlflow_view.experiment_tags()))
        except MlflowException:  # another process made it in the meantime
            experiment = client.get_experiment_by_name(name)
            if experiment is None:
                raise
    if experiment.lifecycle_stage != "active":
        raise deleted_experiment(name, str(experiment.experiment_id), store)
    for key, value in mlflow_view.missing_tags(experiment.tags).items():
        client.set_experiment_tag(experiment.experiment_id, key, value)
    return str(experiment.experiment_id)


def write_run(client: MlflowClient, experiment: str, run: RunRecord, insist: Insistence = once) -> str:
    """Write a run and end it with its status; if that fails midway, the run ends FAILED or KILLED, never RUNNING."""
    run = within_limits(run)
    run_id, artifact_uri = insist(lambda again: _created(client, experiment, run, again))
    try:
        _add(client, run_id, artifact_uri, run, insist)
    except BaseException as error:
        with contextlib.suppress(Exception):
            client.set_terminated(run_id, str(RunStatus.of(error)))
        raise
    return run_id


def amend_run(client: MlflowClient, run_id: str, run: RunRecord, insist: Insistence = once) -> str:
    """Give a run a status, add to it, and return the id of its experiment.

    Raises:
        UserError: there is no such run.
    """
    from mlflow.entities import RunTag
    from mlflow.exceptions import MlflowException

    try:
        existing = insist(lambda _: client.get_run(run_id))
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise no_such_run(run_id) from None
    run = within_limits(run)
    tags = [RunTag(key, value) for key, value in run.tags.items()]
    for batch in _batches(tags, TAGS_PER_BATCH):
        insist(lambda _, batch=batch: client.log_batch(run_id, tags=batch))  # type: ignore[misc]
    _add(client, run_id, str(existing.info.artifact_uri), run, insist)
    return str(existing.info.experiment_id)


def runs(client: MlflowClient, experiment: str, tags: Sequence[tuple[str, str]]) -> list[StoredRun]:
    """The runs of an experiment that have all of some tags, oldest first."""
    quotable = [(key, value) for key, value in tags if "'" not in value or '"' not in value]  # MLflow escapes neither
    where = " and ".join(f"tags.`{key}` = {_quoted(value)}" for key, value in quotable)
    return [
        _stored(run)
        for run in _search(client, experiment, where)
        if all(run.data.tags.get(key) == value for key, value in tags)
    ]


def search(client: MlflowClient, experiment: str, where: str) -> list[StoredRun]:
    """The runs of an experiment that a filter selects, oldest first.

    Raises:
        UserError: the filter cannot be read.
    """
    from mlflow.exceptions import MlflowException

    try:
        return [_stored(run) for run in _search(client, experiment, where)]
    except MlflowException as error:
        if error.error_code != "INVALID_PARAMETER_VALUE":
            raise
        filters.parsed(where)  # says why in one sentence
        raise UserError(f"the filter {where!r} cannot be read: {reason_of(error)}") from None


def download(client: MlflowClient, run: StoredRun, name: str) -> str:
    """The text of an artifact.

    Raises:
        UserError: the run has none of that name, or it cannot be read.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            return Path(client.download_artifacts(run.run_id, name, folder)).read_text(encoding="utf-8")
    except Exception as error:
        raise no_artifact(run.run_id, run.name, name, error) from None


def _created(client: MlflowClient, experiment: str, run: RunRecord, again: bool) -> tuple[str, str]:
    """The id and the artifacts' address of the run, which an earlier attempt may have made."""
    if again and RECORD_TAG in run.tags:
        existing = client.search_runs([experiment], f"tags.{RECORD_TAG} = '{run.tags[RECORD_TAG]}'", max_results=1)
        if existing:
            return str(existing[0].info.run_id), str(existing[0].info.artifact_uri)
    created = client.create_run(experiment, run.start_time_ms, dict(run.tags), run.name)
    return str(created.info.run_id), str(created.info.artifact_uri)


def _add(client: MlflowClient, run_id: str, artifact_uri: str, run: RunRecord, insist: Insistence) -> None:
    """Write what a run has, and its status last; each step may be done twice."""
    from mlflow.entities import Metric, Param

    params = [Param(key, value) for key, value in run.params.items()]
    metrics = [Metric(metric.key, metric.value, run.end_time_ms, metric.step) for metric in run.metrics]
    for batch in _batches(params, PARAMS_PER_BATCH):
        points, metrics = metrics[:METRICS_PER_BATCH], metrics[METRICS_PER_BATCH:]
        insist(lambda _, batch=batch, points=points: client.log_batch(run_id, params=batch, metrics=points))  # type: ignore[misc]
    for rest in _batches(metrics, METRICS_PER_BATCH):
        insist(lambda _, rest=rest: client.log_batch(run_id, metrics=rest))  # type: ignore[misc]
    if run.artifacts:
        insist(lambda _: _write_artifacts(client, run_id, artifact_uri, run))
    if run.status is RunStatus.RUNNING:
        insist(lambda _: client.update_run(run_id, str(run.status)))
    else:
        insist(lambda _: client.set_terminated(run_id, str(run.status), run.end_time_ms))


def _write_artifacts(client: MlflowClient, run_id: str, artifact_uri: str, run: RunRecord) -> None:
    if is_local(artifact_uri):
        write_files(local_folder(artifact_uri), run.artifacts)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), run.artifacts)
        client.log_artifacts(run_id, folder)


def _search(client: MlflowClient, experiment: str, where: str) -> list[Run]:
    there = client.get_experiment_by_name(experiment)
    if there is None:
        return []
    found: list[Run] = []
    token = None
    while True:
        page = client.search_runs([there.experiment_id], where, 1, PAGE, ["start_time ASC"], token)
        found += page
        token = page.token
        if not token:
            return found


def _stored(run: Run) -> StoredRun:
    return StoredRun(
        run_id=run.info.run_id,
        experiment_id=run.info.experiment_id,
        name=run.info.run_name or "",
        status=run.info.status,
        start_time_ms=run.info.start_time,
        end_time_ms=run.info.end_time,
        artifact_uri=run.info.artifact_uri or "",
        params=dict(run.data.params),
        tags=mlflow_tags.own_tags(run.data.tags),
        metrics=dict(run.data.metrics),
        description=run.data.tags.get(mlflow_tags.DESCRIPTION),
        parent_id=run.data.tags.get(mlflow_tags.PARENT),
        user=run.data.tags.get(mlflow_tags.USER),
    )


def _quoted(value: str) -> str:
    return f'"{value}"' if "'" in value else f"'{value}'"


def _batches(items: Sequence[Item], size: int) -> list[list[Item]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]
