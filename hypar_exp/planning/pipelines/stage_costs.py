"""What planners of pipelines ask about a stage; a measured profile answers it, and so may a network of layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hypar_exp.networks.profile import Profile
from hypar_exp.planning.pipelines.cuts import Cuts, cuts_in_order, cuts_of_graph

Ranges = NDArray[np.float64]
"""float64[cuts, cuts]: of the stage between the first cut and the second; infinity where there is none."""


class StageCosts(Protocol):
    """The costs of every stage that a graph can be cut into, for so many samples of a micro-batch.

    `devices` accelerators are those of one replica; what they split among themselves is the answerer's business.
    """

    @property
    def cuts(self) -> Cuts:
        """The places where it can be cut."""

    @property
    def unit_names(self) -> tuple[str, ...]:
        """Of the layers or nodes."""

    def forward_s(self, samples: float, devices: int = 1) -> Ranges:
        """Seconds of the forward pass."""

    def backward_s(self, samples: float, devices: int = 1) -> Ranges:
        """Seconds of the backward pass: error and gradient of the weights."""

    def cut_bytes(self, samples: float) -> NDArray[np.float64]:
        """float64[cuts]: bytes of the tensors that cross a cut forward, each once; as many errors cross it back."""

    def weight_bytes(self) -> Ranges:
        """Bytes of the weights."""

    def activation_bytes(self, samples: float) -> Ranges:
        """Bytes of what the stage's units write, which it keeps from a forward pass to its backward pass."""


@dataclass(frozen=True, eq=False)
class ProfileCosts:
    """The costs of a profile's stages, linear in samples; accelerators of one replica share its samples."""

    profile: Profile
    cuts: Cuts

    @classmethod
    def of(cls, profile: Profile, *, linear: bool = False) -> ProfileCosts:
        """Over all downsets of the profile, or only over the prefixes of its order where `linear`.

        Raises:
            UserError: there are too many downsets.
        """
        units = len(profile.node_names)
        if linear or profile.is_chain:
            return cls(profile, cuts_in_order(units))
        return cls(profile, cuts_of_graph(units, profile.edges, profile.name))

    @property
    def unit_names(self) -> tuple[str, ...]:
        return self.profile.node_names

    def forward_s(self, samples: float, devices: int = 1) -> Ranges:
        return self._between(self.profile.forward_s * (samples / (self.profile.batch_size * devices)))

    def backward_s(self, samples: float, devices: int = 1) -> Ranges:
        return self._between(self.profile.backward_s * (samples / (self.profile.batch_size * devices)))

    def cut_bytes(self, samples: float) -> NDArray[np.float64]:
        outputs = self.profile.output_bytes * (samples / self.profile.batch_size)
        return self.cuts.crossing(outputs, self.profile.edges)

    def weight_bytes(self) -> Ranges:
        return self._between(self.profile.weight_bytes)

    def activation_bytes(self, samples: float) -> Ranges:
        return self._between(self.profile.output_bytes * (samples / self.profile.batch_size))

    def _between(self, values: NDArray[np.float64]) -> Ranges:
        return self.cuts.between(values)
