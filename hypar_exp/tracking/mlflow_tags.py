"""The fields of a run that MLflow keeps as tags of its own names."""

from __future__ import annotations

from collections.abc import Mapping

from hypar_exp.tracking.store import RunRecord

DESCRIPTION, PARENT, USER = "mlflow.note.content", "mlflow.parentRunId", "mlflow.user"
NAME, SOURCE, SOURCE_TYPE, COMMIT = (
    "mlflow.runName",
    "mlflow.source.name",
    "mlflow.source.type",
    "mlflow.source.git.commit",
)


def tags_of(run: RunRecord) -> dict[str, str]:
    """A run's tags, with those that MLflow reads its fields from."""
    fields = {
        DESCRIPTION: run.description,
        PARENT: run.parent_id,
        USER: run.user,
        SOURCE: run.source,
        SOURCE_TYPE: "LOCAL" if run.source else None,
        COMMIT: run.commit,
    }
    return {**run.tags, **{key: value for key, value in fields.items() if value is not None}}


def own_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags that are not MLflow's."""
    return {key: value for key, value in tags.items() if not key.startswith("mlflow.")}
