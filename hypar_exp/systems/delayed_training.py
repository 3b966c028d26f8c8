"""Training a perceptron sample by sample with the delays of a fine-grained layer pipeline, exactly.

Stage s of S goes forward with the weights of D_s = 2(S - 1 - s) updates ago and backward with the present ones, or with
those that it went forward with (weight stashing). Several trainings that differ in their seeds alone run side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.systems.layer_pipeline import delays

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """What a stage does about its delay; see `delayed_momentum.Method`.

    Attributes:
        name: of the rule.
        delayed: whether there is a delay at all.
        stashes: whether weights go backward that went forward.
        compensates: whether the update makes up for the delay (spike compensation).
        predicts: whether the weights of the backward pass are predicted (linear weight prediction).
    """

    name: str
    delayed: bool = True
    stashes: bool = False
    compensates: bool = False
    predicts: bool = False

    def coefficients(self, delay: int, momentum: float) -> tuple[float, float]:
        """The a and b of w' = w - eta (a v' + b g)."""
        if not self.compensates:
            return 1.0, 0.0
        return momentum**delay, sum(momentum**step for step in range(delay))


RULES = {
    rule.name: rule
    for rule in (
        Rule("sgdm", delayed=False),
        Rule("pb"),
        Rule("stash", stashes=True),
        Rule("sc", compensates=True),
        Rule("lwp", predicts=True),
        Rule("lwp_sc", predicts=True, compensates=True),
    )
}


@dataclass(frozen=True)
class Rates:
    """Learning rate and momentum of a batch of one."""

    learning_rate: float
    momentum: float

    @classmethod
    def of_batch(cls, learning_rate: float, momentum: float, batch: int) -> Rates:
        """Those of a batch: m = m_r^(1/N_r), eta = eta_r (1 - m) / ((1 - m_r) N_r)."""
        one = momentum ** (1 / batch)
        return cls(learning_rate * (1 - one) / ((1 - momentum) * batch), one)


class Stage:
    """One layer of all trainings: its weights as they were, float64[trainings, outputs, inputs + 1], and velocities."""

    def __init__(self, weights: Array, delay: int, rule: Rule, rates: Rates) -> None:
        self._delay, self._rule, self._rates = delay, rule, rates
        self._versions = [weights] * (delay + 2)
        """The oldest first: of one more update ago than the delay, to now."""
        self._velocity = np.zeros_like(weights)
        self._a, self._b = rule.coefficients(delay, rates.momentum)
        self.forward_weights = weights
        self.inputs: Array = np.zeros(0)

    @property
    def weights(self) -> Array:
        """Those of now."""
        return self._versions[-1]

    def forward(self, inputs: Array) -> Array:
        """float64[trainings, outputs] before activation, of inputs float64[trainings, inputs]."""
        old = self._versions[1]
        if self._rule.predicts and self._delay:
            old = old + self._delay * (old - self._versions[0])
        self.forward_weights = old
        self.inputs = np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1)
        return np.asarray(np.matmul(old, self.inputs[:, :, None])[:, :, 0], dtype=np.float64)

    def backward(self, errors: Array) -> Array:
        """The errors of the inputs; the weights are updated."""
        through = self.forward_weights if self._rule.stashes else self.weights
        back = np.matmul(errors[:, None, :], through)[:, 0, :-1]
        gradient = errors[:, :, None] * self.inputs[:, None, :]
        self._velocity = self._rates.momentum * self._velocity + gradient
        step = self._a * self._velocity + self._b * gradient if self._b else self._a * self._velocity
        self._versions = [*self._versions[1:], self.weights - self._rates.learning_rate * step]
        return np.asarray(back, dtype=np.float64)


def train(
    rule: Rule,
    widths: Sequence[int],
    samples: tuple[Array, NDArray[np.int64]],
    tested: tuple[Array, NDArray[np.int64]],
    epochs: int,
    seeds: Sequence[int],
    rates: Rates,
    done: Callable[[int], None],
) -> Array:
    """float64[epochs, seeds]: the accuracy on `tested` after each epoch.

    Args:
        rule: what stages do about their delays.
        widths: of the layers, the input's first; a stage between each two.
        samples: float64[samples, inputs] and their classes, to train with, in an order that the seed decides.
        tested: the same, to test with.
        epochs: over the samples.
        seeds: of the trainings.
        rates: of a batch of one.
        done: told the number of samples that have been trained with.
    """
    generators = [np.random.default_rng(seed) for seed in seeds]
    stages = _stages(rule, widths, generators, rates)
    inputs, classes = samples
    accuracies = np.zeros((epochs, len(seeds)))
    everyone = np.arange(len(seeds))
    for epoch in range(epochs):
        orders = np.array([generator.permutation(len(inputs)) for generator in generators])
        for at, chosen in enumerate(orders.T):
            scores = _through(stages, inputs[chosen])
            chances = _softmax(scores)
            chances[everyone, classes[chosen]] -= 1.0
            errors = chances
            for stage in reversed(stages):
                positive = stage.inputs[:, :-1] > 0
                errors = stage.backward(errors) * positive
            if at % 100 == 99:
                done(epoch * len(inputs) + at + 1)
        accuracies[epoch] = _accuracy(stages, *tested)
    return accuracies


def _stages(rule: Rule, widths: Sequence[int], generators: Sequence[np.random.Generator], rates: Rates) -> list[Stage]:
    late = delays(len(widths) - 1, "sample") if rule.delayed else np.zeros(len(widths) - 1, dtype=np.int64)
    stages = []
    for at, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        weights = np.zeros((len(generators), outputs, inputs + 1))  # biases begin at 0
        for place, generator in enumerate(generators):
            weights[place, :, :-1] = generator.normal(0.0, np.sqrt(2 / inputs), (outputs, inputs))
        stages.append(Stage(weights, int(late[at]), rule, rates))
    return stages


def _through(stages: Sequence[Stage], inputs: Array) -> Array:
    for stage in stages[:-1]:
        inputs = np.maximum(stage.forward(inputs), 0.0)
    return stages[-1].forward(inputs)


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def _accuracy(stages: Sequence[Stage], inputs: Array, classes: NDArray[np.int64]) -> Array:
    """float64[trainings]: with the weights of now; a training that has diverged is right by chance alone."""
    values = np.broadcast_to(inputs, (len(stages[0].weights), *inputs.shape))
    for at, stage in enumerate(stages):
        values = np.matmul(values, stage.weights[:, :, :-1].transpose(0, 2, 1)) + stage.weights[:, None, :, -1]
        if at < len(stages) - 1:
            values = np.maximum(values, 0.0)
    return np.asarray((values.argmax(axis=2) == classes).mean(axis=1), dtype=np.float64)
