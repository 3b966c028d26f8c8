"""ZB-H1: 1F1B with the gradients apart, weight gradients late enough to fill the drain (Qi et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypar_exp.simulation.list_scheduling import Durations, pulled_together, split_one_forward_one_backward
from hypar_exp.simulation.operations import Kind, Order, listed, one_each


@dataclass(frozen=True)
class ZeroBubbleH1:
    """1F1B's activations on its first stage, on every stage: on stage s a micro-batch's W follows the I of the s-th
    micro-batch after it.

    Attributes:
        durations: makes an order for them, with the same limit of activations, in place of the paper's.
    """

    durations: Durations | None = None

    def __post_init__(self) -> None:
        if self.durations is not None:
            object.__setattr__(self, "durations", Durations(*self.durations))

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        return one_each(devices)

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        if self.durations is not None:
            patterns = [
                split_one_forward_one_backward(device, devices - device, micro_batches) for device in range(devices)
            ]
            return pulled_together(patterns, self.placement(devices), devices, self.durations)
        return [_order(device, devices - device, micro_batches) for device in range(devices)]


def _order(device: int, warm_up: int, micro_batches: int) -> Order:
    order = [(Kind.FORWARD, device, part) for part in range(min(warm_up, micro_batches))]
    for part in range(micro_batches):
        order.append((Kind.INPUT_GRADIENT, device, part))
        if part >= device:
            order.append((Kind.WEIGHT_GRADIENT, device, part - device))
        if part + warm_up < micro_batches:
            order.append((Kind.FORWARD, device, part + warm_up))
    order += [(Kind.WEIGHT_GRADIENT, device, part) for part in range(max(micro_batches - device, 0), micro_batches)]
    return listed(order)
