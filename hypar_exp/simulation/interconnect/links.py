"""How long the exchanges of each hierarchy level take: the one place where bytes become seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hypar_exp.simulation.topology import AcceleratorArray

BITS_PER_BYTE = 8


@dataclass(frozen=True, eq=False)
class Links:
    """The links that the pairs of each level exchange over.

    Attributes:
        bandwidth_bits_per_s: float64[levels], of one link, both directions together.
        load: float64[levels], bytes on the link that carries most, for each byte that one pair exchanges.
        hops: float64[levels], links that a byte crosses on its way.
        latency_s: float64[levels], before an exchange's first byte is there.
        at_once: whether all pairs of a level exchange at the same time, each over links of its own; else one after
            the other.
        spread: whether every accelerator of a pair has a way of its own, so that fewer accelerators load it more.
        medium: what stages of a pipeline share: `one` medium for all that is exchanged, one for each of the `stages`
            and boundaries, or nothing but their `links`, which go both ways at once.
    """

    bandwidth_bits_per_s: NDArray[np.float64]
    load: NDArray[np.float64]
    hops: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    at_once: bool
    spread: bool = False
    medium: Literal["one", "stages", "links"] = "links"

    def of_stage(self, levels: Sequence[int]) -> Links:
        """The links of a stage that is split at some of the levels, on as many accelerators as that makes."""
        at, splits = np.array(levels, dtype=np.intp), len(levels)
        load = self.load[at]
        if self.spread:
            load = load * np.ldexp(1.0, (len(self.load) - at) - (splits - np.arange(splits)))
        return replace(
            self,
            bandwidth_bits_per_s=self.bandwidth_bits_per_s[at],
            load=load,
            hops=self.hops[at],
            latency_s=self.latency_s[at],
        )

    def boundary_s(self, level: int, sent_bytes: float, pairs: int, senders: int) -> float:
        """Seconds in which one half of each of `pairs` groups sends to the other half at a level.

        Args:
            level: of the whole array.
            sent_bytes: by all of them, one way.
            pairs: groups that are cut there, at the same time.
            senders: accelerators of the smaller half of one of them.
        """
        bits = sent_bytes * BITS_PER_BYTE / self.bandwidth_bits_per_s[level]
        if not self.at_once:
            return float(bits * self.load[level] + self.latency_s[level] * pairs)
        load = self.load[level] * np.ldexp(1.0, len(self.load) - level) / 2 / senders if self.spread else 1.0
        return float(bits / pairs * load + self.latency_s[level])

    def time_s(
        self, exchanged_bytes: NDArray[np.float64], exchanges: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Seconds at each level, float64[..., levels].

        Args:
            exchanged_bytes: float64[..., levels], of all pairs of a level together.
            exchanges: float64[..., levels], how many tensors each pair exchanges; None where latency is not counted.
        """
        time_s: NDArray[np.float64] = exchanged_bytes * BITS_PER_BYTE * self._load_of_all / self.bandwidth_bits_per_s
        if exchanges is not None and self.has_latency:
            time_s = time_s + exchanges * self.latency_of_level_s
        return time_s

    @property
    def has_latency(self) -> bool:
        return bool(self.latency_s.any())

    @property
    def latency_of_level_s(self) -> NDArray[np.float64]:
        """float64[levels]: what one exchange of every pair waits for, at each level."""
        return self.latency_s if self.at_once else self.latency_s * self._pairs

    @property
    def _load_of_all(self) -> NDArray[np.float64]:
        return self.load / self._pairs if self.at_once else self.load

    @property
    def _pairs(self) -> NDArray[np.float64]:
        return np.ldexp(1.0, np.arange(len(self.load)))


class Interconnect(Protocol):
    """What lies between the accelerators of an array; a user's own needs no more than this."""

    @property
    def name(self) -> str: ...

    @property
    def energy_per_hop(self) -> bool:
        """Whether an exchanged element costs its energy once for each link that it crosses."""
        ...

    def links(self, array: AcceleratorArray, bandwidth_bits_per_s: NDArray[np.float64]) -> Links:
        """The links of an array whose accelerators have links of float64[levels] bits a second."""
        ...
