"""Runs read back from an MLflow tracking server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hypar_exp.errors import UserError
from hypar_exp.tracking import mlflow_client, mlflow_tags
from hypar_exp.tracking.sentences import reason_of
from hypar_exp.tracking.server.connection import Connection
from hypar_exp.tracking.store import StoredRun

if TYPE_CHECKING:
    from mlflow import MlflowClient

Result = TypeVar("Result")


@dataclass(frozen=True)
class ServerResults:
    """Reads the MLflow experiment `experiment` on a tracking server."""

    connection: Connection
    experiment: str

    def runs(self, **tags: str) -> list[StoredRun]:
        """See `Results.runs`."""
        return self._tagged(list(tags.items()))

    def children(self, parent_id: str) -> list[StoredRun]:
        """See `Results.children`."""
        return self._tagged([(mlflow_tags.PARENT, parent_id)])

    def search(self, where: str) -> list[StoredRun]:
        """See `Results.search`."""
        return self._asked(lambda client: mlflow_client.search(client, self.experiment, where))

    def artifact(self, run: StoredRun, name: str) -> str:
        """See `Results.artifact`."""
        return self._asked(lambda client: mlflow_client.download(client, run, name))

    def _tagged(self, tags: Sequence[tuple[str, str]]) -> list[StoredRun]:
        return self._asked(lambda client: mlflow_client.runs(client, self.experiment, tags))

    def _asked(self, question: Callable[[MlflowClient], Result]) -> Result:
        client = self.connection.client()
        try:
            return self.connection.insist(lambda _: question(client))
        except UserError:
            raise
        except Exception as error:
            raise UserError(
                f"the tracking store {self.connection.address} cannot be read: {reason_of(error)}"
            ) from error
