"""How long the optimum over all levels takes, against HyPar's plan of VGG-E at four levels.

`python -m benchmarks.planning`. Every row is a plan in process, the best of several; the ratio is to the first row.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

from hypar_exp import networks
from hypar_exp.networks import Network
from hypar_exp.planning import HyPar, Optimal, PlanningProblem, PlanningWarning
from hypar_exp.simulation import CostModel, HTree, load_accounting, load_hardware, memory_limit

BATCH = 256
AT_MOST_S = {4: 1e-3, 8: 15e-3, 10: 1.0}
"""Levels -> what the optimum of VGG-E may take."""


def main() -> None:
    warnings.simplefilter("ignore", PlanningWarning)  # a graph too entangled for the optimum is planned within a bound
    paper = _problem("vgg_e", 4)
    reference_s = _best_s(lambda: HyPar().plan(paper))
    print(f"{'':52}{'time':>12}{'limit':>10}{'ratio':>10}")

    def row(what: str, work: Callable[[], object], limit_s: float | None = None) -> float:
        seconds = _best_s(work)
        limit = "" if limit_s is None else f"{limit_s * 1e3:g} ms"
        print(f"{what:52}{seconds * 1e3:>9.2f} ms{limit:>10}{seconds / reference_s:>9.1f}x")
        return seconds

    row("hypar, vgg_e, 4 levels", lambda: HyPar().plan(paper), 1e-3)
    for levels in (4, 6, 8, 10, 12, 16):
        problem = _problem("vgg_e", levels)
        row(f"optimal, vgg_e, {levels} levels", lambda p=problem: Optimal().plan(p), AT_MOST_S.get(levels))  # type: ignore[misc]
    three = replace(paper, communication=load_accounting("accpar").communication)
    row("optimal over three splits, vgg_e, 4 levels", lambda: Optimal(types=("dp", "mp", "op")).plan(three))
    tight = _tight(paper)
    row("optimal in too little memory, vgg_e, 4 levels", lambda: Optimal().plan(tight))
    deep = _problem("resnet152", 4)
    row("hypar, resnet152, 4 levels", lambda: HyPar().plan(deep), 10e-3)
    for name in ("resnet152", "googlenet", "densenet121"):
        problem = _problem(name, 4)
        row(f"optimal, {name}, 4 levels", lambda p=problem: Optimal().plan(p))  # type: ignore[misc]
    print("\nlinear in layers, at 4 levels:")
    per_layer = []
    for layers in (20, 200, 2000):
        problem = replace(paper, network=_chain(layers))
        seconds = row(f"optimal, {layers} layers", lambda p=problem: Optimal().plan(p))  # type: ignore[misc]
        per_layer.append(seconds / layers)
    print(f"a layer of 2000 takes {per_layer[-1] / per_layer[0]:.2f} times as long as one of 20")


def _problem(name: str, levels: int) -> PlanningProblem:
    return PlanningProblem(networks.load(name), BATCH, levels, load_accounting().communication)


def _tight(problem: PlanningProblem) -> PlanningProblem:
    """A capacity in the middle between what VGG-E's optimum at 4 levels needs and what any plan needs."""
    limit = memory_limit(
        CostModel(problem.network, HTree(levels=problem.levels), load_hardware(), load_accounting(), BATCH)
    )
    return replace(problem, memory=replace(limit, capacity_bytes=1.07e9))


def _chain(layers: int) -> Network:
    """Convolutions of VGG-E in the order of the network, over and over."""
    convolutions = networks.load("vgg_e").layers[1:16]
    return Network.chain("long", tuple(convolutions[at % len(convolutions)] for at in range(layers)))


def _best_s(work: Callable[[], object], budget_s: float = 1.0, most: int = 100) -> float:
    work()  # once, so that what is remembered of a network's structure is there
    times: list[float] = []
    while len(times) < 3 or (sum(times) < budget_s and len(times) < most):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


if __name__ == "__main__":
    main()
