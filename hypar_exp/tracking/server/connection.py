"""The connection to an MLflow server: whether it answers, and what is done when an answer is late or lost."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from hypar_exp.errors import UserError
from hypar_exp.tracking import mlflow_client
from hypar_exp.tracking.secrets import PASSWORD, USERNAME, hand_to_mlflow
from hypar_exp.tracking.sentences import reason_of
from hypar_exp.tracking.store import StoreError

if TYPE_CHECKING:
    from mlflow import MlflowClient

BETWEEN_ATTEMPTS_S = 1.0
ATTEMPTS_AT_FIRST = 5
"""How often a server is asked, before any work, whose answers get lost; one that is not there is asked once."""
FOR_NOW = (408, 425, 429, 502, 503, 504)
"""Statuses of HTTP that say that the same request may be answered later."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Connection:
    """A server at an address, and how long it is waited for."""

    address: str
    """http or https, without a user's name and password."""
    patience_s: float
    """How long answers that do not come are asked for again."""
    timeout_s: float
    """How long one answer may take."""

    @classmethod
    def to(cls, uri: str, patience_s: float, timeout_s: float) -> Connection:
        """The connection to an address, which may be `https://user:password@host`.

        Raises:
            UserError: it is no http or https address.
        """
        address = hand_to_mlflow(uri)
        try:
            parts = urlsplit(address)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # what is no port
            usable = False
        if not usable:
            raise UserError(f"tracking.uri must be an http or https address (got {address!r})")
        return cls(address.rstrip("/"), patience_s, timeout_s)

    def client(self) -> MlflowClient:
        """MLflow's client, with MLflow's own settings of TLS and authentication (MLFLOW_TRACKING_...)."""
        os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"] = str(max(1, round(self.timeout_s)))
        os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"  # MLflow's would repeat what must not be done twice
        return mlflow_client.connect(self.address)

    def check(self, question: Callable[[MlflowClient], object]) -> None:
        """See that the server answers a question.

        Raises:
            UserError: it does not, or not as an MLflow server does.
        """
        answers: list[str] = []
        client = self.client()
        asking = threading.Thread(target=lambda: answers.append(self._problem(client, question)), daemon=True)
        asking.start()
        asking.join(self.timeout_s)  # a server that sends a byte now and then never runs into a request's own limit
        problem = answers[0] if answers else _late(self.timeout_s)
        if problem:
            raise UserError(f"the tracking server {self.address} {problem}")

    def insist(self, step: Callable[[bool], Result], /) -> Result:
        """See `mlflow_client.Insistence`: a step whose answer is lost or late is tried again for `patience_s`.

        Raises:
            StoreError: it was in vain.
        """
        until: float | None = None
        while True:
            try:
                return step(until is not None)
            except Exception as error:
                if not is_lost(error):
                    raise
                now = time.monotonic()
                until = now + self.patience_s if until is None else until
                if now >= until:
                    raise StoreError(
                        f"the tracking server {self.address} did not answer for {self.patience_s:g} s "
                        f"(tracking.patience_s): {reason_of(error)}"
                    ) from error
                time.sleep(min(BETWEEN_ATTEMPTS_S, until - now))

    def _problem(self, client: MlflowClient, question: Callable[[MlflowClient], object]) -> str:
        """What is wrong with the server; nothing is ''."""
        for attempt in range(ATTEMPTS_AT_FIRST):
            try:
                question(client)
                return ""
            except Exception as error:
                problem = _words(error, self.timeout_s)
                if not is_lost(error) or _is_refused(error) or attempt + 1 == ATTEMPTS_AT_FIRST:
                    break
            time.sleep(BETWEEN_ATTEMPTS_S / 4)
        return problem


def is_lost(error: BaseException) -> bool:
    """Whether a request got no answer, or one that says to ask later."""
    import requests

    for one in _chain(error):
        if isinstance(one, requests.exceptions.SSLError | requests.exceptions.InvalidURL):
            return False
        if isinstance(one, requests.exceptions.ConnectionError | requests.exceptions.Timeout):
            return True
        if isinstance(one, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
            return True
        if _status(one) in FOR_NOW:
            return True
    return False


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came of."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _status(error: BaseException) -> int | None:
    """The status of HTTP that an error tells of."""
    response = getattr(error, "response", None)
    if response is not None:
        return int(getattr(response, "status_code", 0)) or None
    ask = getattr(error, "get_http_status_code", None)
    return int(ask()) if ask is not None else None


def _is_refused(error: BaseException) -> bool:
    return any(isinstance(one, ConnectionRefusedError) for one in _chain(error)) or "Connection refused" in str(error)


def _words(error: Exception, timeout_s: float) -> str:
    import requests

    kinds = [type(one) for one in _chain(error)]
    if any(issubclass(kind, requests.exceptions.SSLError) for kind in kinds):
        return (
            f"cannot be trusted ({reason_of(error)}); MLFLOW_TRACKING_SERVER_CERT_PATH names the certificate to trust"
        )
    status = next((status for one in _chain(error) if (status := _status(one)) is not None), None)
    if status in (401, 403) or "401" in str(error) or "403" in str(error):
        return f"lets nobody in without a name: set {USERNAME} and {PASSWORD}, or MLFLOW_TRACKING_TOKEN"
    if any(issubclass(kind, requests.exceptions.Timeout) for kind in kinds):
        return _late(timeout_s)
    if is_lost(error):
        return f"does not answer ({reason_of(error)}); start it or set tracking.uri"
    return f"is not an MLflow tracking server, or refuses to serve ({reason_of(error)}); set tracking.uri"


def _late(timeout_s: float) -> str:
    return f"does not answer within {timeout_s:g} s (tracking.timeout_s); start it or set tracking.uri"
