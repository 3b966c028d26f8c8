"""Sweeps into SQLite: 280 runs by each sweeper against naive logging, 2,000 runs a second by second, 10,000 in memory.

`python -m benchmarks.sweep [280] [2000] [10000]`: all three parts, or those that are named. Times are of whole
processes, from the shell to its prompt, into a database that is there already.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NETWORKS = "network=sfc,sconv,lenet_c,cifar_c,alexnet,vgg_a,vgg_b,vgg_c,vgg_d,vgg_e"
STRATEGIES = "strategy=dp,mp,trick,hypar"
SWEEP_280 = [NETWORKS, STRATEGIES, "array.levels=range(0,7)"]
SWEEP_2000 = [NETWORKS, STRATEGIES, "array.levels=range(0,5)", "batch_size=range(32,352,32)"]
SWEEP_10000 = [NETWORKS, STRATEGIES, "array.levels=range(0,5)", "batch_size=range(32,1632,32)"]
AIM = {"naive": 8.0, "empty": 1.2, "rate": 200.0, "memory": 1.0}

EMPTY_JOBS = f"""
import hydra
from hypar_exp.experiments.job import register
register()

@hydra.main(version_base="1.3", config_path={str(ROOT / "conf")!r}, config_name="config")
def app(job):
    pass

app()
"""

NAIVE = f"""
import hydra
from mlflow import MlflowClient
from hypar_exp.experiments.job import build_job, register
from hypar_exp.experiments.evaluation import evaluate
from hypar_exp.experiments.record import Origin, record_of, resolved
register()
client = MlflowClient("sqlite:///outputs/mlflow.db")

@hydra.main(version_base="1.3", config_path={str(ROOT / "conf")!r}, config_name="config")
def app(job):
    objects = build_job(job)
    result = evaluate(objects)
    record = record_of(resolved(job), [], 0, Origin(), objects, result)
    run = client.create_run("0", tags=dict(record.tags), run_name=record.name).info.run_id
    for key, value in record.params.items():
        client.log_param(run, key, value)
    for metric in record.metrics:
        client.log_metric(run, metric.key, metric.value, step=metric.step)
    for name, text in record.artifacts.items():
        client.log_text(run, text, name)
    client.set_terminated(run)

app()
"""


def main(parts: list[str]) -> None:
    print(f"{'':44}{'seconds':>9}{'runs/s':>9}   ratio")
    with tempfile.TemporaryDirectory() as folder:
        _timed(["-m", "hypar_exp", "network=sfc"], folder)  # makes the database, and warms the file cache
        if not parts or "280" in parts:
            _sweepers(folder)
        if not parts or "2000" in parts:
            seconds, _ = _timed(_batch(SWEEP_2000), folder)
            _row("batch, 2,000 runs", seconds, 2000, f"{2000 / seconds / AIM['rate']:.2f}x of {AIM['rate']:g} runs/s")
        if not parts or "10000" in parts:
            _scale(folder)


def _sweepers(folder: str) -> None:
    basic = ["-m", "hydra/sweeper=basic", *SWEEP_280]
    empty, _ = _timed(["-c", EMPTY_JOBS, *basic], folder)
    _row("Hydra's basic sweeper, 280 empty jobs", empty, 280, "")
    naive, _ = _timed(["-c", NAIVE, *basic], folder)
    _row("the same, one call of MLflow a value", naive, 280, f"{naive / empty:.1f}x the time of empty jobs")
    grid, _ = _timed(["-m", "hypar_exp", "-m", "hydra/sweeper=grid", *SWEEP_280], folder)
    _row("grid, 280 runs", grid, 280, f"{grid / empty:.2f}x the time of empty jobs (aim {AIM['empty']:g}x)")
    batch, _ = _timed(_batch(SWEEP_280), folder)
    _row("batch, 280 runs", batch, 280, f"{naive / batch:.1f}x as fast as naive logging (aim {AIM['naive']:g}x)")


def _scale(folder: str) -> None:
    first, _ = _timed(_batch(SWEEP_2000), folder)
    _row("batch, 2,000 runs", first, 2000, "")
    seconds, peak_gib = _timed(_batch(SWEEP_10000), folder)
    slower = (seconds / 10_000) / (first / 2000)
    _row("batch, 10,000 runs", seconds, 10_000, f"{slower:.2f}x the time a run; {peak_gib:.2f} GiB (aim 1 GiB)")
    page = _seconds_of_a_page(folder)
    print(f"{'a page of 100 of these runs, by step time':44}{page:>9.2f}")


def _batch(sweep: list[str]) -> list[str]:
    return ["-m", "hypar_exp", "-m", "hydra/sweeper=batch", *sweep]


def _seconds_of_a_page(folder: str) -> float:
    """What the MLflow UI asks for when it shows an experiment sorted by a metric, through MLflow's own store."""
    script = """
import time
from mlflow import MlflowClient
client = MlflowClient("sqlite:///outputs/mlflow.db")
client.search_runs(["1"], max_results=1)
begun = time.perf_counter()
page = client.search_runs(["1"], "metrics.step_time_s > 0", max_results=100, order_by=["metrics.step_time_s ASC"])
assert len(page) == 100
print(time.perf_counter() - begun)
"""
    return float(subprocess.check_output([sys.executable, "-c", script], cwd=folder, env=_environment(), text=True))


def _timed(command: list[str], folder: str) -> tuple[float, float]:
    """Seconds of a whole process, and the most memory of any process so far in GiB."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}


def _row(what: str, seconds: float, runs: int, ratio: str) -> None:
    print(f"{what:44}{seconds:>9.1f}{runs / seconds:>9.1f}   {ratio}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
