"""Launchers that need more than the ordinary environment: a SLURM of one node, and a Ray cluster of this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Command, program_environment
from tests.sweeps.server import free_port
from tests.sweeps.store import SLOW, children, finished_once, parents, start, started, wait_until

pytestmark = pytest.mark.slow
DAEMONS = ("munged", "slurmctld", "slurmd")
SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a SLURM cluster of one node, this machine, from Debian's slurm-wlm."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    if os.getuid() != 0 or any(shutil.which(daemon, path=path) is None for daemon in DAEMONS):
        pytest.skip("needs root and Debian's slurm-wlm and munge (apt-get install slurm-wlm)")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    ports = [free_port(), free_port()]
    settings = SLURM_CONF.format(
        host=socket.gethostname().partition(".")[0],
        folder=folder, controller_port=ports[0], node_port=ports[1], cpus=os.cpu_count(),
    )  # fmt: skip
    (folder / "slurm.conf").write_text(settings)
    environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}
    key = folder / "munge.key"
    subprocess.run(["mungekey", "-c", "-k", str(key)], env=os.environ | environment, check=True)
    munge_files = {"key-file": key, **{f"{name}-file": folder / f"munge.{name}" for name in ("pid", "log", "seed")}}
    munge = ["munged", "--force", "--foreground", f"--socket={folder}/munge.socket"]
    commands = (
        [*munge, *(f"--{name}={file}" for name, file in munge_files.items())],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    )
    with contextlib.ExitStack() as stack:
        for command in commands:
            stack.enter_context(_daemon(command, folder, os.environ | environment))
            time.sleep(1)
        wait_until(lambda: "idle" in _output(["sinfo", "-h", "-o", "%T"], os.environ | environment))
        yield environment


def test_slurm_runs_a_sweep_and_an_interrupted_one_leaves_nothing_in_the_queue(
    slurm: dict[str, str], command: Command, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    environment = slurm | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    arguments = (
        "-m", "strategy=dp", "strategy._target_=slow.Slow", "++strategy.seconds=3", "baseline=null",
        "network=sfc,lenet_c", "array.levels=1,2", "hydra/launcher=submitit_slurm", "hydra.launcher.cpus_per_task=1",
    )  # fmt: skip
    with start(tmp_path, *arguments, **environment) as sweep:
        wait_until(lambda: started(tmp_path) >= 1, seconds=120)
        sweep.send_signal(signal.SIGTERM)
        _, errors = sweep.communicate(timeout=120)
    assert sweep.returncode == 143, errors
    assert errors.endswith("hypar_exp: terminated\n")
    assert [run.status for run in parents(tmp_path)] == ["KILLED"]
    assert {run.status for run in children(tmp_path)} == {"KILLED"}
    wait_until(lambda: _output(["squeue", "-h"], os.environ | slurm) == "")

    command(*arguments, "resume=true", timeout=300, **environment)
    finished_once(tmp_path, 4)
    (parent,) = parents(tmp_path)
    assert parent.status == "FINISHED"
    assert {run.parent for run in children(tmp_path)} == {parent.run_id}


def test_what_slurm_still_runs_of_a_killed_sweep_is_not_run_again(
    slurm: dict[str, str], command: Command, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    environment = slurm | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    arguments = (
        "-m", "strategy=dp", "strategy._target_=slow.Slow", "++strategy.seconds=3", "baseline=null",
        "network=lenet_c", "array.levels=1,2,3", "hydra/launcher=submitit_slurm", "hydra.launcher.cpus_per_task=1",
    )  # fmt: skip
    with start(tmp_path, *arguments, **environment) as sweep:
        wait_until(lambda: started(tmp_path) >= 1, seconds=120)
        sweep.kill()  # the head alone; what waits in the queue goes on as well
        sweep.wait()
    printed = command(*arguments, "resume=true", timeout=300, **environment).stdout
    assert "jobs of it are still at work; waiting for them" in printed
    assert "All 3 runs are finished already" in printed
    assert started(tmp_path) == 3
    finished_once(tmp_path, 3)


def test_a_local_ray_cluster_runs_a_sweep(tmp_path: Path) -> None:
    python = _ray_environment()
    arguments = ("-m", "network=sfc,lenet_c", "strategy=dp,hypar", "hydra/launcher=ray")
    done = subprocess.run(
        [python, "-m", "hypar_exp", *arguments],
        cwd=tmp_path,
        env=program_environment(HOME=str(tmp_path), RAY_USAGE_STATS_ENABLED="0"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 done, 0 failed, 0 left" in done.stdout
    finished_once(tmp_path, 4)
    (parent,) = parents(tmp_path)
    assert {run.parent for run in children(tmp_path)} == {parent.run_id}


def _ray_environment() -> str:
    """The interpreter of an environment with the extra `ray`: its launcher holds an old cloudpickle, so it is apart."""
    if "HYPAR_EXP_RAY_PYTHON" in os.environ:
        return os.environ["HYPAR_EXP_RAY_PYTHON"]
    folder = ROOT / "outputs" / "environments" / "ray"
    python = folder / "bin" / "python"
    if subprocess.run([python, "-c", "import ray"], check=False).returncode if python.exists() else True:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        installed = subprocess.run([python, "-m", "pip", "install", "-q", f"{ROOT}[ray]"], check=False)
        if installed.returncode != 0:
            pytest.skip("the extra 'ray' cannot be installed here")
    return str(python)


@contextlib.contextmanager
def _daemon(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    with (
        (folder / f"{command[0]}.log").open("w") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _output(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
