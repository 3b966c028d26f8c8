"""A reading of the paper's printed model-parallelism bars: a choice that is forced against the planner counts half.

It is not in the paper's text; it was found by comparing totals (docs/reproduction.md says how far it goes). Level by
level, with the tensors as the choices above have shrunk them, the paper's Algorithm 1 is asked. A layer that has model
parallelism where the algorithm gives it data parallelism is *contested*, and is charged

- inside, the mean of what the two splits are charged;
- for an edge into it, half of what an edge from data to model parallelism is charged, whatever the producer's split;
  a contested convolution that reads the data pays that for its own input too;
- for an edge from it to a model-parallel layer that is not contested, what one from data parallelism is charged.

Its output R is measured as output channels x (input positions / pool^2): a stride and a border without padding are not
seen, and nothing is rounded. All else is charged as ever, so a plan of the paper's algorithm costs the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks import Network
from hypar_exp.planning import (
    Choices,
    CommunicationModel,
    PairAmounts,
    PlanCommunication,
    Split,
    choices_above,
    pair_amounts,
    partition_level,
    shard,
)

HALF = 0.5
"""What a contested layer counts of the split that it is forced to."""
UnlistedPools = Mapping[str, Mapping[str, int]]
"""Network -> layer -> the size of a pooling that the printed numbers need and the network's file has not."""


def contested_communication(
    network: Network,
    batch_size: float,
    model: CommunicationModel,
    plans: Choices,
    unlisted_pools: UnlistedPools,
) -> PlanCommunication:
    """What `plan_communication` says, with contested layers counted half.

    Args:
        network: the network that the plans are for.
        batch_size: samples a step.
        model: the coefficients of the amounts, over dp and mp.
        plans: uint8[plans, levels, layers].
        unlisted_pools: see `UnlistedPools`.

    Raises:
        UserError: a plan with another split, or a pool of a layer that is not there.
    """
    model.positions(plans)  # refuses other splits
    seen = contested_outputs(network, unlisted_pools.get(network.name, {})) / network.output_elements
    producers, consumers = network.edge_producers, network.edge_consumers
    first_convolutions = np.array([layer.kind == "conv" for layer in network.layers])
    first_convolutions[consumers] = False
    refetched = model.between[Split.DP, Split.MP].sum()
    within = np.empty(plans.shape)
    between = np.empty((*plans.shape[:2], len(network.edges)))
    layers, edges = np.arange(len(network.layers)), np.arange(len(network.edges))
    for level in range(plans.shape[1]):
        chosen = plans[:, level]
        counts, of_plan = _distinct(choices_above(plans)[:, level])
        amounts = pair_amounts(network, batch_size, model, counts)
        planned = np.array(
            [
                partition_level(network, PairAmounts(amounts.within[state], amounts.between[state]))
                for state in range(len(counts))
            ]
        )
        tensors = shard(network, batch_size, counts)
        contested = (chosen == Split.MP) & (planned[of_plan] == Split.DP)

        halved = HALF * (amounts.within[..., Split.DP] + amounts.within[..., Split.MP] * seen)
        halved += HALF * refetched * tensors.inputs * first_convolutions
        plain = amounts.within[of_plan[:, None], layers, chosen]
        within[:, level] = 2.0**level * np.where(contested, halved[of_plan], plain)

        fetched = amounts.between[..., Split.DP, Split.MP][of_plan]
        plain = amounts.between[of_plan[:, None], edges, chosen[:, producers], chosen[:, consumers]]
        from_contested = contested[:, producers] & (chosen[:, consumers] == Split.MP)
        charged = np.where(contested[:, consumers], HALF * fetched, np.where(from_contested, fetched, plain))
        between[:, level] = 2.0**level * charged
    return PlanCommunication(within, between)


def contested_outputs(network: Network, unlisted_pools: Mapping[str, int]) -> NDArray[np.float64]:
    """float64[layers]: elements of one sample of R, what a contested layer is taken to write.

    Raises:
        UserError: a pool of a layer that the network has not.
    """
    for name in unlisted_pools:
        if name not in network.layer_names:
            near = did_you_mean(name, network.layer_names)
            raise UserError(f"accounting.unlisted_pools.{network.name}: there is no layer '{name}'{near}")
    elements = network.output_elements.copy()
    for at, layer in enumerate(network.layers):
        if layer.kind == "conv":
            pooled = layer.output.positions
            pool = unlisted_pools.get(layer.name, max(1, round((layer.output_positions / pooled) ** 0.5)))
            elements[at] = layer.output.elements / pooled * layer.input.positions / pool**2
    return elements


def _distinct(counts: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """The states, uint8[states, layers, splits], that plans are in at a level, and which of them each plan is in."""
    states, of_plan = np.unique(counts.reshape(len(counts), -1), axis=0, return_inverse=True)
    return states.reshape(-1, *counts.shape[1:]), of_plan.reshape(-1)
