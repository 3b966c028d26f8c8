"""What an MLflow store takes: the characters of a key and the longest keys and values."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from functools import lru_cache

from hypar_exp.tracking import mlflow_tags
from hypar_exp.tracking.secrets import without_passwords
from hypar_exp.tracking.store import RunRecord

LONGEST_KEY, LONGEST_PARAM, LONGEST_TAG = 250, 6000, 8000


def within_limits(run: RunRecord) -> RunRecord:
    """The run as MLflow takes it: its fields as tags, `_` for other characters in keys, `...` after what is too long.

    The whole configuration is an artifact, so nothing is lost by it.
    """
    return dataclasses.replace(
        run,
        name=cut(run.name, LONGEST_KEY),
        params=_cut_all(run.params, LONGEST_PARAM),
        tags=_cut_all(mlflow_tags.tags_of(run), LONGEST_TAG),
        metrics=tuple(
            metric
            if storable_key(metric.key) == metric.key
            else dataclasses.replace(metric, key=storable_key(metric.key))
            for metric in run.metrics
        ),
    )


@lru_cache(maxsize=10_000)
def storable_key(key: str) -> str:
    """A key of the characters that MLflow allows, without empty or dotted parts between slashes."""
    parts = [part for part in re.sub(r"[^/\w.\- :]", "_", key).split("/") if part not in ("", ".", "..")]
    return cut("/".join(parts) or "_", LONGEST_KEY)


def cut(text: str, most: int) -> str:
    """At most `most` characters; a text that was cut ends in `...`."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _cut_all(values: Mapping[str, str], most: int) -> dict[str, str]:
    return {storable_key(key): cut(without_passwords(value), most) for key, value in values.items()}
