"""Numbers as a person reads them."""

from __future__ import annotations

import pytest

from hypar_exp.units import percent, percent_at_most, quantity, significant


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "s", "0 s"),
        (41.87, "s", "41.9 s"),
        (1610.4, "s", "1,610 s"),
        (0.0418, "s", "41.8 ms"),
        (9.996e-4, "s", "1.00 ms"),
        (2.5e-7, "s", "250 ns"),
        (2764859904.0, "B", "2.76 GB"),
        (999.6, "B", "1.00 kB"),
        (0.5, "B", "0.500 B"),
        (143652544, "", "144 M"),
        (4.6e-12, "J", "4.60 pJ"),
        (1234.0, "J", "1.23 kJ"),
        (float("inf"), "s", "inf s"),
    ],
)
def test_quantity(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (2.728, "2.73"),
        (15.96, "16.0"),
        (0.01206, "0.0121"),
        (1234.5, "1,234"),
        (9.999, "10.0"),
        (-2.5, "-2.50"),
    ],
)
def test_significant(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(("share", "text"), [(0.0191, "1.91 %"), (0.5, "50.0 %"), (0.0, "0 %")])
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.001506, "0.16 %"),
        (0.0015, "0.15 %"),
        (0.0366, "3.7 %"),
        (0.03601, "3.7 %"),
        (0.2341, "24 %"),
        (1.501, "151 %"),
        (0, "0 %"),
    ],
)
def test_a_bound_is_rounded_away_from_the_claim(share: float, words: str) -> None:
    assert percent_at_most(share) == words
