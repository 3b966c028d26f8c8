"""How long the main job takes from the shell, alone and with a pipeline, beside a bare Hydra app and an MLflow script.

`python -m benchmarks.start_up`. Every command runs in turns, so that a noisy machine is noisy for all; the table shows
medians and ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 9
ROOT = Path(__file__).resolve().parent.parent
OVERRIDES = ["network=vgg_e", "strategy=hypar", "array.levels=4"]
PIPELINE = ["pipeline=balanced", "pipeline.stages=2", "pipeline.micro_batches=64", "schedule=1f1b"]
LAST_LINE_OF_ANSWER = b"memory per accelerator"

BARE_HYDRA = f"""
import hydra
from hydra.core.config_store import ConfigStore
ConfigStore.instance().store(name="run", node={{}})

@hydra.main(version_base="1.3", config_path={str(ROOT / "conf")!r}, config_name="config")
def app(config):
    print(config.network.name)

app()
"""

MINIMAL_MLFLOW = f"""
import time
import hydra
from hydra.core.config_store import ConfigStore
ConfigStore.instance().store(name="run", node={{}})

@hydra.main(version_base="1.3", config_path={str(ROOT / "conf")!r}, config_name="config")
def app(config):
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param
    client = MlflowClient("sqlite:///outputs/mlflow.db")
    run = client.create_run(client.get_experiment_by_name("hypar_exp").experiment_id, run_name="minimal")
    now = int(time.time() * 1000)
    params = [Param(f"param_{{at}}", str(at)) for at in range(45)]
    metrics = [Metric("metric", float(at), now, at) for at in range(90)]
    client.log_batch(run.info.run_id, metrics=metrics, params=params)
    client.set_terminated(run.info.run_id)

app()
"""


def main() -> None:
    ours = [sys.executable, "-m", "hypar_exp", *OVERRIDES]
    bare = [sys.executable, "-c", BARE_HYDRA, *OVERRIDES]
    minimal = [sys.executable, "-c", MINIMAL_MLFLOW, *OVERRIDES]
    with tempfile.TemporaryDirectory() as folder:
        _whole(ours, folder)  # makes the database, and warms the file cache for everything below
        table: dict[str, Callable[[], float]] = {
            "bare Hydra app": lambda: _whole(bare, folder),
            "answer on the screen": lambda: _until_answer(ours, folder),
            "tracking=none, whole": lambda: _whole([*ours, "tracking=none"], folder),
            "tracking=none, pipeline": lambda: _whole([*ours, *PIPELINE, "tracking=none"], folder),
            "minimal MLflow script": lambda: _whole(minimal, folder),
            "recorded, whole": lambda: _whole(ours, folder),
            "recorded, pipeline": lambda: _whole([*ours, *PIPELINE], folder),
        }
        times: dict[str, list[float]] = {name: [] for name in table}
        for _ in range(ROUNDS):
            for name, measure in table.items():
                times[name].append(measure())
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"{'':24}{'median':>9}{'to bare Hydra':>16}{'to minimal MLflow':>20}")
    for name, value in median.items():
        hydra, mlflow = value / median["bare Hydra app"], value / median["minimal MLflow script"]
        print(f"{name:24}{value * 1000:>6.0f} ms{hydra:>15.2f}x{mlflow:>19.2f}x")
    for kind in ("tracking=none", "recorded"):
        ratio = median[f"{kind}, pipeline"] / median[f"{kind}, whole"]
        print(f"{kind}: with a pipeline {ratio:.2f}x the time of without (limit 1.1x)")


def _whole(command: list[str], folder: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=_environment(), check=True, capture_output=True)
    return time.perf_counter() - started


def _until_answer(command: list[str], folder: str) -> float:
    """Seconds until the last line of the answer arrives; what comes after it is waited for, not counted."""
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env=_environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if LAST_LINE_OF_ANSWER in line:
                elapsed = time.perf_counter() - started
    return elapsed


def _environment() -> dict[str, str]:
    """With byte code cached for every package alike, ours too."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return inherited | {"PYTHONPATH": str(ROOT), "MLFLOW_DISABLE_TELEMETRY": "true"}


if __name__ == "__main__":
    main()
