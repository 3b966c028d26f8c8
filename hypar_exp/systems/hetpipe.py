"""The workload of `experiment=hetpipe`: virtual workers by allocation and clock distance, against all-reduce."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hypar_exp.checks import require_number, require_whole
from hypar_exp.errors import UserError
from hypar_exp.systems.virtual_workers import Device, Links, Progress, Work, Worker, best_worker, clocks
from hypar_exp.systems.workload import Cell, Findings, Setting, Table
from hypar_exp.units import quantity, significant

ALLOCATIONS = {
    "np": "a node each",
    "ed": "a device of each kind each",
    "hd": "half of a fast kind, half of a slow one",
}


@dataclass(frozen=True)
class HetPipe:
    """Training rates of a network on nodes of unlike accelerators.

    Attributes:
        kinds: name -> operations_per_s and memory_bytes of one accelerator; a node of each.
        devices_per_node: accelerators of each kind, and of a virtual worker.
        allocations: np, ed or hd.
        clock_distances: D; null for an unbounded one.
        in_flight: minibatches of a wave.
        minibatch: samples.
        element_bytes: of weights and activations.
        utilisation: share of the operations a second that the accelerators sustain.
        in_node_bytes_per_s, between_nodes_bytes_per_s: of the links.

    Raises:
        UserError: an unknown allocation, a kind without its numbers, or a number out of range.
    """

    kinds: Mapping[str, Mapping[str, float]]
    devices_per_node: int
    allocations: Sequence[str]
    clock_distances: Sequence[Any]
    in_flight: int
    minibatch: int
    element_bytes: int
    utilisation: float
    in_node_bytes_per_s: float
    between_nodes_bytes_per_s: float
    name: str = "hetpipe"
    uses: ClassVar[tuple[str, ...]] = ("network",)

    def __post_init__(self) -> None:
        for key in ("devices_per_node", "in_flight", "minibatch", "element_bytes"):
            require_whole("workload", key, getattr(self, key), least=1)
        if self.devices_per_node > 6:
            raise UserError(f"workload.devices_per_node must be at most 6 (got {self.devices_per_node})")
        require_number("workload", self, "in_node_bytes_per_s", "between_nodes_bytes_per_s")
        require_number("workload", self, "utilisation", most=1.0)
        for allocation in self.allocations:
            if allocation not in ALLOCATIONS:
                raise UserError(f"workload.allocations must be of {', '.join(ALLOCATIONS)} (got {allocation!r})")
        for distance in self.clock_distances:
            if distance is not None:
                require_whole("workload", "clock_distances", distance, least=0, most=10_000)
        if not self.allocations or not self.clock_distances or not self.kinds:
            raise UserError("workload.kinds, allocations and clock_distances must name at least one (got an empty one)")
        _ = self._devices

    @property
    def _devices(self) -> dict[str, Device]:
        """One of each kind, the fastest first."""
        made = []
        for kind, fields in self.kinds.items():
            for key in ("operations_per_s", "memory_bytes"):
                value = fields.get(key)
                if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                    raise UserError(f"workload.kinds.{kind}.{key} must be a number above 0 (got {value!r})")
            made.append(Device(str(kind), self.utilisation * fields["operations_per_s"], fields["memory_bytes"]))
        return {device.kind: device for device in sorted(made, key=lambda one: -one.operations_per_s)}

    def workers_of(self, allocation: str) -> list[tuple[Device, ...]]:
        """The devices of each virtual worker.

        Raises:
            UserError: the kinds cannot be allocated so.
        """
        kinds, each = list(self._devices.values()), self.devices_per_node
        if allocation == "np":
            return [(kind,) * each for kind in kinds]
        if allocation == "ed":
            return [tuple(kinds)] * each
        if len(kinds) % 2 or each % 2:
            raise UserError("workload.allocations: hd needs an even number of kinds, and of devices of each")
        pairs = [(kinds[at], kinds[-1 - at]) for at in range(len(kinds) // 2)]
        return [(fast,) * (each // 2) + (slow,) * (each // 2) for fast, slow in pairs for _ in range(2)]

    def run(self, setting: Setting) -> Findings:
        work = Work.of(setting.network, self.minibatch, self.element_bytes)
        links = Links(self.in_node_bytes_per_s, self.between_nodes_bytes_per_s)
        transfer_s = float(work.weights_bytes.sum()) / self.between_nodes_bytes_per_s
        baseline, holders = self._all_reduce(work)
        rows: list[list[Cell]] = [[f"all-reduce on {holders}", None, baseline, None, None, 1.0 if baseline else None]]
        partitions: list[list[Cell]] = []
        metrics = {"all_reduce_samples_per_s": baseline, "all_reduce_devices": float(holders)}
        best: tuple[float, str] | None = None
        for allocation in self.allocations:
            devices = self.workers_of(allocation)
            found = {group: best_worker(work, group, links, self.in_flight) for group in set(devices)}
            workers = [worker for group in devices if (worker := found[group]) is not None]
            partitions += [
                _partition(allocation, worker, setting.network.layer_names) for worker in dict.fromkeys(workers)
            ]
            if not workers:
                rows.append([allocation, "does not fit", None, None, None, None])
                continue
            wave_s = [self.in_flight * worker.minibatch_s(self.in_flight) for worker in workers]
            for distance in self.clock_distances:
                ran = clocks(wave_s, self.in_flight, distance, transfer_s)
                shown = "unbounded" if distance is None else str(distance)
                rate = ran.minibatches_per_s * self.minibatch
                rows.append(
                    [
                        allocation,
                        shown,
                        rate,
                        ran.waiting,
                        self._stale(ran, distance),
                        rate / baseline if baseline else None,
                    ]
                )
                metrics[f"samples_per_s/{allocation}/D_{shown}"] = rate
                metrics[f"waiting/{allocation}/D_{shown}"] = ran.waiting
                best = max(best or (0.0, ""), (rate, f"{allocation} with D {shown}"))
        head = [
            "allocation",
            "clock distance",
            "samples/s",
            "share waiting",
            "minibatches missing",
            "against all-reduce",
        ]
        return Findings(
            title=f"{setting.network.name} on {len(self.kinds)} nodes of {self.devices_per_node}, a kind each",
            words=self._words(best, baseline, holders, transfer_s),
            tables=[
                Table("rates", head, rows),
                Table("partitions", ["allocation", "devices", "first layers", "slowest stage (s)"], partitions),
            ],
            metrics=({} if best is None else {"best_samples_per_s": best[0]}) | metrics,
        )

    def _stale(self, ran: Progress, distance: int | None) -> float | None:
        """The most minibatches of another worker that one does not have."""
        return None if distance is None else float(ran.most_missing_waves * self.in_flight)

    def _all_reduce(self, work: Work) -> tuple[float, int]:
        """Samples a second of data parallelism on the devices that hold the whole network, and how many those are."""
        weights, activations = float(work.weights_bytes.sum()), float(work.activations_bytes.sum())
        able = [device for device in self._devices.values() if 2 * weights + activations <= device.memory_bytes]
        count = len(able) * self.devices_per_node
        if not count:
            return 0.0, 0
        compute_s = float(work.operations.sum()) / min(device.operations_per_s for device in able)
        link = self.between_nodes_bytes_per_s if len(able) > 1 else self.in_node_bytes_per_s
        exchange_s = 2 * (count - 1) / count * weights / link
        return count * self.minibatch / (compute_s + exchange_s), count

    def _words(self, best: tuple[float, str] | None, baseline: float, holders: int, transfer_s: float) -> list[str]:
        words = []
        if best is not None:
            against = (
                f", {significant(best[0] / baseline)}x all-reduce on the {holders} that hold it" if baseline else ""
            )
            words.append(f"The fastest is {best[1]}: {significant(best[0])} samples/s{against}")
        if not holders:
            words.append("No accelerator holds the network by itself: all-reduce cannot train it")
        return [
            *words,
            f"A push or a pull of all weights takes {quantity(transfer_s, 's')}; with a clock distance it is hidden",
            "Rates, not accuracies: convergence up to 49 % faster than all-reduce is published, other hardware",
        ]


def _partition(allocation: str, worker: Worker, names: Sequence[str]) -> list[Cell]:
    kinds = " ".join(device.kind for device in worker.devices)
    return [allocation, kinds, " ".join(names[start] for start in worker.starts), max(worker.stage_s)]
