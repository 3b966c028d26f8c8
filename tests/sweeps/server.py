"""An MLflow server that a test can kill and start again."""

from __future__ import annotations

import contextlib
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


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def mlflow_server(database: Path, port: int) -> Iterator[str]:
    """A server on a SQLite database, its artifacts beside it, that answers; gives its address, ends without notice."""
    address = f"http://127.0.0.1:{port}"
    stores = ["--backend-store-uri", f"sqlite:///{database}", "--artifacts-destination", str(database.parent / "files")]
    with subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", *stores, "--port", str(port), "--workers", "1"],
        cwd=database.parent,
        env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as server:
        try:
            _wait_for(f"{address}/health")
            yield address
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def _wait_for(address: str) -> None:
    for _ in range(240):
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.5)
    raise AssertionError(f"{address} does not answer")
