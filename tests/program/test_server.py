"""Recording on a real MLflow server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient

from tests.conftest import Command


@pytest.fixture(scope="module")
def server(new_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an MLflow server of the test's own, on a database of its own."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "mlflow.db").write_bytes(new_database.read_bytes())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = ["mlflow", "server", "--host", "127.0.0.1", "--port", port, "--workers", "1"]
    stores = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder / "files")]
    process = subprocess.Popen(
        [sys.executable, "-m", *command, *stores],
        cwd=folder,
        env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def test_a_run_is_recorded_on_a_server(server: str, command: Command, tmp_path: Path) -> None:
    printed = command("network=lenet_c", "tracking=server", f"tracking.uri={server}").stdout
    assert f"Recorded in {server}" in printed
    client = MlflowClient(server)
    experiment = client.get_experiment_by_name("hypar_exp")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert f"{server}/#/experiments/{experiment.experiment_id}/runs/{run.info.run_id}" in printed
    assert run.info.status == "FINISHED"
    assert run.data.metrics["speedup"] == pytest.approx(3.05, abs=0.005)  # figure 6
    names = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert {"config.yaml", "plan.csv", "plan.svg", "layers.csv"} <= names
    local = client.download_artifacts(run.info.run_id, "plan.csv", str(tmp_path))
    assert Path(local).read_text().splitlines()[:2] == ["level,conv1,conv2,fc1,fc2", "H1,0,0,1,1"]


def test_a_table_of_the_paper_is_reproduced_on_a_server(server: str, command: Command) -> None:
    where = ("tracking=server", f"tracking.uri={server}")
    printed = command("fig13", *where, module="hypar_exp.reproduce").stdout
    assert "of 14 published values 10 equal, 3 within 1 %, 1 within 3 %" in printed
    assert "making" not in command("fig13", *where, module="hypar_exp.reproduce").stdout
    client = MlflowClient(server)
    experiment = client.get_experiment_by_name("hypar_exp")
    assert experiment is not None
    (parent,) = client.search_runs([experiment.experiment_id], "tags.kind = 'sweep'")
    assert parent.data.metrics["max_relative_difference"] == pytest.approx(1 - 2.369565 / 2.40, abs=1e-5)
    assert {"fig13.csv", "fig13.png", "fig13.svg"} <= {file.path for file in client.list_artifacts(parent.info.run_id)}


def _wait_for(address: str) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    raise AssertionError(f"{address} does not answer")
