"""What one stage of a pipeline takes, exchanges and holds on its own accelerators, for each micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning import AmountTables, ShardedTensors, Stage
from hypar_exp.simulation.accounting import PHASES
from hypar_exp.simulation.cost_model import CostModel, KindCosts
from hypar_exp.simulation.energy import StepEnergy
from hypar_exp.simulation.interconnect.links import Interconnect, Links
from hypar_exp.simulation.topology import AcceleratorArray


@dataclass(frozen=True)
class StageArray:
    """A stage's part of an array.

    Attributes:
        whole: the array.
        levels: of a stage of 2^levels accelerators.
    """

    whole: AcceleratorArray
    levels: int

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def hop_factor(self) -> float:
        return self.whole.hop_factor


@dataclass(frozen=True)
class StageLinks:
    """The links of an array's interconnect that a stage exchanges over.

    Attributes:
        interconnect: of the whole array.
        array: the whole array.
        at_levels: the array's levels at which the stage's layers are split.
    """

    interconnect: Interconnect
    array: AcceleratorArray
    at_levels: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.interconnect.name

    @property
    def energy_per_hop(self) -> bool:
        return self.interconnect.energy_per_hop

    def links(self, array: AcceleratorArray, bandwidth_bits_per_s: NDArray[np.float64]) -> Links:
        """Those of the stage's levels; all levels of the array have the rate of the accelerators' links."""
        rates = np.full(self.array.levels, bandwidth_bits_per_s[0] if len(bandwidth_bits_per_s) else 1.0)
        return self.interconnect.links(self.array, rates).of_stage(self.at_levels)


def stage_costs(
    model: CostModel,
    layers: Sequence[int],
    levels: tuple[int, ...],
    micro_batches: int,
    batch_size: float | None = None,
) -> CostModel:
    """The cost model of a micro-batch of some layers on accelerators that are split at some levels of the array.

    It computes nothing again: a pipeline's timeline does that, as its plan says.

    Args:
        model: the whole step.
        layers: of the stage.
        levels: of the array, at which they are split.
        micro_batches: of a batch.
        batch_size: of the stage's accelerators; None for the whole step's.

    Raises:
        UserError: the array has several kinds of accelerators.
    """
    model.only_kind("a pipeline")
    return CostModel(
        part_of(model.network, layers),
        StageArray(model.array, len(levels)),
        model.hardware,
        model.accounting,
        (model.batch_size if batch_size is None else batch_size) / micro_batches,
        StageLinks(model.interconnect, model.array, levels),
        model.memory_model.recomputing("none"),
    )


def part_of(network: Network, layers: Sequence[int]) -> Network:
    """Some layers of a network, in their order, and the edges between them."""
    return network if len(layers) == len(network.layers) else network.part(layers)


@dataclass(frozen=True, eq=False)
class StageModel:
    """A stage under its plan; seconds, elements and bytes are of one micro-batch unless they say otherwise.

    Attributes:
        model: the whole step.
        stage: the layers, their accelerators and splits.
        micro_batches: of a step.
    """

    model: CostModel
    stage: Stage
    micro_batches: int

    @cached_property
    def costs(self) -> KindCosts:
        return stage_costs(self.model, self.stage.layers, self.stage.levels, self.micro_batches).kinds[0]

    @cached_property
    def leaf(self) -> ShardedTensors:
        """One accelerator's share of every tensor of a micro-batch."""
        return self.costs.leaf(self.costs.kind.group.leaf_counts(self.stage.splits))

    @cached_property
    def compute_s(self) -> dict[str, NDArray[np.float64]]:
        """Phase -> float64[layers]: the roofline of each layer, divided over the phases by the side that binds."""
        dram_s = self.costs.dram_time_of_phases_s(self.leaf)
        phases = self.model.accounting.phases
        arithmetic_s = self.costs.arithmetic_time_s(self.leaf)
        bound_by_dram = sum(dram_s.values(), np.zeros_like(arithmetic_s)) > arithmetic_s
        return {phase: np.where(bound_by_dram, dram_s[phase], arithmetic_s / len(phases)) for phase in phases}

    @cached_property
    def exchanged(self) -> dict[str, NDArray[np.float64]]:
        """Phase -> float64[levels, layers]: elements that the stage's accelerators exchange among themselves."""
        return {phase: self._by_layer(tables) for phase, tables in self._tables.items()}

    def _by_layer(self, tables: AmountTables) -> NDArray[np.float64]:
        """float64[levels, layers]: what tables say of the stage's splits; an edge's part counts for its consumer."""
        amounts = tables.look_up(self.stage.splits[None])
        by_layer: NDArray[np.float64] = amounts.within[0].copy()
        np.add.at(by_layer.T, self.costs.model.network.edge_consumers, amounts.between[0].T)
        return by_layer

    @cached_property
    def exchange_by_layer_s(self) -> dict[str, NDArray[np.float64]]:
        """Phase -> float64[layers, levels]: seconds of these exchanges, one after the other."""
        element_bytes, links = self.costs.hardware.element_bytes, self.costs.links
        seconds = {}
        for phase, tables in self._tables.items():
            tensors = self._by_layer(tables.counting()).T if links.has_latency else None
            seconds[phase] = links.time_s(self.exchanged[phase].T * element_bytes, tensors)
        return seconds

    @property
    def exchange_s(self) -> dict[str, NDArray[np.float64]]:
        """The same of all layers: phase -> float64[levels]."""
        return {phase: seconds.sum(axis=0) for phase, seconds in self.exchange_by_layer_s.items()}

    @property
    def exchange_of_step_s(self) -> NDArray[np.float64]:
        """float64[levels]: seconds of all exchanges inside the stage in a step."""
        total = np.zeros(len(self.stage.levels))
        for phase, seconds in self.exchange_s.items():
            total += self.repeats[phase] * seconds
        return total

    @cached_property
    def _tables(self) -> dict[str, AmountTables]:
        whole = self.model.tables_of_phases(len(self.stage.levels), self.micro_batches)
        return {phase: tables.part(self.stage.layers, self.costs.model.network) for phase, tables in whole.items()}

    @cached_property
    def repeats(self) -> dict[str, int]:
        """Phase -> how often a step has its exchanges."""
        return {phase: 1 if phase == PHASES[-1] else self.micro_batches for phase in self.model.accounting.phases}

    @cached_property
    def exchanged_in_step(self) -> NDArray[np.float64]:
        """float64[levels, layers]: elements that the stage's accelerators exchange among themselves in a step."""
        total = np.zeros((len(self.stage.levels), len(self.stage.layers)))
        for phase, amounts in self.exchanged.items():
            total += self.repeats[phase] * amounts
        return total

    def duration_s(self, phase: str) -> tuple[float, float]:
        """Compute and exchange of a phase; nothing where the step does not have it."""
        if phase not in self.model.accounting.phases:
            return 0.0, 0.0
        return float(self.compute_s[phase].sum()), float(self.exchange_s[phase].sum())

    @property
    def recompute_by_layer_s(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same by layer, float64[layers]."""
        again = self._repeated_forward
        compute_s = self.compute_s["forward"] * again
        if self.stage.recompute != "full" or not again.any():
            return compute_s, np.zeros_like(compute_s)
        return compute_s, self.exchange_by_layer_s["forward"].sum(axis=1)

    @property
    def recompute_s(self) -> tuple[float, float]:
        """Compute and exchange of what is computed again in the backward pass of a micro-batch."""
        if self.stage.recompute == "none" or self.model.accounting.forward_only:
            return 0.0, 0.0
        compute, exchange = self.duration_s("forward")
        if self.stage.recompute == "full":
            return compute, exchange
        return float((self.compute_s["forward"] * self._repeated_forward).sum()), 0.0

    def energy_of_step(self) -> StepEnergy:
        """Joules of the stage's accelerators in a step; what crosses to other stages is not in it."""
        again = self._repeated_forward
        exchanged = self.exchanged_in_step + self.micro_batches * (again == 1).all() * self.exchanged["forward"]
        one = self.costs.leaf_energy(self.leaf)
        phases = len(self.model.accounting.phases)
        forward = self.costs.forward_dram_energy_j(self.leaf)
        communication = self.costs.leaf_energy(self.leaf, (exchanged * self.costs.energy_hops[:, None]).sum(axis=0))
        times = self.micro_batches
        return StepEnergy(
            mac_j=times * one.mac_j * (1 + again / phases),
            sram_j=times * one.sram_j * (1 + again / phases),
            dram_j=times * (one.dram_j + again * forward),
            communication_j=communication.communication_j,
        )

    @property
    def _repeated_forward(self) -> NDArray[np.float64]:
        """float64[layers]: how much of the forward phase is computed again."""
        return self.model.accounting.computed_again(self.costs.model.network, self.stage.recompute)
