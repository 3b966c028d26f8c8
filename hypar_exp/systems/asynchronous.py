"""Of `experiment=pipelined_backprop` and `experiment=spectrain`: what updating at once gains, and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.systems.layer_pipeline import (
    POLICIES,
    delays,
    fill_and_drain_utilisation,
    spectrain_steps,
    spectrain_versions,
)
from hypar_exp.systems.published_values import published_rows
from hypar_exp.systems.workload import Cell, Chart, Findings, Setting, Table
from hypar_exp.units import percent, quantity

PHASES = 3
"""A sample costs a layer its forward pass twice more: the gradients of inputs and of weights."""
OPERATIONS_PER_MAC = 2


@dataclass(frozen=True)
class PipelinedBackpropagation:
    """Every layer of a network a stage: rates with and without a flush, and what each stage keeps by policy.

    A stage takes the time of its layer's multiply-accumulates on one accelerator; the slowest is the period, in which a
    sample goes forward through it and another one backward.

    Raises:
        UserError: an unknown granularity or policy, or a number of samples below 1.
    """

    granularity: str
    policies: Sequence[str]
    samples: Sequence[int]
    """Of an update, where the pipeline is flushed for it."""
    name: str = "pipelined_backprop"
    uses: ClassVar[tuple[str, ...]] = ("network", "hardware", "accounting")

    def __post_init__(self) -> None:
        delays(1, self.granularity)
        for policy in self.policies:
            if policy not in POLICIES:
                raise UserError(f"workload.policies has no '{policy!s}'{did_you_mean(str(policy), POLICIES)}")
        if not self.policies or not self.samples:
            raise UserError("workload.policies and workload.samples must name at least one (got an empty list)")
        for count in self.samples:
            require_whole("workload", "samples", count, least=1)

    def run(self, setting: Setting) -> Findings:
        network, hardware = setting.network, setting.hardware
        stages = len(network.layers)
        macs = np.array([setting.accounting.macs(layer) for layer in network.layers], dtype=np.float64)
        stage_s = PHASES * OPERATIONS_PER_MAC * macs / hardware.sustained_operations_per_s
        period_s, balance = float(stage_s.max()), float(stage_s.mean() / stage_s.max())
        delay = delays(stages, self.granularity)
        rates = [[count, *self._flushed(count, stages, balance, period_s)] for count in self.samples]
        rate_columns = [
            "samples an update",
            "utilisation of flushing",
            "without",
            "gain",
            "samples/s",
            "without a flush",
        ]
        inputs = network.input_elements * hardware.element_bytes
        weights = network.weights * hardware.element_bytes
        memory_columns = ["policy", "weights and copies (bytes)", "activations (bytes)", "what it does"]
        memory, metrics, series = self._memory(delay, weights, inputs)
        largest = self.samples[-1]
        metrics = {
            "samples_per_s": 1 / period_s,
            f"flush_utilisation_{largest}_samples": fill_and_drain_utilisation(largest, stages),
            f"gain_over_flush_{largest}_samples": 1 / fill_and_drain_utilisation(largest, stages),
            "stages": float(stages),
            "balance": balance,
            "largest_delay": float(delay[0]),
            "fill_and_drain_s": (2 * stages - 2) * period_s,
            **metrics,
        }
        return Findings(
            title=f"{network.name} as a pipeline of {stages} layers, one {self.granularity} a stage",
            words=[
                f"Without a flush a sample ends every {quantity(period_s, 's')}; with one, {largest} samples an update "
                f"use {percent(fill_and_drain_utilisation(largest, stages))} of that rate",
                f"The slowest layer sets the period: the stages work {percent(balance)} of the time",
                f"The first stage's gradients are {delay[0]} updates old",
            ],
            tables=[
                Table("rates", rate_columns, rates),
                Table("memory", memory_columns, memory),
                _published_utilisation(),
            ],
            metrics=metrics,
            series={"stage/delay": delay.tolist(), "stage/time_s": stage_s.tolist(), **series},
            chart=Chart(
                f"{network.name}: utilisation by samples an update", "samples an update", "share of the rate",
                {
                    "with a flush": (list(self.samples), [fill_and_drain_utilisation(n, stages) for n in self.samples]),
                    "without": (list(self.samples), [1.0] * len(self.samples)),
                },
                log_x=True,
            ),
        )  # fmt: skip

    def _flushed(self, count: int, stages: int, balance: float, period_s: float) -> list[Cell]:
        share = fill_and_drain_utilisation(count, stages)
        return [share * balance, balance, 1 / share, share / period_s, 1 / period_s]

    def _memory(
        self, delay: np.ndarray, weights: np.ndarray, inputs: np.ndarray
    ) -> tuple[list[list[Cell]], dict[str, float], dict[str, list[float]]]:
        """Rows, totals and series by stage of what each policy keeps; `weights` and `inputs` are bytes by stage."""
        rows: list[list[Cell]] = []
        totals: dict[str, float] = {}
        series: dict[str, list[float]] = {}
        activations = (delay + 1) * inputs
        for name in self.policies:
            policy = POLICIES[name]
            kept = policy.weight_copies(delay) * weights
            rows.append([name, float(kept.sum()), float(activations.sum()), policy.words])
            totals[f"{name}_weights_bytes"] = float(kept.sum())
            series[f"stage/{name}_weight_versions"] = policy.versions(delay).tolist()
            series[f"stage/{name}_staleness"] = policy.staleness(delay).tolist()
        totals["activations_bytes"] = float(activations.sum())
        return rows, totals, series


@dataclass(frozen=True)
class SpecTrain:
    """How far ahead every stage predicts its weights, so that a mini-batch meets the weights of one time in all stages.

    Raises:
        UserError: fewer than two stages, or a mini-batch below 1.
    """

    stages: int
    batch: int
    """The mini-batch, counted from 1, whose versions are shown."""
    name: str = "spectrain"
    uses: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        require_whole("workload", "stages", self.stages, least=2, most=10_000)
        require_whole("workload", "batch", self.batch, least=1)

    def run(self, setting: Setting) -> Findings:
        forward, backward, kept = spectrain_steps(self.stages)
        forward_version, backward_version = spectrain_versions(self.stages, self.batch)
        one_f_one_b, fine_grained = delays(self.stages, "batch"), delays(self.stages, "sample")
        columns = ["stage", "1F1B delay", "fine-grained delay", "forward s", "backward s", "s with kept weights"]
        columns += ["forward version", "aims at", "backward version", "aims at"]
        parts = [one_f_one_b, fine_grained, forward, backward, kept]
        parts += [forward_version, forward_version + forward, backward_version, backward_version + backward]
        agreeing, compared = _agreement(self.stages, parts)
        words = [
            f"Mini-batch {self.batch} meets different versions of the weights in the stages, and all predict version "
            f"{self.batch + self.stages - 1}, forward and backward",
            "The copies that this costs a stage: the velocity and the prediction; weight stashing keeps one for each "
            "update of the delay and one more",
            "The speed-up of up to 8.91x over data parallelism on 4 GPUs is published, other hardware",
        ]
        if compared:
            words.append(
                f"{agreeing} of {compared} published steps and delays of {self.stages} stages are equal to ours"
            )
        rows: list[list[Cell]] = [
            [float(number) for number in row] for row in np.column_stack([np.arange(self.stages), *parts])
        ]
        return Findings(
            title=f"SpecTrain in {self.stages} stages: weights predicted from the velocity, W - s eta v",
            words=words,
            tables=[Table("steps_ahead", columns, rows)],
            metrics={
                "stages": float(self.stages),
                "most_steps_ahead": float(forward.max()),
                "most_stashed_versions": float(one_f_one_b.max() + 1),
                "weight_copies": float(POLICIES["spectrain"].copies + 1),
                "published_values_compared": float(compared),
                "published_values_equal": float(agreeing),
            },
            series={
                "stage/delay": one_f_one_b.tolist(),
                "stage/forward_steps_ahead": forward.tolist(),
                "stage/backward_steps_ahead": backward.tolist(),
            },
        )


def _agreement(stages: int, parts: Sequence[np.ndarray]) -> tuple[int, int]:
    """How many of the published delays and steps of so many stages are equal to ours, and how many there are."""
    columns = ("one_f_one_b_delay", "fine_grained_pb_delay", "spectrain_v1_forward_s", "spectrain_v1_backward_s")
    equal = compared = 0
    for row in published_rows("staleness_by_stage"):
        if int(row["stages"]) == stages:
            stage = int(row["stage_from_0"])
            for column, ours in zip((*columns, "spectrain_v2_s"), parts, strict=False):
                compared += 1
                equal += int(row[column]) == int(ours[stage])
    return equal, compared


def _published_utilisation() -> Table:
    """The stages that the paper counts, which its networks' normalisations and sums are too."""
    rows: list[list[Cell]] = []
    for row in published_rows("pb_fill_and_drain_utilisation"):
        stages = int(row["stages (recalled)"])
        cells: list[Cell] = [row["network"], float(stages)]
        for count in (32, 128, 256):
            cells += [float(row[f"N{count}"]), fill_and_drain_utilisation(count, stages)]
        rows.append([*cells, float(row["gain_of_pb_at_128"]), 1 / fill_and_drain_utilisation(128, stages)])
    head = ["network", "stages"]
    for name in ("N = 32", "N = 128", "N = 256", "gain at 128"):
        head += [f"{name}, published", f"{name}, ours"]
    return Table("published_utilisation", head, rows)
