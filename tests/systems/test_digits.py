"""Training with delays against a pipeline that is carried out slot by slot, and the workload on real digits."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from hypar_exp.errors import UserError
from hypar_exp.systems.delayed_training import RULES, Array, Rates, train
from hypar_exp.systems.digits import DelayedDigits
from tests.systems.settings import setting, workload

WIDTHS, SAMPLES, RATE = [3, 8, 6, 2], 30, 0.02


def test_rates_of_a_batch_of_one() -> None:
    """m = m_r^(1/N) and eta / (1 - m) N = eta_r / (1 - m_r)."""
    rates = Rates.of_batch(0.1, 0.9, 32)
    assert rates.momentum**32 == pytest.approx(0.9)
    assert 32 * rates.learning_rate / (1 - rates.momentum) == pytest.approx(0.1 / 0.1)
    assert Rates.of_batch(0.1, 0.9, 1).learning_rate == pytest.approx(0.1)


@pytest.mark.parametrize("stashes", [False, True])
@pytest.mark.parametrize("compensates", [False, True])
def test_as_a_pipeline_that_is_carried_out_slot_by_slot(stashes: bool, compensates: bool) -> None:
    rule = replace(RULES["pb"], stashes=stashes, compensates=compensates)
    draw = np.random.default_rng(5)
    inputs, classes = draw.normal(size=(SAMPLES, 3)), draw.integers(0, 2, SAMPLES)
    tested = draw.normal(size=(200, 3))
    labels = np.zeros(200, dtype=np.int64)
    share = train(rule, WIDTHS, (inputs, classes), (tested, labels), 1, [7], Rates(RATE, 0.6), lambda _: None)
    expected = (slot_by_slot(stashes, compensates, inputs, classes, tested) == 0).mean()
    assert share[0, 0] == pytest.approx(expected, abs=1e-12)
    assert 0 < expected < 1


def slot_by_slot(stashes: bool, compensates: bool, inputs: Array, classes: np.ndarray, tested: Array) -> np.ndarray:
    """Sample t is forward at stage s in slot t + s, and backward in slot t + 2(S - 1) - s; updates come after both."""
    generator = np.random.default_rng(7)
    weights = []
    for fan_in, fan_out in itertools.pairwise(WIDTHS):
        drawn = generator.normal(0.0, np.sqrt(2 / fan_in), (fan_out, fan_in))
        weights.append(np.hstack([drawn, np.zeros((fan_out, 1))]))
    order = generator.permutation(len(inputs))
    stages = len(weights)
    velocities = [np.zeros_like(each) for each in weights]
    entering: dict[tuple[int, int], Array] = {(t, 0): inputs[chosen] for t, chosen in enumerate(order)}
    used: dict[tuple[int, int], Array] = {}
    errors: dict[tuple[int, int], Array] = {}
    for slot in range(len(inputs) + 2 * stages):
        now = [each.copy() for each in weights]
        for s in range(stages):  # forward
            t = slot - s
            if 0 <= t < len(inputs):
                used[t, s] = now[s]
                scores = now[s] @ np.append(entering[t, s], 1.0)
                if s < stages - 1:
                    entering[t, s + 1] = np.maximum(scores, 0.0)
                else:
                    chances = np.exp(scores - scores.max())
                    chances /= chances.sum()
                    chances[classes[order[t]]] -= 1
                    errors[t, s] = chances
        for s in range(stages):  # backward
            t = slot - 2 * (stages - 1) + s
            if 0 <= t < len(inputs):
                error = errors[t, s]
                if s:
                    through = used[t, s] if stashes else now[s]
                    errors[t, s - 1] = (through[:, :-1].T @ error) * (entering[t, s] > 0)
                gradient = np.outer(error, np.append(entering[t, s], 1.0))
                velocities[s] = 0.6 * velocities[s] + gradient
                delay = 2 * (stages - 1 - s)
                a, b = (0.6**delay, (1 - 0.6**delay) / 0.4) if compensates else (1.0, 0.0)
                weights[s] = weights[s] - RATE * (a * velocities[s] + b * gradient)
    values = tested
    for s, each in enumerate(weights):
        values = values @ each[:, :-1].T + each[:, -1]
        values = np.maximum(values, 0.0) if s < stages - 1 else values
    return np.asarray(values.argmax(axis=1))


def test_a_short_training_learns() -> None:
    made = workload("pipelined_backprop_digits")
    assert isinstance(made, DelayedDigits)
    short = replace(made, rules=["sgdm", "lwp_sc"], stages=2, epochs=1, seeds=1, learning_rate=0.1, tested_share=0.6)
    steps: list[int] = []
    found = short.run(replace(setting(8, 6), progress=lambda done, total: steps.append(done)))
    assert found.metrics["accuracy_sgdm"] > 0.7
    assert found.metrics["accuracy_lwp_sc"] > 0.7
    assert len(found.series["epoch/accuracy_sgdm"]) == 1
    assert steps == sorted(steps)


def test_bad_values() -> None:
    made = workload("pipelined_backprop_digits")
    assert isinstance(made, DelayedDigits)
    with pytest.raises(UserError, match=r"workload\.rules has no 'lwp\+sc'; did you mean lwp_sc"):
        replace(made, rules=["lwp+sc"])
    with pytest.raises(UserError, match=r"workload\.seeds must be a whole number from 1 to 1000 \(got 0\)"):
        replace(made, seeds=0)
    with pytest.raises(UserError, match=r"workload\.momentum must be"):
        replace(made, momentum=1.0)
