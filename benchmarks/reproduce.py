"""How long the reproduction of the paper takes, against one recorded run of the main job.

`python -m benchmarks.reproduce`. Everything is done in a folder of its own, from an empty database; the processes run
one after the other, so a machine that is busy with something else shows more than it takes.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hypar_exp import networks
from hypar_exp.planning import Explore, Fixed, HyPar, PlanningProblem
from hypar_exp.simulation import CostModel, HTree, PlanCosts, load_accounting, load_hardware

ROOT = Path(__file__).resolve().parent.parent
LEVELS, BATCH, ROUNDS = 4, 256, 50


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        reproduce = [sys.executable, "-m", "hypar_exp.reproduce"]
        first = _command(folder, [*reproduce, "all"])
        second = _command(folder, [*reproduce, "all"])
        one = _command(folder, [*reproduce, "fig06"])
        reference = _command(folder, [sys.executable, "-m", "hypar_exp", "network=vgg_e"])
    rows = [
        ("one recorded run of vgg_e (the reference)", *reference, ""),
        ("reproduce all, from an empty database", *first, "60 s"),
        ("reproduce all, nothing to run", *second, "10 s"),
        ("reproduce fig06, nothing to run", *one, ""),
    ]
    print(f"{'':44}{'time':>11}{'processor':>12}{'limit':>9}{'to the reference':>19}")
    for words, wall_s, processor_s, limit in rows:
        ratio = wall_s / reference[0]
        print(f"{words:44}{wall_s:>9.1f} s{processor_s:>10.1f} s{limit:>9}{ratio:>18.1f}x")
    print(f"{'the 256 plans of figure 9, planned and costed':44}{_figure_9_s() * 1e3:>8.2f} ms{'':>12}{'10 ms':>9}")


def _command(folder: str, command: list[str]) -> tuple[float, float]:
    """Seconds of one command: by the clock, and of the processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _figure_9_s() -> float:
    """Seconds to cost figure 9's plans as its run does, with the strategies that it places among them."""
    network, array = networks.load("lenet_c"), HTree(levels=LEVELS)
    accounting = load_accounting()
    explore = Explore(HyPar(), Fixed("dp", "dp"), [Fixed("mp", "mp"), HyPar()], levels=[1, 4])

    def work() -> None:
        costs = PlanCosts(CostModel(network, array, load_hardware(), accounting, BATCH))
        found = explore.explore(PlanningProblem(network, BATCH, LEVELS, accounting.communication, simulator=costs))
        assert found.exploration is not None
        assert found.exploration.costed == 256

    return _median_s(work)


def _median_s(work: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
