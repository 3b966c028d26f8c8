"""Runs to record."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hypar_exp.tracking import Metric, RunRecord, RunStatus
from hypar_exp.tracking.sqlite import schema

WRITTEN_DIRECTLY = pytest.mark.skipif(
    schema.newest_revision() not in schema.TESTED_REVISIONS,
    reason="the installed MLflow makes databases that its own client writes",
)


def a_run(name: str = "lenet_c hypar", **changes: Any) -> RunRecord:
    """A small finished run; every field can be set."""
    fields: dict[str, Any] = {
        "name": name,
        "status": RunStatus.FINISHED,
        "start_time_ms": 1_700_000_000_000,
        "end_time_ms": 1_700_000_001_500,
        "params": {"network.name": "lenet_c", "batch_size": "256"},
        "tags": {"network": "lenet_c", "mlflow.user": "ada", "mlflow.source.name": "hypar_exp"},
        "metrics": (Metric("step_time_s", 0.25), Metric("level/time_s", 0.1, 1), Metric("level/time_s", 0.05, 2)),
        "artifacts": {"config.yaml": "batch_size: 256\n", "plan.csv": "level,conv1\nH1,0\n"},
    }
    return RunRecord(**(fields | changes))


def odd_runs() -> list[RunRecord]:
    """Runs with everything that a store could write in another way."""
    return [
        a_run(),
        a_run("a name of 300 characters".ljust(300, "x")),
        a_run("failed", status=RunStatus.FAILED, metrics=(), artifacts={}, tags={"error": "ValueError: no\nplan"}),
        a_run("killed", status=RunStatus.KILLED, params={}, tags={}),
        a_run(
            "numbers",
            metrics=(
                Metric("not_a_number", math.nan),
                Metric("not_a_number", math.nan, 1),
                Metric("infinite", math.inf),
                Metric("minus_infinite", -math.inf),
                Metric("whole", 3),
                Metric("tiny", 5e-324),
                Metric("minus zero", -0.0),
                Metric("thirds", 1 / 3),
                Metric("twice", 1.5),
                Metric("twice", 1.5),
                Metric("both", 2.0),
                Metric("both", 1.0),
                Metric("falling", 9.0, 3),
                Metric("falling", 8.0, 1),
                Metric("below zero", 7.0, -1),
                Metric("nan or zero", math.nan),
                Metric("nan or zero", -1.0),
            ),
        ),
        a_run(
            "texts",
            params={
                "long": "p" * 7000,
                "empty": "",
                "unicode": "○●\N{LATIN SMALL LETTER E WITH ACUTE}",
                "layers./features/0/Conv[3] = (a)": "onnx",
                "/rooted//twice/../up": "path",
                "k" * 300: "long key",
            },
            tags={"long": "t" * 9000, "lines": "a\n\nb", "quote": 'it\'s "so"', "mlflow.note.content": "# *note*"},
            artifacts={"plan.svg": "<svg>○</svg>\n"},
        ),
        a_run(
            "many",
            params={f"param{number}": str(number) for number in range(250)},
            metrics=tuple(Metric(f"metric{number}", number / 7, step) for number in range(400) for step in range(6)),
        ),
    ]
