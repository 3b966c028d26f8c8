"""What a workload found, as cells, files and a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hypar_exp.reporting.findings import cell_words, findings_artifacts, findings_markdown
from hypar_exp.reporting.line_picture import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Scale, lines_svg
from hypar_exp.systems import Chart, Findings, Table
from hypar_exp.text_files import rows_of_csv

SVG = "{http://www.w3.org/2000/svg}"
CHART = Chart(
    "A & B", "steps", "J", {"up": ([1, 10, 100], [1, 100, 1e4]), "flat": ([1, 100], [10.0, 10.0])}, True, True
)
FOUND = Findings(
    "What was computed",
    ["It is so"],
    [
        Table(
            "numbers", ["who", "time (s)", "difference", "count"], [["a", 0.00123, -0.05, 3.0], ["=b", None, None, 0.5]]
        )
    ],
    {"time_s": 0.00123},
    chart=CHART,
)


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("time (s)", 0.00123, "1.23 ms"),
        ("weights (bytes)", 3.2e9, "3.20 GB"),
        ("difference", -0.05, "-5.00 %"),
        ("share waiting", 0.5, "50.0 %"),
        ("epochs", 29.0, "29"),
        ("gain", 1.2345, "1.23"),
        ("anything", None, ""),
        ("anything", "text", "text"),
    ],
)
def test_cells(column: str, cell: float | str | None, words: str) -> None:
    assert cell_words(column, cell) == words


def test_files_have_all_digits_and_markdown_has_few() -> None:
    files = findings_artifacts(FOUND)
    assert rows_of_csv(files["numbers.csv"]) == [
        ["who", "time (s)", "difference", "count"],
        ["a", "0.00123", "-0.05", "3"],
        ["=b", "", "", "0.5"],
    ]
    assert files["chart.svg"] == lines_svg(CHART)
    text = findings_markdown(FOUND)
    assert text.startswith("What was computed\n\n- It is so.\n")
    assert "| a | 1.23 ms | -5.00 % | 3 |" in text


def test_lines_lie_where_their_values_are() -> None:
    """On logarithmic axes 1, 10, 100 are evenly spaced; y runs upwards from 1 to 10^4."""
    root = ElementTree.fromstring(lines_svg(CHART))
    rising, flat = ([[float(n) for n in point.split(",")] for point in line.get("points", "").split()]
                    for line in root.iter(f"{SVG}polyline"))  # fmt: skip
    middle = (LEFT + WIDTH - RIGHT) / 2
    bottom = HEIGHT - BOTTOM
    assert rising == [[LEFT, bottom], [middle, (TOP + bottom) / 2], [WIDTH - RIGHT, TOP]]
    assert flat[0][1] == flat[1][1] == pytest.approx(bottom - (bottom - TOP) / 4)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"A & B", "steps", "J", "up", "flat"} <= set(texts)
    height = float(root.get("height", "0"))
    assert all(0 <= float(text.get("y", "0")) <= height for text in root.iter(f"{SVG}text"))


@pytest.mark.parametrize(
    ("values", "log", "ticks"),
    [
        ([0.0, 1.0], False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ([1.0, 128.0], False, [0, 50, 100]),
        ([1.0, 64.0], True, [1, 2, 4, 8, 16, 32, 64]),
        ([2.0, 5e4], True, [10, 100, 1000, 10000]),
        ([3.0, 3.0], True, [2, 4]),
        ([], False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_ticks_are_round_and_in_the_range(values: list[float], log: bool, ticks: list[float]) -> None:
    assert Scale(values, 0, 1, log).ticks == pytest.approx(ticks)
