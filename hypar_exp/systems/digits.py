"""The workload of `experiment=pipelined_backprop_digits`: a small real training with exact delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_number, require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.systems.delayed_training import RULES, Array, Rates, train
from hypar_exp.systems.workload import Cell, Chart, Findings, Setting, Table
from hypar_exp.units import percent

INPUTS, CLASSES, BRIGHTEST = 64, 10, 16.0
SPLIT_SEED = 0


@dataclass(frozen=True)
class DelayedDigits:
    """A perceptron on scikit-learn's handwritten digits, a sample an update, by rule and seed.

    Attributes:
        rules: what stages do about their delays; see `delayed_training`.
        stages: layers.
        width: of the hidden layers.
        epochs: over the training set.
        seeds: trainings of each rule.
        learning_rate, momentum, reference_batch: of a batch, from which those of a batch of one follow.
        tested_share: of the digits, which are not trained with.

    Raises:
        UserError: an unknown rule, or a number out of range.
    """

    rules: Sequence[str]
    stages: int
    width: int
    epochs: int
    seeds: int
    learning_rate: float
    momentum: float
    reference_batch: int
    tested_share: float
    name: str = "pipelined_backprop_digits"
    uses: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not self.rules:
            raise UserError("workload.rules must name at least one, as in [sgdm, pb] (got an empty list)")
        for rule in self.rules:
            if rule not in RULES:
                raise UserError(f"workload.rules has no '{rule!s}'{did_you_mean(str(rule), RULES)}")
        for key, most in (
            ("stages", 50),
            ("width", 1000),
            ("epochs", 1000),
            ("seeds", 1000),
            ("reference_batch", 10_000),
        ):
            require_whole("workload", key, getattr(self, key), least=1, most=most)
        require_number("workload", self, "learning_rate")
        require_number("workload", self, "momentum", above=None, most=0.9999)
        require_number("workload", self, "tested_share", most=0.9)

    def run(self, setting: Setting) -> Findings:
        samples, tested = _digits(self.tested_share)
        rates = Rates.of_batch(self.learning_rate, self.momentum, self.reference_batch)
        widths = [INPUTS, *[self.width] * (self.stages - 1), CLASSES]
        of_one = self.epochs * len(samples[0])
        found: dict[str, Array] = {}
        for place, name in enumerate(self.rules):

            def done(count: int, before: int = place * of_one) -> None:
                setting.progress(before + count, len(self.rules) * of_one)

            with np.errstate(all="ignore"):  # a training that diverges is a finding
                found[name] = train(RULES[name], widths, samples, tested, self.epochs, range(self.seeds), rates, done)
        setting.progress(len(self.rules) * of_one, len(self.rules) * of_one)
        return self._findings(found, rates, len(samples[0]), len(tested[0]))

    def _findings(self, found: dict[str, Array], rates: Rates, trained: int, tested: int) -> Findings:
        rows: list[list[Cell]] = []
        metrics: dict[str, float] = {}
        series: dict[str, list[float]] = {}
        lines: dict[str, tuple[list[float], list[float]]] = {}
        for name, accuracies in found.items():
            last = accuracies[-1]
            spread = float(last.std(ddof=1)) if len(last) > 1 else 0.0
            rows.append([name, float(last.mean()), spread, float(last.min()), float(last.max())])
            metrics[f"accuracy_{name}"] = float(last.mean())
            metrics[f"accuracy_spread_{name}"] = spread
            series[f"epoch/accuracy_{name}"] = accuracies.mean(axis=1).tolist()
            series[f"epoch/accuracy_spread_{name}"] = accuracies.std(axis=1).tolist()
            lines[name] = ([float(epoch) for epoch in range(1, self.epochs + 1)], accuracies.mean(axis=1).tolist())
        best, worst = (choose(found, key=lambda name: float(found[name][-1].mean())) for choose in (max, min))
        return Findings(
            title=f"Handwritten digits by {self.stages} layers of {self.width}, one a stage: {self.epochs} epochs, "
            f"{self.seeds} seeds",
            words=[
                f"Accuracy on {tested} digits after training on {trained}, one an update, first stage "
                f"{2 * (self.stages - 1)} updates late; learning rate {rates.learning_rate:.3g}, momentum "
                f"{rates.momentum:.4g}",
                f"Best is {best} with {percent(metrics[f'accuracy_{best}'])}, last {worst} with "
                f"{percent(metrics[f'accuracy_{worst}'])}; the spread between seeds tells it from chance",
                "It is a small training: of large ones it shows no more than what delays can do",
            ],
            tables=[
                Table(
                    "accuracies",
                    ["rule", "share right, mean", "share right, spread", "share, least", "share, most"],
                    rows,
                ),
                _by_seed(found),
            ],
            metrics=metrics,
            series=series,
            chart=Chart("Accuracy on the digits that are not trained with", "epoch", "share right", lines),
        )


def _by_seed(found: dict[str, Array]) -> Table:
    rows: list[list[Cell]] = [
        [name, float(epoch + 1), *(float(share) for share in of_seeds)]
        for name, accuracies in found.items()
        for epoch, of_seeds in enumerate(accuracies)
    ]
    seeds = len(next(iter(found.values()))[0])
    return Table("accuracy_by_seed", ["rule", "epoch", *(f"share of seed {seed}" for seed in range(seeds))], rows)


def _digits(tested_share: float) -> tuple[tuple[Array, NDArray[np.int64]], tuple[Array, NDArray[np.int64]]]:
    """Digits to train and to test with, brightness from -0.5 to 0.5; always the same ones."""
    from sklearn.datasets import load_digits

    pictures, classes = load_digits(return_X_y=True)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(pictures))
    inputs = np.asarray(pictures, dtype=np.float64)[order] / BRIGHTEST - 0.5
    of_order = np.asarray(classes, dtype=np.int64)[order]
    tested = max(1, round(tested_share * len(inputs)))
    return (inputs[tested:], of_order[tested:]), (inputs[:tested], of_order[:tested])
