"""Every recorded number of a fixed set of runs is what it was, to the last bit.

`tests/data/golden.json` holds them: for each run the main numbers, and a digest of all its metrics with their steps.
`python -m tests.test_golden NAME...` makes the entries of the named sweeps anew, where a number was wrong and is right
now; the reason goes into `MADE_ANEW`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.forked import Program, forked_program

FILE = ROOT / "tests" / "data" / "golden.json"
TEN = "sfc,sconv,lenet_c,cifar_c,alexnet,vgg_a,vgg_b,vgg_c,vgg_d,vgg_e"
GRAPHS = "resnet18,resnet50,squeezenet,googlenet,inception_v3,mobilenet_v2,bert_base,gpt2_small"
SWEEPS: Mapping[str, tuple[str, ...]] = {
    "the ten": (f"network={TEN}", "strategy=dp,mp,trick,hypar,optimal", "array.levels=0,1,4,7"),
    "graphs": (f"network={GRAPHS}", "strategy=dp,hypar", "array.levels=4", "batch_size=32,256"),
    "topologies": (
        "network=lenet_c,alexnet,resnet18",
        "array=torus,hetero",
        "strategy=dp,mp,hypar",
        "array.levels=1,5",
    ),
    "inference": ("network=lenet_c,vgg_e,resnet18,squeezenet", "pass=inference", "strategy=dp,hypar"),
    "accountings": ("network=alexnet,vgg_a,resnet18", "accounting=as_tabulated,accpar", "strategy=dp,hypar"),
    "three splits": ("network=alexnet,vgg_a,resnet18", "accounting=accpar", "strategy=accpar", "array.levels=3,7"),
    "objectives": ("network=sfc,alexnet,resnet18", "strategy=optimal", "objective=communication,time,energy"),
    "memory": (
        *("network=lenet_c,vgg_a", "strategy=optimal", "memory=enforce", "array.levels=2,4"),
        "hardware.dram_capacity_bytes=3e6,1e9,4e9",
    ),
    "gap": ("network=lenet_c,vgg_a,resnet18", "strategy=dp,hypar", "gap=true", "array.levels=4"),
    "plan space": ("network=lenet_c", "strategy=explore", "array.levels=2,3"),
}
POOLING = "googlenet, inception_v3 and squeezenet: a layer's output is what all its readers read, wherever it is pooled"
AS_THEY_ARE = (
    "mobilenet_v2: grouped convolutions have no partial sums; bert_base and gpt2_small: the backward pass needs query, "
    "key, value and probabilities, and of an embedding's table only the rows that are looked up are read"
)
MADE_ANEW: Mapping[str, str] = {"graphs": f"{POOLING}; {AS_THEY_ARE}", "inference": POOLING}
"""Sweeps whose entries were made anew, and why."""
MAIN = ("step_time_s", "communication_bytes", "step_energy_j", "memory_per_accelerator_bytes", "speedup")

Run = dict[str, str]
"""Main metric -> its value in hexadecimal; `digest` is of all metrics."""


def recorded(sweep: str, program: Program, folder: Path, metrics: Collection[str] | None = None) -> list[Run]:
    """What the runs of a sweep record, in the order of the sweep: of all metrics, or of those that are named."""
    ended = program("-m", "hydra/sweeper=batch", *SWEEPS[sweep], cwd=folder, timeout=300)
    assert ended.returncode in (0, 2), ended.stderr
    runs: dict[str, list[tuple[str, int, str]]] = {}
    for run_id, key, step, value in _stored_metrics(folder):
        if metrics is None or key in metrics:
            runs.setdefault(run_id, []).append((key, step, float(value).hex()))
    return [
        {
            **{key: text for key, step, text in values if key in MAIN and step == 0},
            "digest": hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16],
        }
        for values in runs.values()
    ]


def _stored_metrics(folder: Path) -> list[tuple[str, str, int, float]]:
    """Run id, key, step and value of every metric below the sweep's parent; run ids are ordered in time."""
    with sqlite3.connect(folder / "outputs" / "mlflow.db") as connection:
        rows = connection.execute(
            "SELECT run_uuid, key, step, value FROM metrics"
            " WHERE run_uuid IN (SELECT run_uuid FROM tags WHERE key = 'mlflow.parentRunId')"
            " ORDER BY run_uuid, key, step"
        ).fetchall()
    connection.close()
    return rows


def golden() -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_number_is_what_it_was(sweep: str, tmp_path: Path) -> None:
    expected = golden()[sweep]
    with forked_program(counted=False) as program:
        runs = recorded(sweep, program, tmp_path, expected["metrics"])
    assert len(runs) == len(expected["runs"])
    for place, run in enumerate(expected["runs"]):
        assert runs[place] == run, f"run {place} of sweep {sweep!r}"


def main(names: list[str]) -> None:
    """Make the entries of the named sweeps anew."""
    numbers = golden() if FILE.exists() else {}
    with forked_program(counted=False) as program:
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                runs = recorded(name, program, Path(folder))
                metrics = sorted({key for _, key, _, _ in _stored_metrics(Path(folder))})
                numbers[name] = {"metrics": metrics, "runs": runs}
    FILE.write_text(json.dumps(numbers, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or list(SWEEPS))
