"""The workload of `experiment=fpdeep`: layers spread over a chain of FPGAs, and where more of them stop being faster.

Geng, Wang, Li et al., FPDeep. All layers are on chip at the same time and samples stream through them, so that every
device is at work: a layer has devices in proportion to its operations, parts of a device among them. Devices of a
layer share its input features (our mp) or its output features (op), whichever streams less from one to the next. The
chain is linear while the widest stream keeps up:

    bits max_l min(A(F_l) by op, A(F_{l+1}) before pooling by mp) <= R T,  T = O / (N P u).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number, require_whole
from hypar_exp.errors import UserError
from hypar_exp.networks import Network
from hypar_exp.systems.workload import Cell, Chart, Findings, Setting, Table
from hypar_exp.units import quantity, significant

PHASES, OPERATIONS_PER_MAC = 3, 2
_RATES = ("devices", "samples/s", "speed-up", "share of linear", "share of on-chip memory")
CLAIMS = (60, 83, 100)
"""Devices up to which three versions of the paper call it linear."""


@dataclass(frozen=True)
class Chain:
    """A network's layers as streams over a chain.

    Attributes:
        operations: float64[layers], of one sample in all phases.
        by_output: float64[layers], elements of the input, which all devices of a layer read where they share outputs.
        by_input: float64[layers], elements of the output before pooling: partial sums pass where they share inputs.
        weights: float64[layers], elements.
        kept_rows: float64[layers], rows of the input that a layer needs before it can start.
    """

    operations: NDArray[np.float64]
    by_output: NDArray[np.float64]
    by_input: NDArray[np.float64]
    weights: NDArray[np.float64]
    kept_rows: NDArray[np.float64]

    @classmethod
    def of(cls, network: Network) -> Chain:
        layers = network.layers
        macs = np.array([layer.macs_at_output for layer in layers], dtype=np.float64)
        unpooled = [layer.output.channels * max(layer.output_positions, layer.output.positions) for layer in layers]
        kernels = [
            _kernel_side(layer.weights, layer.input.channels // layer.groups, layer.output.channels) for layer in layers
        ]
        rows = [min(side, layer.input.height) for side, layer in zip(kernels, layers, strict=True)]
        return cls(
            operations=PHASES * OPERATIONS_PER_MAC * macs,
            by_output=network.input_elements,
            by_input=np.array(unpooled, dtype=np.float64),
            weights=network.weights,
            kept_rows=np.array(rows, dtype=np.float64),
        )

    @property
    def streamed(self) -> NDArray[np.float64]:
        """float64[layers]: elements of one sample that pass between devices of a layer, split the better way."""
        return np.minimum(self.by_output, self.by_input)

    def devices(self, devices: int) -> NDArray[np.float64]:
        """float64[layers]: devices of each layer, parts of them among these."""
        return np.asarray(devices * self.operations / self.operations.sum(), dtype=np.float64)

    def bend(self, operations_per_s: float, link_bits_per_s: float, bits: int) -> float:
        """Devices from which on the widest stream, not arithmetic, bounds the rate: R O / (bits P max min)."""
        return float(link_bits_per_s * self.operations.sum() / (bits * operations_per_s * self.streamed.max()))

    def rate(self, devices: int, operations_per_s: float, link_bits_per_s: float, bits: int) -> float:
        """Samples a second; a single device streams to none."""
        arithmetic = devices * operations_per_s / self.operations.sum()
        if devices == 1:
            return float(arithmetic)
        return float(min(arithmetic, link_bits_per_s / (bits * self.streamed.max())))


@dataclass(frozen=True)
class FpgaChain:
    """Training rates of a network on a chain of 1 to many devices.

    Attributes:
        devices: lengths of the chain.
        operations_per_s: that one device sustains.
        link_bits_per_s: between neighbours.
        bits: of an element.
        on_chip_bytes: of one device, for weights and features that wait for their backward pass.

    Raises:
        UserError: no lengths, or a number out of range.
    """

    devices: Sequence[int]
    operations_per_s: float
    link_bits_per_s: float
    bits: int
    on_chip_bytes: float
    name: str = "fpdeep"
    uses: ClassVar[tuple[str, ...]] = ("network",)

    def __post_init__(self) -> None:
        if not self.devices:
            raise UserError("workload.devices must name at least one length, as in [1, 8] (got an empty list)")
        for length in self.devices:
            require_whole("workload", "devices", length, least=1, most=100_000)
        require_whole("workload", "bits", self.bits, least=1, most=64)
        require_number("workload", self, "operations_per_s", "link_bits_per_s", "on_chip_bytes")

    def run(self, setting: Setting) -> Findings:
        chain = Chain.of(setting.network)
        rated = {length: chain.rate(length, *self._device) for length in self.devices}
        alone = chain.rate(1, *self._device)
        bend, widest = chain.bend(*self._device), int(chain.streamed.argmax())
        kept = self._kept_bytes(chain, setting.network)
        rows: list[list[Cell]] = [
            [
                float(length),
                rate,
                rate / alone,
                rate / alone / length,
                float(kept.sum()) / (length * self.on_chip_bytes),
            ]
            for length, rate in rated.items()
        ]
        longest = max(self.devices)
        return Findings(
            title=f"{setting.network.name} on a chain of devices of {quantity(self.operations_per_s, 'op/s')}, links "
            f"of {quantity(self.link_bits_per_s, 'b/s')}",
            words=self._words(setting.network, chain, bend, widest, float(kept.sum())),
            tables=[
                Table("rates", _RATES, rows),
                self._layers(setting.network, chain, longest, kept),
            ],
            metrics={
                "linear_up_to_devices": bend,
                f"samples_per_s_on_{longest}": rated[longest],
                f"speedup_on_{longest}": rated[longest] / alone,
                "widest_stream_bytes": float(chain.streamed[widest]) * self.bits / 8,
                "on_chip_bytes_needed": float(kept.sum()),
                "devices_that_hold_all": float(np.ceil(kept.sum() / self.on_chip_bytes)),
            },
            series={"layer/devices": chain.devices(longest).tolist(), "layer/on_chip_bytes": kept.tolist()},
            chart=Chart(
                f"{setting.network.name}: training rate by devices", "devices", "samples/s",
                {
                    "chain": (list(rated), list(rated.values())),
                    "linear": (list(rated), [alone * length for length in rated]),
                },
            ),
        )  # fmt: skip

    @property
    def _device(self) -> tuple[float, float, int]:
        return self.operations_per_s, self.link_bits_per_s, self.bits

    def _kept_bytes(self, chain: Chain, network: Network) -> NDArray[np.float64]:
        """float64[layers]: weights, and the features that wait for the backward pass of the samples between.

        Samples stream in rows: between a layer's forward pass of a row and its backward pass lie the rows that the
        layers behind it need before they can start, there and back.
        """
        heights = np.array([layer.input.height for layer in network.layers], dtype=np.float64)
        ahead = np.cumsum((chain.kept_rows / heights)[::-1])[::-1]
        waiting = 2 * ahead * network.input_elements
        return (chain.weights + waiting) * self.bits / 8

    def _layers(self, network: Network, chain: Chain, longest: int, kept: NDArray[np.float64]) -> Table:
        shares = chain.devices(longest)
        rows: list[list[Cell]] = [
            [
                layer.name,
                float(shares[at]),
                "op" if chain.by_output[at] <= chain.by_input[at] else "mp",
                float(chain.streamed[at]) * self.bits / 8,
                float(kept[at]),
                max(0.0, float(kept[at] - shares[at] * self.on_chip_bytes)),
            ]
            for at, layer in enumerate(network.layers)
        ]
        head = [f"devices of {longest}", "split", "streamed (bytes)", "kept (bytes)", "at neighbours (bytes)"]
        return Table("layers", ["layer", *head], rows)

    def _words(self, network: Network, chain: Chain, bend: float, widest: int, kept: float) -> list[str]:
        claims = ", ".join(map(str, CLAIMS[:-1])) + f" and {CLAIMS[-1]}"
        holds = kept / self.on_chip_bytes
        return [
            f"It is linear up to {significant(bend)} devices: there the stream at {network.layer_names[widest]}, "
            f"{quantity(float(chain.streamed[widest]) * self.bits / 8, 'B')} a sample, fills the link",
            f"Weights and waiting features are {quantity(kept, 'B')}, on chip from {significant(holds)} devices on",
            f"Three versions of the paper are linear up to {claims} devices (published, other hardware): the right "
            "order, no reproduction",
        ]


def _kernel_side(weights: int, inputs: int, outputs: int) -> int:
    """Rows of a square kernel."""
    return max(1, round(math.sqrt(weights / (inputs * outputs))))
