"""Rows of other programs' schedules, and small helpers for tests of timelines."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np

from hypar_exp.simulation.schedules import Kind, Order
from hypar_exp.simulation.stage_times import Seconds, StageTimes
from tests.conftest import DATA


def rows(name: str, **equal: str) -> list[dict[str, str]]:
    """The rows of a file in data/pipelines in which columns have these values."""
    with (DATA / "pipelines" / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if all(row[key] == value for key, value in equal.items())]


def numbers(text: str) -> Seconds:
    return np.array([float(word) for word in text.split()])


def combined(forward_s: Seconds, backward_s: Seconds, boundary_s: Seconds | None = None) -> StageTimes:
    """Times of a schedule that never takes the gradients apart."""
    link = np.zeros(len(forward_s) - 1) if boundary_s is None or not len(boundary_s) else boundary_s
    return StageTimes(
        forward_s, backward_s, np.zeros(len(forward_s)), forward_boundary_s=link, backward_boundary_s=link
    )


def uniform(
    chunks: int,
    forward_s: float = 1.0,
    input_gradient_s: float = 1.0,
    weight_gradient_s: float = 1.0,
    boundary_s: float = 0.0,
    recompute_s: float = 0.0,
) -> StageTimes:
    """The same times in every chunk."""
    ones = np.ones(chunks)
    return StageTimes(
        forward_s * ones, input_gradient_s * ones, weight_gradient_s * ones, recompute_s * ones,
        forward_boundary_s=boundary_s * ones[1:], backward_boundary_s=boundary_s * ones[1:],
    )  # fmt: skip


def words(order: Order) -> Iterator[str]:
    """`F0.1` for the forward of micro-batch 0 in chunk 1."""
    for kind, chunk, micro_batch in order.tolist():
        yield f"{Kind(kind).letter}{micro_batch}.{chunk}"
