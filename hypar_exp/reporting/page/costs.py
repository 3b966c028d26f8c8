"""What a run's page recomputes its totals from: the costs of every state that a layer can be in, a few kB."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning import AmountTables, shard
from hypar_exp.simulation import AcceleratorArray, AcceleratorKind, Accounting, Hardware, kinds_of, memory_limit
from hypar_exp.simulation.energy import step_energy
from hypar_exp.simulation.time import communication_time_s, dram_time_s, mac_time_s


def page_costs(
    network: Network, array: AcceleratorArray, hardware: Hardware, accounting: Accounting, batch_size: int
) -> dict[str, Any]:
    """The costs as the page's script reads them.

    Returns:
        digits: [levels][splits], what a choice at a level adds to its layer's state for the levels below.
        edges: [edges], the producer and the consumer of each.
        kinds: for each kind of accelerators what its groups exchange and its accelerators take:
            within: [levels][layers][state x splits + choice], elements;
            between: [levels][edges][producer's choice x row + consumer's state x splits + its choice], elements;
            row: [levels]; seconds_per_byte: [levels]; element_bytes;
            arithmetic_time_s, dram_time_s, leaf_energy_j: [layers][states].
        joules_per_byte: of what is exchanged.
        kept_bytes, moment_bytes: [layers][states], what an accelerator needs: the sum and the largest; left out where
            memory is no such sum.
    """
    kinds = kinds_of(array, hardware)
    tables = [
        AmountTables(network, batch_size, accounting.communication, array.levels, (replace(kind.group, weight=1.0),))
        for kind in kinds
    ]
    one = step_energy(np.zeros(1), np.zeros(1), np.ones(1), hardware, accounting)
    costs: dict[str, Any] = {
        "digits": tables[0].digit_of.tolist(),
        "edges": [[edge.producer, edge.consumer] for edge in network.edges],
        "joules_per_byte": float(one.by_layer_j[0]) / hardware.element_bytes,
        "kinds": [
            _kind_costs(kind, table, network, array, accounting, batch_size)
            for kind, table in zip(kinds, tables, strict=True)
        ],
    }
    if len(kinds) == 1 and (network.is_chain or not accounting.forward_only):
        kept, moment = memory_limit(network, batch_size, hardware, accounting).per_layer(
            _leaf_counts(tables[0], network)
        )
        costs |= {"kept_bytes": kept.T.tolist(), "moment_bytes": moment.T.tolist()}
    return costs


def _kind_costs(
    kind: AcceleratorKind,
    tables: AmountTables,
    network: Network,
    array: AcceleratorArray,
    accounting: Accounting,
    batch_size: int,
) -> dict[str, Any]:
    splits = tables.digit_of.shape[1]
    share = kind.group.share_of_all(array.levels)
    count = kind.group.weight * 2**array.levels
    macs = accounting.macs_of_step(network, batch_size)
    traffic = accounting.dram_elements(shard(network, batch_size, _leaf_counts(tables, network)))
    nothing = np.zeros_like(traffic)
    energy = step_energy(count * share * macs + nothing, count * traffic, nothing, kind.hardware, accounting)
    reached = [_reached(tables.digit_of[:level]) for level in range(array.levels)]
    return {
        "element_bytes": kind.hardware.element_bytes,
        "seconds_per_byte": communication_time_s(np.ones(1), kind.link_bandwidth_bits_per_s, array.hop_factor).tolist(),
        "row": [states * splits for states in reached],
        "within": [
            (kind.group.weight * tables.within[level][:, : states * splits]).tolist()
            for level, states in enumerate(reached)
        ],
        "between": [
            (kind.group.weight * tables.between[level])
            .reshape(len(network.edges), splits, -1)[:, :, : states * splits]
            .reshape(len(network.edges), -1)
            .tolist()
            for level, states in enumerate(reached)
        ],
        "arithmetic_time_s": mac_time_s(macs, kind.hardware, 1 / share)[:, None].tolist(),
        "dram_time_s": _by_layer(dram_time_s(traffic, kind.hardware)),
        "leaf_energy_j": _by_layer(energy.by_layer_j),
    }


def _leaf_counts(tables: AmountTables, network: Network) -> NDArray[Any]:
    """number[states, layers, len(Split)]: what the choices above the leaf accelerators count."""
    return np.repeat(tables.leaf_counts[0][:, None], len(network.layers), axis=1)


def _reached(digits_above: NDArray[np.int64]) -> int:
    """How many states, by their numbers, a layer can be in below some levels."""
    return int(digits_above.max(axis=1).sum()) + 1 if len(digits_above) else 1


def _by_layer(by_state: NDArray[np.float64]) -> list[list[float]]:
    """[layers][states] of float64[states, layers]; one entry where all states cost the same."""
    return [row.tolist() if (row != row[0]).any() else row[:1].tolist() for row in by_state.T]
