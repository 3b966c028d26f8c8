"""What a run's page recomputes its totals from: the costs of every state that a layer can be in, a few kB."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypar_exp.planning import AmountTables
from hypar_exp.simulation import CostModel, KindCosts, memory_limit
from hypar_exp.simulation.energy import step_energy


def page_costs(model: CostModel) -> dict[str, Any]:
    """The costs as the page's script reads them.

    Returns:
        digits: [levels][splits], what a choice at a level adds to its layer's state for the levels below.
        edges: [edges], the producer and the consumer of each.
        kinds: for each kind of accelerators what its groups exchange and its accelerators take:
            elements: within and between, see `_rows`; tensors: the same counted, where an exchange has a latency;
            row, seconds_per_byte, seconds_per_tensor, joules_per_byte: [levels]; element_bytes;
            arithmetic_time_s, dram_time_s, leaf_energy_j: [layers][states].
        kept_bytes, moment_bytes: [layers][states], what an accelerator needs: the sum and the largest; left out where
            memory is no such sum.
    """
    network = model.network
    costs: dict[str, Any] = {
        "digits": model.kinds[0].tables.digit_of.tolist(),
        "edges": [[edge.producer, edge.consumer] for edge in network.edges],
        "kinds": [_kind_costs(kind) for kind in model.kinds],
    }
    adds_up = network.is_chain if model.accounting.forward_only else model.memory_model.adds_up(network)
    if len(model.kinds) == 1 and adds_up:
        kept, moment = memory_limit(model).per_layer(model.kinds[0].state_counts)
        costs |= {"kept_bytes": kept.T.tolist(), "moment_bytes": moment.T.tolist()}
    return costs


def _kind_costs(costs: KindCosts) -> dict[str, Any]:
    tables, leaf, levels = costs.tables, costs.leaf_of_states, costs.model.array.levels
    reached = [_reached(tables.digit_of[:level]) for level in range(levels)]
    none = np.zeros(levels)
    exchanged = step_energy(none, none, costs.energy_hops, costs.hardware, costs.model.accounting)
    page = {
        "element_bytes": costs.hardware.element_bytes,
        "seconds_per_byte": costs.links.time_s(np.ones(levels)).tolist(),
        "seconds_per_tensor": costs.links.latency_of_level_s.tolist(),
        "joules_per_byte": (exchanged.by_layer_j / costs.hardware.element_bytes).tolist(),
        "row": [states * tables.digit_of.shape[1] for states in reached],
        "elements": _rows(tables, reached, costs.kind.group.weight),
        "arithmetic_time_s": _by_layer(np.atleast_2d(costs.arithmetic_time_s(leaf))),
        "dram_time_s": _by_layer(costs.dram_time_s(leaf)),
        "leaf_energy_j": _by_layer(costs.leaf_energy(leaf).by_layer_j),
    }
    if costs.links.has_latency:
        page["tensors"] = _rows(tables.counting(), reached, 1.0)
    return page


def _rows(tables: AmountTables, reached: list[int], weight: float) -> dict[str, Any]:
    """The tables of the states that are reached.

    Returns:
        within: [levels][layers][state x splits + choice];
        between: [levels][edges][producer's choice x row + consumer's state x splits + its choice].
    """
    edges, splits = tables.between.shape[1], tables.digit_of.shape[1]
    return {
        "within": [
            (weight * tables.within[level][:, : states * splits]).tolist() for level, states in enumerate(reached)
        ],
        "between": [
            (weight * tables.between[level])
            .reshape(edges, splits, -1)[:, :, : states * splits]
            .reshape(edges, -1)
            .tolist()
            for level, states in enumerate(reached)
        ],
    }


def _reached(digits_above: NDArray[np.int64]) -> int:
    """How many states, by their numbers, a layer can be in below some levels."""
    return int(digits_above.max(axis=1).sum()) + 1 if len(digits_above) else 1


def _by_layer(by_state: NDArray[np.float64]) -> list[list[float]]:
    """[layers][states] of float64[states, layers]; one entry where all states cost the same."""
    return [row.tolist() if (row != row[0]).any() else row[:1].tolist() for row in by_state.T]
