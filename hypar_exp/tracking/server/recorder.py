"""Runs on an MLflow tracking server."""

from __future__ import annotations

import dataclasses
import uuid
from dataclasses import dataclass
from functools import cached_property

from hypar_exp.checks import require_number
from hypar_exp.tracking import mlflow_client
from hypar_exp.tracking.mlflow_view import run_url, runs_url
from hypar_exp.tracking.secrets import without_passwords
from hypar_exp.tracking.sentences import shell_quoted, user_errors
from hypar_exp.tracking.server.connection import Connection
from hypar_exp.tracking.server.reader import ServerResults
from hypar_exp.tracking.store import RecordedRun, RunRecord


@dataclass(frozen=True)
class ServerRecorder:
    """Records with MLflow's client on the server at `uri` (http or https).

    A server that goes away while a run is written, or whose answers get lost, is waited for: the run is then written
    to its end, once.
    """

    name: str = "server"
    experiment: str = "hypar_exp"
    uri: str = "http://127.0.0.1:5000"
    patience_s: float = 120.0
    """How long answers that do not come are asked for again."""
    timeout_s: float = 30.0
    """How long one answer may take."""

    def __post_init__(self) -> None:
        require_number("tracking", self, "patience_s", above=None)
        require_number("tracking", self, "timeout_s", above=0)
        assert self._connection  # raises for what is no address

    def __repr__(self) -> str:
        return f"ServerRecorder({without_passwords(self.uri)!r})"

    @cached_property
    def _connection(self) -> Connection:
        return Connection.to(self.uri, self.patience_s, self.timeout_s)

    def check(self) -> None:
        """The server answers, as MLflow's own settings of TLS and authentication have it.

        Raises:
            UserError: it does not, or not as an MLflow server does.
        """
        self._connection.check(lambda client: client.get_experiment_by_name(self.experiment))

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run, whole: one that cannot be written to its end is closed as FAILED or KILLED.

        Raises:
            StoreError: the server did not answer.
            UserError: it refused the run.
        """
        run = dataclasses.replace(run, tags={**run.tags, mlflow_client.RECORD_TAG: uuid.uuid4().hex})
        connection = self._connection
        with user_errors(connection.address):
            client = connection.client()
            experiment_id = connection.insist(
                lambda _: mlflow_client.experiment_id(client, self.experiment, self._at_store)
            )
            return self._recorded(experiment_id, mlflow_client.write_run(client, experiment_id, run, connection.insist))

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """See `Store.amend`."""
        connection = self._connection
        with user_errors(connection.address):
            experiment_id = mlflow_client.amend_run(connection.client(), run_id, run, connection.insist)
        return self._recorded(experiment_id, run_id)

    def results(self) -> ServerResults:
        """What reads the runs back."""
        return ServerResults(self._connection, self.experiment)

    @property
    def _at_store(self) -> str:
        return f"MLFLOW_TRACKING_URI={shell_quoted(self._connection.address)}"

    def _recorded(self, experiment_id: str, run_id: str) -> RecordedRun:
        address = self._connection.address
        return RecordedRun(
            run_id,
            experiment_id,
            store=address,
            ui_command=None,
            url=run_url(address, experiment_id, run_id),
            runs_url=runs_url(address, experiment_id),
        )
