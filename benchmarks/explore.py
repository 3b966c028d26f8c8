"""How many plans a second an exploration costs, against the simulator on one plan after the other.

`python -m benchmarks.explore`. Each row explores as `strategy=explore` does (best plans, distribution, known
strategies), on one core, counting processor time; the reference simulates plans of the same space one at a time.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace

from hypar_exp import networks
from hypar_exp.planning import Explore, Fixed, HyPar, PlanningProblem, PlanSpace
from hypar_exp.simulation import CostModel, HTree, PlanCosts, load_accounting, load_hardware, simulate

LEVELS, BATCH = 4, 256
SIMULATED = 300
CASES = {"lenet_c": None, "cifar_c": None, "alexnet": 4_000_000, "vgg_a": 4_000_000, "vgg_e": 2_000_000}
"""Network -> plans to draw from its space, None for all of it."""


def main() -> None:
    hardware, accounting = load_hardware(), load_accounting()
    array = HTree(levels=LEVELS)
    explore = Explore(HyPar(), Fixed("dp", "dp"), [Fixed("mp", "mp"), HyPar()])
    print(f"{'':10}{'plans':>12}{'plans/s':>14}{'to one at a time':>20}{'peak memory':>14}")
    for name, samples in CASES.items():
        network = networks.load(name)
        costs = PlanCosts(CostModel(network, array, hardware, accounting, BATCH))
        problem = PlanningProblem(network, BATCH, LEVELS, accounting.communication, simulator=costs)
        space: PlanSpace = explore.space(problem)
        plans = next(space.samples(SIMULATED, seed=0))
        started = time.process_time()
        for plan in plans:
            simulate(network, plan, array, hardware, accounting, BATCH)
        one_at_a_time = SIMULATED / (time.process_time() - started)
        started = time.process_time()
        exploration = replace(explore, samples=samples).explore(problem).exploration
        assert exploration is not None
        rate = exploration.costed / (time.process_time() - started)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:10}{exploration.costed:>12,}{rate:>14,.0f}{rate / one_at_a_time:>19,.0f}x{memory:>10.0f} MiB")


if __name__ == "__main__":
    main()
