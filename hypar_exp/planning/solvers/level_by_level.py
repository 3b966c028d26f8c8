"""The paper's two algorithms: dynamic programming over the layers of one level, and over the levels of the array."""

from __future__ import annotations

import numpy as np

from hypar_exp.networks import Network
from hypar_exp.planning.cost.communication import CommunicationModel, PairAmounts, mean_amounts
from hypar_exp.planning.cost.device_groups import EVEN, Kinds, recut_factors, uneven_levels
from hypar_exp.planning.plan import Choices, Split
from hypar_exp.planning.solvers.elimination import cached_elimination, warn_of_bound
from hypar_exp.planning.solvers.minimum_cut import least_cut


def partition_level(network: Network, amounts: PairAmounts) -> Choices:
    """The splits of one level that exchange least (Algorithm 1); ties go to the split of the lowest number.

    A chain is planned by the paper's dynamic programming, any other graph by a minimum cut where the accounting allows
    it (the paper's do), and else by eliminating one layer after the other; on a chain all three are the same. Where a
    graph is too entangled for the last, the plan is the best that was found, and a `PlanningWarning` says how far from
    the best it can be.

    Args:
        network: a graph of layers.
        amounts: within float64[layers, splits], between float64[edges, splits, splits], of one level.

    Returns:
        uint8[layers], positions on the amounts' axes of splits.
    """
    if network.is_chain:
        return _partition_chain(amounts)
    ends = [(edge.producer, edge.consumer) for edge in network.edges]
    choices = least_cut(amounts.within, amounts.between, ends)
    if choices is not None:
        return choices
    layers, splits = amounts.within.shape
    scopes = (*((layer,) for layer in range(layers)), *ends)
    least = cached_elimination((splits,) * layers, scopes).minimise([*amounts.within, *amounts.between])
    warn_of_bound(f"network {network.name}", least.cost.real, least.bound.real)
    return np.array(least.states, dtype=np.uint8)


def _partition_chain(amounts: PairAmounts) -> Choices:
    within, between = amounts.within.tolist(), amounts.between.tolist()
    splits = range(len(within[0]))
    least = within[0]
    best_producers: list[list[int]] = []
    for cost, transition in zip(within[1:], between, strict=True):
        arriving = [[least[producer] + transition[producer][split] for producer in splits] for split in splits]
        best_producers.append([min(splits, key=row.__getitem__) for row in arriving])
        least = [min(row) + cost[split] for split, row in enumerate(arriving)]
    choice = min(splits, key=least.__getitem__)
    choices = [choice]
    for best in reversed(best_producers):
        choice = best[choice]
        choices.append(choice)
    return np.array(choices[::-1], dtype=np.uint8)


def partition_hierarchy(
    network: Network, batch_size: float, levels: int, model: CommunicationModel, kinds: Kinds = EVEN
) -> Choices:
    """Algorithm 1 level by level, each on the tensors as the levels above have shrunk them (Algorithm 2).

    The choice is among the splits that the model prices. Where groups are of several kinds, they choose together.

    Returns:
        uint8[levels, layers].
    """
    uneven = uneven_levels(kinds, levels)
    halvings = [kind.halvings(levels) for kind in kinds]
    counts = [np.zeros((len(network.layers), len(Split)), dtype=of_kind.dtype) for of_kind in halvings]
    plan = np.zeros((levels, len(network.layers)), dtype=np.uint8)
    splits = np.array(model.splits, dtype=np.uint8)
    for level in range(levels):
        amounts = mean_amounts(network, batch_size, model, kinds, counts)
        if level in uneven:
            amounts.between[...] *= recut_factors(model.splits, kinds[0].share(level))
        plan[level] = splits[partition_level(network, amounts)]
        for of_kind, counted in zip(counts, halvings, strict=True):
            of_kind[np.arange(len(network.layers)), plan[level]] += counted[level]
    return plan
