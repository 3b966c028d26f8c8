"""A strategy: model parallelism where a layer has more weights than it has outputs in its share of the batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hypar_exp.checks import require_number
from hypar_exp.planning import Plan, PlanningProblem, Split


@dataclass(frozen=True)
class ByWeights:
    """Exchanges whichever is smaller: the gradients of the weights, or the outputs of the batch.

    Attributes:
        factor: how many times more weights than outputs a layer needs to be split by its weights.
    """

    name: str = "by_weights"
    factor: float = 1.0

    def __post_init__(self) -> None:
        require_number("strategy", self, "factor")

    def plan(self, problem: PlanningProblem) -> Plan:
        """A group of accelerators has half the batch at each level of data parallelism."""
        layers = problem.network.layers
        weights = np.array([layer.weights for layer in layers], dtype=float)
        outputs = np.array([layer.output.elements for layer in layers], dtype=float) * problem.batch_size
        rows = np.zeros((problem.levels, len(layers)), dtype=np.uint8)
        for choices in rows:
            choices[weights > self.factor * outputs] = Split.MP
            weights[choices == Split.MP] /= 2
            outputs[choices == Split.DP] /= 2
        return Plan(rows)
