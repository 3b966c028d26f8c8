"""The published values of the package are those of a second transcription of the paper."""

from __future__ import annotations

import csv

import pytest

from hypar_exp.paper.items import ITEMS
from hypar_exp.paper.published import published_values
from tests.conftest import DATA


def transcribed(name: str) -> list[dict[str, str]]:
    with (DATA / "paper" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def number(item: str, *labels: str) -> float:
    value = published_values(item)[labels].number
    assert value is not None
    return value


def test_plans() -> None:
    told = {(row["network"], row["level"]): row["plan"] for row in transcribed("fig05_plans")}
    assert {labels: value.text for labels, value in published_values("fig05").items()} == told


@pytest.mark.parametrize(
    ("item", "file", "columns"),
    [
        ("fig06", "fig06_performance", ("mp", "hypar")),
        ("fig07", "fig07_energy_efficiency", ("mp", "hypar")),
        ("fig08", "fig08_communication_gb", ("mp", "dp", "hypar")),
        ("fig12", "fig12_topology_read_off", ("torus", "htree")),
    ],
)
def test_bars(item: str, file: str, columns: tuple[str, ...]) -> None:
    told = {
        (row["network"], column): float(row[column].removeprefix(">"))
        for row in transcribed(file)
        for column in columns
    }
    assert {labels: value.number for labels, value in published_values(item).items()} == told


def test_scalability() -> None:
    columns = {
        "hypar gain": "hypar_gain",
        "dp gain": "dp_gain",
        "hypar GB": "hypar_communication_gb",
        "dp GB": "dp_communication_gb",
    }
    told = {
        ("vgg_e", row["accelerators"], quantity): float(row[column])
        for row in transcribed("fig11_scalability_read_off")
        for quantity, column in columns.items()
    }
    assert {labels: value.number for labels, value in published_values("fig11").items()} == told


def test_trick() -> None:
    told = {
        (row["case"], quantity): float(row[quantity.replace(" ", "_")])
        for row in transcribed("fig13_trick")
        for quantity in ("performance", "energy efficiency")
    }
    assert {labels: value.number for labels, value in published_values("fig13").items()} == told


def test_marked_points() -> None:
    by_point = {
        (row["figure"], row["point"]): float(row["normalized_performance"]) for row in transcribed("fig09_fig10_points")
    }
    assert number("fig09", "HyPar's plan", "performance") == by_point["fig09", "hypar and peak"]
    assert number("fig09", "the peak", "performance") == by_point["fig09", "hypar and peak"]
    assert number("fig10", "HyPar's plan, 0001-1111", "performance") == by_point["fig10", "hypar"]
    assert number("fig10", "the printed peak, 1000-1111", "performance") == by_point["fig10", "peak"]


def test_what_was_read_off_says_how_exactly() -> None:
    for item in ITEMS:
        for labels, value in published_values(item.name).items():
            assert value.printed or value.precision, (item.name, labels)
