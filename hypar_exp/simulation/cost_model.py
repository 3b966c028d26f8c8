"""What a step costs on an array: the one place that the simulator, the objectives and the planners all ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.planning import AmountTables, Choices, Kinds, PlanCommunication, ShardedTensors, shard
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.contested import contested_communication
from hypar_exp.simulation.energy import StepEnergy, step_energy
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.hetero import AcceleratorKind, kinds_of
from hypar_exp.simulation.interconnect.links import Interconnect, Links
from hypar_exp.simulation.interconnect.shared import SharedLink
from hypar_exp.simulation.memory_model import MemoryModel
from hypar_exp.simulation.time import compute_time_s, dram_time_s, mac_time_s
from hypar_exp.simulation.topology import AcceleratorArray, accelerators

SHARED = SharedLink()
"""The paper's link rule."""
PAPER = MemoryModel()
"""Every element in the hardware's size, no optimizer states, and of activations what layers and products read."""


@dataclass(frozen=True)
class CostModel:
    """A step of a network on an array: what it takes, costs and holds, by layer and state.

    A layer's state is how often each split was chosen for it above the leaf accelerators.

    Attributes:
        network: the network.
        array: 2^levels accelerators and their topology.
        hardware: one accelerator; the first kind's where the array has several.
        accounting: what the step is charged for.
        batch_size: samples a step; where 2^levels does not divide it, shares are fractions of a sample.
        interconnect: what the exchanges cross.
        memory_model: what training keeps, in how many bytes, and what it computes again.

    Raises:
        UserError: a batch that is no number above zero; a micro-batch may be a part of a sample.
    """

    network: Network
    array: AcceleratorArray
    hardware: Hardware
    accounting: Accounting
    batch_size: float = 256
    interconnect: Interconnect = SHARED
    memory_model: MemoryModel = PAPER

    def __post_init__(self) -> None:
        require_number("", self, "batch_size")

    @property
    def accelerators(self) -> int:
        return accelerators(self.array)

    @cached_property
    def charges(self) -> Accounting:
        """The accounting in elements of the hardware's size, by each tensor's own bytes, with what is sent again."""
        return self._charged(self.memory_model.recompute == "full" and not self.accounting.forward_only)

    @cached_property
    def charges_once(self) -> Accounting:
        """The same where nothing is computed again."""
        return self._charged(False)

    def _charged(self, forward_twice: bool) -> Accounting:
        size = self.hardware.element_bytes
        weights, gradients, activations = (own / size for own in self.memory_model.sizes(size))
        return self.accounting.weighed(weights, gradients, activations, forward_twice=forward_twice)

    @cached_property
    def computed_again(self) -> NDArray[np.float64] | None:
        """float64[layers]: how much of the forward phase is computed again; None for nothing."""
        again = self.accounting.computed_again(self.network, self.memory_model.recompute)
        return again if again.any() else None

    @cached_property
    def kinds(self) -> tuple[KindCosts, ...]:
        """What the accelerators of each kind take and cost; most arrays have one kind.

        Raises:
            UserError: several kinds on links that only arrays of one kind have.
        """
        kinds = kinds_of(self.array, self.hardware)
        costs = tuple(
            KindCosts(self, kind, self.interconnect.links(self.array, kind.link_bandwidth_bits_per_s)) for kind in kinds
        )
        if len(kinds) > 1 and any(kind.links.at_once or kind.links.has_latency for kind in costs):
            raise UserError(
                f"interconnect={self.interconnect.name} has links for accelerators of one kind, and array="
                f"{self.array.name} has several; interconnect=shared without latency is there for any array"
            )
        return costs

    def tables_of_phases(self, levels: int, micro_batches: int) -> dict[str, AmountTables]:
        """What a micro-batch exchanges in each phase where all layers are split at so many levels; made once."""
        key = levels, micro_batches
        if key not in self._tables_of_phases:
            samples = self.batch_size / micro_batches
            self._tables_of_phases[key] = {
                phase: AmountTables(self.network, samples, communication, levels)
                for phase, communication in self.charges_once.communication_of_phases.items()
            }
        return self._tables_of_phases[key]

    @cached_property
    def _tables_of_phases(self) -> dict[tuple[int, int], dict[str, AmountTables]]:
        return {}

    @property
    def groups(self) -> Kinds:
        """The kinds of groups that a plan is made for."""
        return tuple(costs.kind.group for costs in self.kinds)

    def only_kind(self, what: str) -> KindCosts:
        """The costs of an array of one kind, for `what`, which is a sum over like accelerators.

        Raises:
            UserError: the array has several kinds.
        """
        if len(self.kinds) > 1:
            raise UserError(
                f"{what} is a sum over accelerators of one kind, and array={self.array.name} has several; "
                "objective=communication is there for any array"
            )
        return self.kinds[0]


@dataclass(frozen=True, eq=False)
class KindCosts:
    """What the accelerators of one kind take and cost of a step.

    Attributes:
        model: the step.
        kind: the accelerators, and what part of all groups they are.
        links: what they exchange over.
    """

    model: CostModel
    kind: AcceleratorKind
    links: Links

    @property
    def hardware(self) -> Hardware:
        return self.kind.hardware

    @cached_property
    def tables(self) -> AmountTables:
        """What the array would exchange if all groups were of this kind: elements by level, state and choice."""
        model, alone = self.model, replace(self.kind.group, weight=1.0)
        return AmountTables(model.network, model.batch_size, model.charges.communication, model.array.levels, (alone,))

    def exchanged(self, plans: Choices) -> PlanCommunication:
        """What plans, uint8[plans, levels, layers], would exchange if all groups were of this kind.

        By look-up, except where what a layer is charged depends on more than its state.

        Raises:
            UserError: a plan uses a split that is not priced.
        """
        model = self.model
        if not model.accounting.halves_contested_layers:
            return self.tables.look_up(plans)
        if len(model.kinds) > 1:
            raise UserError(
                f"accounting={model.accounting.name} is for accelerators that are all alike; array={model.array.name} "
                "has several kinds"
            )
        pools = model.accounting.unlisted_pools
        return contested_communication(model.network, model.batch_size, model.charges.communication, plans, pools)

    @cached_property
    def macs(self) -> NDArray[np.float64]:
        """float64[layers]: multiply-accumulates of the whole array in a step."""
        model = self.model
        step = model.accounting.macs_of_step(model.network, model.batch_size)
        if model.computed_again is None:
            return step
        again: NDArray[np.float64] = step * (1 + model.computed_again / len(model.accounting.phases))
        return again

    @cached_property
    def mac_time_s(self) -> NDArray[np.float64]:
        """float64[layers]: arithmetic of one accelerator at its sustained rate, whatever the plan."""
        return mac_time_s(self.macs, self.hardware, 1 / self._share_of_one)

    def arithmetic_time_s(self, leaf: ShardedTensors) -> NDArray[np.float64]:
        """float64[..., layers]: the same where few samples slow it down; float64[layers] where none do."""
        if not self.hardware.half_efficiency_batch:
            return self.mac_time_s
        return self.mac_time_s * (1 + self.hardware.half_efficiency_batch / leaf.samples)

    def leaf(self, counts: NDArray[np.number]) -> ShardedTensors:
        """One accelerator's share of every tensor in states, number[..., layers, len(Split)]."""
        return shard(self.model.network, self.model.batch_size, counts)

    @property
    def state_counts(self) -> NDArray[np.number]:
        """number[states, layers, len(Split)]: what the choices count in every state that the tables know."""
        return np.repeat(self.tables.leaf_counts[0][:, None], len(self.model.network.layers), axis=1)

    @cached_property
    def leaf_of_states(self) -> ShardedTensors:
        """One accelerator's shares in all of these; arrays are [states, layers]."""
        return self.leaf(self.state_counts)

    def dram_time_s(self, leaf: ShardedTensors) -> NDArray[np.float64]:
        """float64[..., layers]: DRAM traffic of one accelerator."""
        return dram_time_s(self._dram_elements(leaf), self.hardware)

    def _dram_elements(self, leaf: ShardedTensors) -> NDArray[np.float64]:
        """float64[..., layers]: DRAM traffic of one accelerator in a step."""
        elements = self.model.charges.dram_elements(leaf)
        if self.model.computed_again is None:
            return elements
        return elements + self.model.computed_again * self.model.charges.dram_elements_of_phase("forward", leaf)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Bytes of a weight, of a gradient and of an activation."""
        return self.model.memory_model.sizes(self.hardware.element_bytes)

    def dram_time_of_phases_s(self, leaf: ShardedTensors) -> dict[str, NDArray[np.float64]]:
        """The same for each phase of the step, once each."""
        accounting = self.model.charges
        return {
            phase: dram_time_s(accounting.dram_elements_of_phase(phase, leaf), self.hardware)
            for phase in accounting.phases
        }

    def compute_time_s(self, leaf: ShardedTensors) -> NDArray[np.float64]:
        """float64[..., layers]: the roofline of one accelerator."""
        return compute_time_s(self.arithmetic_time_s(leaf), self.dram_time_s(leaf))

    def leaf_energy(self, leaf: ShardedTensors, communicated: NDArray[np.float64] | None = None) -> StepEnergy:
        """Joules of all accelerators of this kind.

        Args:
            leaf: shares of one accelerator.
            communicated: float64[..., layers], elements times hops that they exchange; None for none.
        """
        count = self.kind.group.weight * self.model.accelerators
        traffic = count * self._dram_elements(leaf)
        macs = count * self._share_of_one * self.macs + np.zeros_like(traffic)
        exchanged = np.zeros_like(traffic) if communicated is None else communicated
        return step_energy(macs, traffic, exchanged, self.hardware, self.model.accounting)

    def forward_dram_energy_j(self, leaf: ShardedTensors) -> NDArray[np.float64]:
        """float64[layers]: joules of the DRAM traffic of the forward phase, of all accelerators of this kind."""
        count = self.kind.group.weight * self.model.accelerators
        traffic = count * self.model.charges.dram_elements_of_phase("forward", leaf)
        return traffic * self.hardware.dram_energy_j_per_element

    @property
    def energy_hops(self) -> NDArray[np.float64]:
        """float64[levels]: how often an element that is exchanged at a level costs its energy."""
        return self.links.hops if self.model.interconnect.energy_per_hop else np.ones(self.model.array.levels)

    @property
    def _share_of_one(self) -> float:
        """What one accelerator does of the array's arithmetic."""
        return self.kind.group.share_of_all(self.model.array.levels)
