"""Momentum with delayed gradients on convex quadratics, exactly, without data.

Kosson et al., Pipelined Backpropagation at Scale (MLSys 2021), section 3 and appendix. For one eigenvalue lambda of the
Hessian and a learning rate eta the error is a linear recurrence in x = eta lambda; the largest root of its
characteristic polynomial is the factor that the error shrinks by in a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_EXPONENT, MOST_EXPONENT = -8, 1
"""The normalised rates eta lambda that are tried are powers of ten between these."""
LEAST_DAMPING_EXPONENT = -5
"""Momenta are tried from 1 - 10^-5 down to 0."""


@dataclass(frozen=True)
class Method:
    """How the weights are updated from delayed gradients: w' = w - eta (a v' + b g), read at w + T (w - w_before).

    Attributes:
        name: as the paper calls it.
        delayed: whether gradients are delayed at all.
        spike: delays that spike compensation makes up for, in units of the delay: a = m^(spike D),
            b = (1 - m^(spike D)) / (1 - m); 0 for plain momentum, a = 1 and b = 0.
        horizon: steps that linear weight prediction looks ahead, T, in units of the delay; 0 for none.
    """

    name: str
    delayed: bool = True
    spike: int = 0
    horizon: int = 0

    def coefficients(self, delay: int, momentum: float) -> tuple[float, float]:
        """The a and b of the update."""
        steps = self.spike * delay
        a = momentum**steps
        return a, sum(momentum**step for step in range(steps))  # the sum is (1 - m^steps) / (1 - m), also at m = 1

    def polynomials(self, delay: int, momentum: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[rates, degree + 1]: coefficients, the highest power first; `x` is eta lambda.

        z^D (z - 1)(z - m) + x [(a + b) z - b m], and with prediction
        z^(D+1) (z - 1)(z - m) + x [(a + b) z - b m] [(1 + T) z - T].
        """
        steps = delay if self.delayed else 0
        a, b = self.coefficients(steps, momentum)
        gradient = np.array([a + b, -b * momentum])
        if self.horizon:
            ahead = self.horizon * steps
            gradient = np.convolve(gradient, [1.0 + ahead, -ahead])
        powers = np.zeros(steps + len(gradient) + 1)
        powers[:3] = 1.0, -(1.0 + momentum), momentum
        polynomials = np.tile(powers, (len(x), 1))
        polynomials[:, -len(gradient) :] += x[:, None] * gradient
        return polynomials


METHODS = {
    method.name: method
    for method in (
        Method("sgdm", delayed=False),
        Method("pb"),
        Method("lwp", horizon=1),
        Method("sc", spike=1),
        Method("lwp+sc", spike=1, horizon=1),
        Method("lwp2", horizon=2),
        Method("sc2", spike=2),
    )
}
"""Momentum without a delay; with one (`pb`); and what mitigates it: prediction (`lwp`), spike compensation (`sc`),
both, and each of them for twice the delay."""


@dataclass(frozen=True)
class Best:
    """The least half-life of a condition number, and where it is."""

    half_life_steps: float
    momentum: float
    largest_rate: float
    """eta times the largest eigenvalue."""


def shrinking(polynomials: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[rates]: the largest absolute value of each polynomial's roots."""
    degree = polynomials.shape[1] - 1
    companions = np.zeros((len(polynomials), degree, degree))
    companions[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
    companions[:, 0, :] = -polynomials[:, 1:] / polynomials[:, :1]
    roots = np.linalg.eigvals(companions)
    return np.asarray(np.abs(roots).max(axis=1), dtype=np.float64)


def best_half_lives(
    method: Method, delay: int, condition_numbers: Sequence[float], momenta: int, rates: int
) -> list[Best]:
    """The least half-life of the error for each condition number, over a grid of momenta and learning rates.

    Args:
        method: how weights are updated.
        delay: D, steps.
        condition_numbers: largest eigenvalue by smallest; the spectrum between them is dense.
        momenta: how many are tried, evenly by the logarithm of 1 - m.
        rates: how many eta lambda are tried, evenly by their logarithm.
    """
    x = np.logspace(LEAST_EXPONENT, MOST_EXPONENT, rates)
    rates_a_decade = (rates - 1) / (MOST_EXPONENT - LEAST_EXPONENT)
    best = [Best(math.inf, math.nan, math.nan) for _ in condition_numbers]
    for momentum in 1.0 - np.logspace(LEAST_DAMPING_EXPONENT, 0, momenta):
        factors = shrinking(method.polynomials(delay, float(momentum), x))
        for at, number in enumerate(condition_numbers):
            width = round(math.log10(number) * rates_a_decade) + 1
            slowest = np.lib.stride_tricks.sliding_window_view(factors, width).max(axis=1)
            place = int(slowest.argmin())
            steps = half_life(float(slowest[place]))
            if steps < best[at].half_life_steps:
                best[at] = Best(steps, float(momentum), float(x[place + width - 1]))
    return best


def half_life(factor: float) -> float:
    """Steps after which an error that shrinks by `factor` a step is half as large; infinite where it does not."""
    if factor <= 0:
        return 0.0
    return -math.log(2) / math.log(factor) if factor < 1 else math.inf
