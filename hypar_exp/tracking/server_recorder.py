"""Runs on an MLflow tracking server."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError
from hypar_exp.tracking.recorder import RecordedRun, RunRecord
from hypar_exp.tracking.results import ServerResults
from hypar_exp.tracking.sentences import run_url, user_errors


@dataclass(frozen=True)
class ServerRecorder:
    """Records with MLflow's client on the server at `uri` (http or https)."""

    name: str = "server"
    experiment: str = "hypar_exp"
    uri: str = "http://127.0.0.1:5000"

    def __post_init__(self) -> None:
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
        from hypar_exp.tracking import mlflow_client

        with user_errors(self.uri):
            client = mlflow_client.connect(self.uri)
            experiment_id = mlflow_client.experiment_id(client, self.experiment)
            run_ids = [mlflow_client.write_run(client, experiment_id, run) for run in runs]
        return [self._recorded(experiment_id, run_id) for run_id in run_ids]

    def amend(self, run_id: str, run: RunRecord) -> RecordedRun:
        """See `Recorder.amend`."""
        from hypar_exp.tracking import mlflow_client

        with user_errors(self.uri):
            experiment_id = mlflow_client.amend_run(mlflow_client.connect(self.uri), run_id, run)
        return self._recorded(experiment_id, run_id)

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
