"""CATERPILLAR (Li and Pedram, ASAP 2017, arXiv 1706.00517): multi-layer perceptrons trained on a ring of cores.

Energy of an epoch, of K samples, in a network of layers n -> m whose products are sum(m n):

    K sum(m n) [3 E_fpu + (3 + w / b) E_local],

three phases of a multiply-add and one local access each, and w accesses to weights a batch of b: 3 for gradient
descent, 2 for continuous propagation (CP), in which a layer is updated as soon as its error is there. Where the weights
do not fit in the cores, a share of those w accesses goes to the memory between them instead. Direct feedback alignment
(DFA) takes the errors of all layers from the last: its backward phase has m n_L products in place of m n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError


@dataclass(frozen=True)
class Method:
    """How a network is trained: SGD, minibatches (BGD), CP or DFA, with its batch.

    Attributes:
        family: SGD, BGD, CP or DFA.
        batch: samples an update.
    """

    family: str
    batch: int

    @classmethod
    def of(cls, name: str) -> Method:
        """The method that figures 5 to 8 call so: `SGD`, `BGD50`, `CP`, `CP4`, `DFA8`.

        Raises:
            UserError: another name.
        """
        family = name.rstrip("0123456789")
        batch = int(name[len(family) :] or 1)
        if family not in ("SGD", "BGD", "CP", "DFA") or batch < 1 or (family == "SGD" and name != "SGD"):
            raise UserError(f"workload.methods must be SGD, BGD, CP or DFA with a batch, as BGD50 (got {name!r})")
        return cls(family, batch)

    @property
    def weight_accesses(self) -> int:
        """Accesses to a weight a batch: forward, backward and update; CP does the last two at once."""
        return 2 if self.family == "CP" else 3


@dataclass(frozen=True)
class Costs:
    """Energies of an operation and of two bytes, joules (table 1)."""

    multiply_add_energy_j: float
    local_access_energy_j: float
    off_core_access_energy_j: float
    samples_per_epoch: int
    clock_hz: float


@dataclass(frozen=True)
class Machine:
    """A network on an array of cores, as a bar of figures 6 to 8.

    Attributes:
        network: what the table of epochs calls it.
        widths: of the layers, the input's first.
        processing_elements: of all cores, each with a multiply-add a cycle.
        off_core_share: of the accesses to weights, which go between the cores instead.
        utilisation: family, or family and least batch (`BGD50`), -> share of the cycles with a multiply-add.
    """

    network: str
    widths: Sequence[int]
    processing_elements: int
    off_core_share: float
    utilisation: Mapping[str, float]

    @property
    def products(self) -> int:
        """sum(m n)."""
        return sum(inputs * outputs for inputs, outputs in zip(self.widths, self.widths[1:], strict=False))

    def multiply_adds(self, method: Method) -> int:
        """Of one sample, in all phases."""
        if method.family != "DFA":
            return 3 * self.products
        return 2 * self.products + sum(self.widths[1:-1]) * self.widths[-1]

    def utilisation_of(self, method: Method) -> float:
        """The share of its family, of the greatest batch that this one reaches."""
        batches = {
            int(key[len(method.family) :] or 1): share
            for key, share in self.utilisation.items()
            if key.rstrip("0123456789") == method.family
        }
        reached = [batch for batch in batches if batch <= method.batch]
        if not reached:
            raise UserError(
                f"workload.machines: a utilisation of {method.family} is missing, as {{{method.family}: 0.8}}"
            )
        return batches[max(reached)]


@dataclass(frozen=True)
class Epoch:
    """What one epoch costs."""

    fpu_j: float
    local_j: float
    off_core_j: float
    time_s: float
    operations: float
    """Additions and multiplications."""

    @property
    def energy_j(self) -> float:
        return self.fpu_j + self.local_j + self.off_core_j

    @property
    def operations_per_j(self) -> float:
        """As the paper's GFLOPS/W, times 10^9."""
        return self.operations / self.energy_j


def epoch(machine: Machine, method: Method, costs: Costs) -> Epoch:
    """Energy and time of one epoch."""
    samples = costs.samples_per_epoch
    multiply_adds = samples * machine.multiply_adds(method)
    weights = samples * machine.products * method.weight_accesses / method.batch
    off_core = machine.off_core_share * weights
    return Epoch(
        fpu_j=multiply_adds * costs.multiply_add_energy_j,
        local_j=(multiply_adds + weights - off_core) * costs.local_access_energy_j,
        off_core_j=off_core * costs.off_core_access_energy_j,
        time_s=multiply_adds / (machine.processing_elements * costs.clock_hz * machine.utilisation_of(method)),
        operations=2.0 * multiply_adds,
    )
