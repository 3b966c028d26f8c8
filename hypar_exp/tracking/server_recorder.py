"""Runs on an MLflow tracking server."""

from __future__ import annotations

import dataclasses
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hypar_exp.checks import require_number
from hypar_exp.errors import UserError
from hypar_exp.tracking.recorder import RecordedRun, RunRecord
from hypar_exp.tracking.results import ServerResults
from hypar_exp.tracking.sentences import run_url, user_errors

ATTEMPT_TAG = "record_id"
"""The same for all attempts to write one run, so that none of them writes it a second time."""
BETWEEN_ATTEMPTS_S = 1.0
LOST_CONNECTION = "failed with exception"
"""What MLflow's client says of a request that got no answer."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class ServerRecorder:
    """Records with MLflow's client on the server at `uri` (http or https).

    A server that goes away while a run is written is waited for: the run is then written to its end, once.
    """

    name: str = "server"
    experiment: str = "hypar_exp"
    uri: str = "http://127.0.0.1:5000"
    patience_s: float = 120.0
    """How long a server that went away is waited for."""

    def __post_init__(self) -> None:
        require_number("tracking", self, "patience_s", above=None)
        if not self.uri.startswith(("http://", "https://")):
            raise UserError(f"tracking.uri must be an http or https address (got {self.uri!r})")

    def check(self) -> None:
        """The server answers.

        Raises:
            UserError: not within five seconds, or not as an MLflow server does.
        """
        from hypar_exp.tracking.mlflow_client import SERVER_TIMEOUT_S

        answers: list[str] = []
        asking = threading.Thread(target=lambda: answers.append(_health(self.uri, SERVER_TIMEOUT_S)), daemon=True)
        asking.start()
        asking.join(SERVER_TIMEOUT_S)  # a server that sends a byte now and then never runs into a socket's own timeout
        problem = answers[0] if answers else "does not answer (timed out)"
        if problem:
            raise UserError(f"the tracking server {self.uri} {problem}; start it or set tracking.uri")

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run, whole; see `record_many`."""
        return self.record_many([run])[0]

    def record_many(self, runs: Sequence[RunRecord]) -> list[RecordedRun]:
        """Keep runs, each whole: a run that cannot be written to its end is closed as FAILED or KILLED.

        Raises:
            UserError: the server refused one or did not answer.
        """
        with user_errors(self.uri):
            return [self._write(run) for run in runs]

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """See `Recorder.amend`."""
        from hypar_exp.tracking import mlflow_client

        with user_errors(self.uri):
            client = mlflow_client.connect(self.uri)
            experiment_id = self._insistently(lambda _: mlflow_client.amend_run(client, run_id, run))
        return self._recorded(experiment_id, run_id)

    def _write(self, run: RunRecord) -> RecordedRun:
        from hypar_exp.tracking import mlflow_client

        client = mlflow_client.connect(self.uri)
        run = dataclasses.replace(run, tags={**run.tags, ATTEMPT_TAG: uuid.uuid4().hex})

        def write(again: bool) -> RecordedRun:
            experiment_id = mlflow_client.experiment_id(client, self.experiment)
            begun = (
                mlflow_client.run_with_tag(client, experiment_id, ATTEMPT_TAG, run.tags[ATTEMPT_TAG]) if again else None
            )
            if begun is None:
                return self._recorded(experiment_id, mlflow_client.write_run(client, experiment_id, run))
            return self._recorded(mlflow_client.amend_run(client, begun, run), begun)

        return self._insistently(write)

    def _insistently(self, action: Callable[[bool], Result]) -> Result:
        """What `action` returns, which is told whether it was tried before; tried again while the server is away."""
        until = time.monotonic() + self.patience_s
        again = False
        while True:
            try:
                return action(again)
            except Exception as error:
                lost = LOST_CONNECTION in str(error) or _health(self.uri, BETWEEN_ATTEMPTS_S)
                if not lost or time.monotonic() > until:
                    raise
            again = True
            time.sleep(BETWEEN_ATTEMPTS_S)

    def results(self) -> ServerResults:
        """What reads the runs back."""
        return ServerResults(self.uri, self.experiment)

    def _recorded(self, experiment_id: str, run_id: str) -> RecordedRun:
        url = run_url(self.uri.rstrip("/"), experiment_id, run_id)
        return RecordedRun(run_id, experiment_id, store=self.uri, ui_command=None, url=url)


def _health(uri: str, timeout_s: float) -> str:
    """What is wrong with a server; nothing is ''."""
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(f"{uri.rstrip('/')}/health", timeout=timeout_s) as answer:
            return "" if answer.read(16).strip() == b"OK" else "is not an MLflow tracking server"
    except urllib.error.HTTPError as error:
        return f"is not an MLflow tracking server, or refuses to serve (it answers {error.code} {error.reason})"
    except (OSError, ValueError) as error:
        return f"does not answer ({getattr(error, 'reason', None) or error})"
