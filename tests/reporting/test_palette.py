"""Looks that people can tell apart, whatever their colour vision, on a screen and in grey."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from hypar_exp.paper.figures.style import MARKS
from hypar_exp.reporting.palette import OTHERS, STRATEGIES, marks_of

SEEN_BY = {
    "full colour vision": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""Machado, Oliveira and Fernandes (2009), A Physiologically-based Model for Simulation of Color Vision Deficiency,
table 1 at severity 1: linear RGB -> linear RGB."""
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)
TOLD_APART = 8.0
"""Of CIELAB, in which a difference of 2.3 is just noticed side by side."""


def lab(colour: str, matrix: object) -> NDArray[np.float64]:
    """CIELAB of a colour as somebody sees it."""
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.asarray(matrix) @ linear, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SEEN_BY)
def test_our_strategies_have_colours_that_everybody_tells_apart(sight: str) -> None:
    seen = {name: lab(mark.colour, SEEN_BY[sight]) for name, mark in STRATEGIES.items()}
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > TOLD_APART, (one, other)


def test_our_strategies_differ_in_grey() -> None:
    grey = sorted(lab(mark.colour, np.eye(3))[0] for mark in STRATEGIES.values())
    assert min(np.diff(grey)) > TOLD_APART
    assert grey[-1] < 85, "the lightest is still seen on white"


def test_looks_differ_in_more_than_colour() -> None:
    ours = list(STRATEGIES.values())
    assert len({mark.marker for mark in ours}) == len(ours)
    every = [*ours, *OTHERS]
    assert len({(mark.marker, mark.dash, mark.hatch) for mark in every}) == len(every)
    assert len({mark.colour for mark in every}) == len(every)


def test_a_strategy_looks_the_same_in_every_picture() -> None:
    alone, among = marks_of(["mine"]), marks_of(["dp", "mine", "hypar"])
    assert alone["mine"] == among["mine"]
    assert among["hypar"] == STRATEGIES["hypar"] == MARKS["hypar"]
    assert marks_of(["hypar", "dp"])["dp"] == among["dp"]


def test_no_two_names_of_a_picture_look_alike() -> None:
    names = [f"network_{number}" for number in range(12)] + ["hypar", "dp"]
    assert len(set(marks_of(names).values())) == len(names)


def test_more_names_than_looks_have_one_each() -> None:
    assert len(marks_of([str(number) for number in range(30)])) == 30
