"""A network of layers as planners of pipelines see it: seconds and bytes of every stage it can be cut into."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks import Network
from hypar_exp.planning import Stage
from hypar_exp.planning.pipelines.cuts import Cuts, cuts_in_order, cuts_of_graph
from hypar_exp.planning.pipelines.stage_costs import Ranges
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.cost_model import CostModel
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.stage_model import StageModel
from hypar_exp.simulation.topology import HTree

SINGLE = HTree(levels=0)


@dataclass(frozen=True, eq=False)
class NetworkCosts:
    """Every layer under the roofline of one accelerator; accelerators of a replica share its samples.

    Weights are read again for every micro-batch, so the time of a stage is not proportional to its samples.

    Attributes:
        network, hardware, accounting: the step.
        cuts: where the network can be cut.
    """

    network: Network
    hardware: Hardware
    accounting: Accounting
    cuts: Cuts = field(repr=False)

    @classmethod
    def of(cls, network: Network, hardware: Hardware, accounting: Accounting, *, linear: bool = False) -> NetworkCosts:
        """Over all downsets of the graph, or only over the prefixes of its order where `linear`.

        Raises:
            UserError: there are too many downsets.
        """
        layers = len(network.layers)
        if linear or network.is_chain:
            return cls(network, hardware, accounting, cuts_in_order(layers))
        ends = [(edge.producer, edge.consumer) for edge in network.edges]
        return cls(network, hardware, accounting, cuts_of_graph(layers, ends, network.name))

    @property
    def unit_names(self) -> tuple[str, ...]:
        """Of the layers."""
        return self.network.layer_names

    def forward_s(self, samples: float, devices: int = 1) -> Ranges:
        """Seconds of the forward pass."""
        return self._between(self._phases_s(samples / devices)["forward"])

    def backward_s(self, samples: float, devices: int = 1) -> Ranges:
        """Seconds of the backward pass: error and gradient of the weights."""
        phases = self._phases_s(samples / devices)
        none = np.zeros(len(self.network.layers))
        return self._between(phases.get("backward", none) + phases.get("gradient", none))

    def cut_bytes(self, samples: float) -> NDArray[np.float64]:
        """float64[cuts]: bytes of the tensors that cross a cut forward, each once."""
        carried = np.zeros(len(self.network.layers))  # what a layer writes is read pooled, or in part
        np.maximum.at(carried, self.network.edge_producers, self.network.edge_elements)
        ends = [(edge.producer, edge.consumer) for edge in self.network.edges]
        return self.cuts.crossing(samples * self.hardware.element_bytes * carried, ends)

    def weight_bytes(self) -> Ranges:
        """Bytes of the weights."""
        return self._between(self.network.weights * self.hardware.element_bytes)

    def activation_bytes(self, samples: float) -> Ranges:
        """Bytes of what a stage's layers read, which it keeps from a forward pass to its backward pass."""
        read = self.network.input_elements + self.network.extra_inputs
        return self._between(samples * self.hardware.element_bytes * read)

    def _phases_s(self, samples: float) -> dict[str, NDArray[np.float64]]:
        """Phase -> float64[layers]: seconds of so many samples on one accelerator."""
        layers = tuple(range(len(self.network.layers)))
        alone = Stage(layers, splits=np.zeros((0, len(layers)), np.uint8))
        return StageModel(CostModel(self.network, SINGLE, self.hardware, self.accounting, samples), alone, 1).compute_s

    def _between(self, values: NDArray[np.float64]) -> Ranges:
        return self.cuts.between(values)
