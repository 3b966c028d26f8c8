"""What the MLflow UI shows of an experiment before anybody chose: a description, the columns of its runs, and charts.

The UI takes a view from a tag of the experiment whose name ends in the key of a shared link; it is plain JSON. What
another version of the UI does not know of it is left as that has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

VIEW_KEY = "hypar"
VIEW_TAG = f"mlflow.sharedViewState.{VIEW_KEY}"
DESCRIPTION_TAG = "mlflow.note.content"
DESCRIPTION = (
    "Plans for training deep networks on accelerator arrays, each simulated for one step.\n\n"
    "A run with an arrow is a sweep; its runs are nested in it, and its page has their table and picture. "
    "`step_time_s` is the time of a step, `speedup` how many times faster it is than with the baseline's plan, "
    "`communication_bytes` what all accelerators exchange in it, `memory_per_accelerator_bytes` what one of them "
    "holds. A run's artifacts have its plan (`plan.svg`) and every layer (`layers.csv`).\n"
)
COLUMNS = (
    *(("tags", "network"), ("tags", "strategy"), ("params", "array.levels")),
    *(("metrics", key) for key in ("step_time_s", "speedup", "step_energy_j", "communication_bytes")),
    ("metrics", "memory_per_accelerator_bytes"),
)
BARS = ("step_time_s", "speedup", "step_energy_j", "communication_bytes")
SECTION = "hypar-main"
FILTER = "metrics.step_time_s > 0"
"""The runs themselves, whichever sweep they are nested in; without a filter the table shows sweeps, closed."""


def run_url(base: str, experiment: str, run_id: str) -> str:
    """The page of a run in the MLflow UI, in the mode for experiments rather than for chat models."""
    return f"{base}/#/experiments/{experiment}/runs/{run_id}?workflowType=machine_learning"


def runs_url(base: str, experiment: str) -> str:
    """The table of an experiment's runs in the MLflow UI, with our columns and charts."""
    return f"{base}/#/experiments/{experiment}/runs?workflowType=machine_learning&viewStateShareKey={VIEW_KEY}"


def missing_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags that an experiment with `tags` lacks; what somebody wrote there stays."""
    return {key: value for key, value in experiment_tags().items() if key not in tags}


@cache
def experiment_tags() -> dict[str, str]:
    """The description and the view, as tags of an experiment."""
    return {DESCRIPTION_TAG: DESCRIPTION, VIEW_TAG: json.dumps(_view())}


def _view() -> dict[str, object]:
    columns = [f"{kind}.`{key}`" for kind, key in COLUMNS]
    cards: list[dict[str, object]] = [
        {"type": "BAR", "metricKey": key, "displayName": key, "runsCountToCompare": 20} for key in BARS
    ]
    cards.append(
        {
            "type": "SCATTER",
            "xaxis": {"key": "step_time_s", "type": "METRIC"},
            "yaxis": {"key": "step_energy_j", "type": "METRIC"},
            "runsCountToCompare": 100,
        }
    )
    return {
        "searchFilter": FILTER,
        "orderByKey": "tags.`network`",  # in any order but that of time, which nests runs in their sweeps
        "orderByAsc": True,
        "selectedColumns": columns,
        "columnOrder": ["run-name", *columns],
        "runsHiddenMode": "FIRST_20_RUNS",
        "compareRunCharts": [
            {"uuid": f"hypar-{number}", "metricSectionId": SECTION, "deleted": False, "isGenerated": False, **card}
            for number, card in enumerate(cards)
        ],
        "isAccordionReordered": True,  # else sections are in the order of their names
        "compareRunSections": [
            {
                "uuid": SECTION,
                "name": "Plans",
                "display": True,
                "isReordered": False,
                "deleted": False,
                "isGenerated": False,
            }
        ],
    }
