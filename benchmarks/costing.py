"""How long planning and costing take in process, against costing one plan with a plain loop.

`python -m benchmarks.costing`. The loop is the communication model as one would write it first, plan by plan and layer
by layer.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

from hypar_exp import networks
from hypar_exp.networks import Network
from hypar_exp.planning import Choices, HyPar, PlanningProblem, level_communication
from hypar_exp.simulation import load_accounting

BATCH, LEVELS, PLANS = 256, 4, 1_000_000


def main() -> None:
    model = load_accounting().communication
    vgg_a, vgg_e = networks.load("vgg_a"), networks.load("vgg_e")
    random = np.random.default_rng(0)
    plans = random.integers(0, 2, (PLANS, LEVELS, len(vgg_a.layers)), dtype=np.uint8)
    problem = PlanningProblem(vgg_e, BATCH, LEVELS, model)

    loop_s = _median_s(lambda: [_cost_by_loop(vgg_a, plan) for plan in plans[:200]], rounds=5) / 200
    planning_s = _median_s(lambda: HyPar().plan(problem), rounds=50)
    before = _peak_bytes()
    costing_s = _median_s(lambda: level_communication(vgg_a, BATCH, model, plans), rounds=3)
    grown = _peak_bytes() - before

    print(f"{'':44}{'time':>12}{'limit':>10}{'against the loop':>20}")
    print(f"{'one plan of vgg_a, plain loop':44}{loop_s * 1e6:>9.0f} us{'':>10}{1:>19.1f}x")
    print(f"{'planning vgg_e at 4 levels':44}{planning_s * 1e3:>9.2f} ms{'1 ms':>10}{planning_s / loop_s:>19.1f}x")
    per_plan = costing_s / PLANS / loop_s
    print(
        f"{'costing 1,000,000 plans of vgg_a at 4 levels':44}{costing_s:>9.2f} s {'1 s':>10}{per_plan:>18.4f}x a plan"
    )
    print(f"peak memory: {_peak_bytes() / 1e9:.2f} GB in all (limit 1.07 GB), {grown / 1e6:.0f} MB of it while costing")


def _cost_by_loop(network: Network, plan: Choices) -> float:
    total = 0.0
    for level in range(len(plan)):
        for at, layer in enumerate(network.layers):
            batch_share = 0.5 ** sum(1 for choice in plan[:level, at] if choice == 0)
            channel_share = 0.5 ** sum(1 for choice in plan[:level, at] if choice == 1)
            if plan[level, at] == 0:
                amount = 2 * layer.weights * channel_share
            else:
                amount = 2 * BATCH * layer.output.elements * batch_share
                if at > 0 and plan[level, at - 1] == 0:
                    amount += BATCH * layer.input.elements * batch_share * channel_share
            total += 2**level * amount
    return total


def _median_s(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
