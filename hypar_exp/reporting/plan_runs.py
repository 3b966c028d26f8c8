"""A plan of many layers in few lines: one for each run of layers that follow each other and are split alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hypar_exp.planning import Plan, level_names


def run_lines(plan: Plan, layer_names: Sequence[str], dots: str) -> list[str]:
    """A head, then a line a run: its first and last layer, how many there are, and their split at every level.

    `dots`: the symbol of each entry of a plan, by its number.
    """
    runs = alike(plan)
    labels = [
        layer_names[start] if end == start + 1 else f"{layer_names[start]} to {layer_names[end - 1]}"
        for start, end in runs
    ]
    width = max(len(label) for label in labels)
    names = level_names(plan.levels)
    lines = [" " * (width + 9) + " ".join(names)]
    for label, (start, end) in zip(labels, runs, strict=True):
        choices = " ".join(dots[level[start]].ljust(len(name)) for level, name in zip(plan.choices, names, strict=True))
        lines.append(f" {label:<{width}} {end - start:>5}  {choices.rstrip()}")
    return lines


def alike(plan: Plan) -> list[tuple[int, int]]:
    """(first, one past the last) of every run of layers whose columns of a plan are the same."""
    changes = np.flatnonzero((plan.choices[:, 1:] != plan.choices[:, :-1]).any(axis=0)) + 1
    bounds = [0, *changes.tolist(), plan.layers]
    return list(pairwise(bounds))
