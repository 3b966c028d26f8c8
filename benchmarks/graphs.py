"""How long planning takes on the networks of conf/network, against VGG-E, which is a chain.

`python -m benchmarks.graphs`. Least processor time of several plans by `strategy=hypar` at 4 levels, on one core; the
first plan also works out in which order the layers are eliminated, which is remembered.
"""

from __future__ import annotations

import time

from hypar_exp import networks
from hypar_exp.planning import CommunicationModel, HyPar, PlanningProblem
from hypar_exp.planning.solvers.elimination import cached_elimination

LEVELS, BATCH, REPEATS = 4, 256, 7
REFERENCE = "vgg_e"
NETWORKS = (
    *(REFERENCE, "resnet18", "resnet50", "resnet152", "squeezenet", "mobilenet_v2", "googlenet", "inception_v3"),
    *("bert_base", "gpt2_small", "densenet121"),
)
AS_EVALUATED = CommunicationModel(
    within_layer={"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}},
    between_layers={"dp": {"mp": {"feature": 0.5, "error": 0.5}}},
)


def main() -> None:
    print(f"{'':14}{'layers':>8}{'edges':>8}{'first plan':>14}{'each after':>14}{'a layer, to ' + REFERENCE:>20}")
    reference = 0.0
    for name in NETWORKS:
        network = networks.load(name)
        problem = PlanningProblem(network, BATCH, LEVELS, AS_EVALUATED)
        first, after = [], []
        for _ in range(REPEATS):
            cached_elimination.cache_clear()
            first.append(_seconds(problem))
            after.append(_seconds(problem))
        reference = reference or min(after) / len(network.layers)
        print(
            f"{name:14}{len(network.layers):>8}{len(network.edges):>8}{1e3 * min(first):>11.1f} ms"
            f"{1e3 * min(after):>11.1f} ms{min(after) / len(network.layers) / reference:>19.1f}x"
        )


def _seconds(problem: PlanningProblem) -> float:
    started = time.process_time()
    HyPar().plan(problem)
    return time.process_time() - started


if __name__ == "__main__":
    main()
