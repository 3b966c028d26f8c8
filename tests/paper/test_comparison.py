"""The rule by which our values are compared with the published ones."""

from __future__ import annotations

import pytest

from hypar_exp.paper.comparison import Compared, Value, Verdict, comparison_csv, largest_difference
from hypar_exp.paper.published import Published


def compared(ours: Value, text: str | None, note: int | None = None) -> Compared:
    published = None if text is None else Published(text, printed=True, precision=None)
    return Compared(("vgg_e", "hypar"), ours, published, note)


@pytest.mark.parametrize(
    ("ours", "published", "verdict"),
    [
        (3.0546, "3.05", "equal"),  # rounds to the printed digits
        (3.0449, "3.05", "within 1 %"),  # rounds to 3.04
        (1.995, "2.00", "equal"),  # at the very edge of half a digit
        (1.9949, "2.00", "within 1 %"),
        (134.4, "134", "equal"),
        (134.6, "134", "within 1 %"),
        (3.279, "3.27", "within 1 %"),
        (1.49, "1.47", "within 3 %"),
        (1.52, "1.47", "differs"),
        (0.0, "0", "equal"),
        (0.7, "0", "differs"),
        (12.07, ">10", "equal"),
        (9.9, ">10", "differs"),
        ("0111", "0111", "equal"),
        ("0110", "0111", "differs"),
    ],
)
def test_verdict(ours: Value, published: str, verdict: str) -> None:
    assert compared(ours, published).verdict == verdict


def test_relative_difference() -> None:
    assert compared(2.37, "2.40").relative_difference == pytest.approx(-0.0125)
    assert compared("0110", "0111").relative_difference == 0.25  # one of four places
    assert compared(12.07, ">10").relative_difference is None
    assert compared(1.0, None).relative_difference is None
    rows = [compared(2.37, "2.40"), compared(1.0, None), compared(12.0, ">10"), compared(3.06, "3.05")]
    assert largest_difference(rows) == pytest.approx(0.0125)


def test_what_was_not_published_has_no_verdict() -> None:
    assert compared(1.0, None).verdict is None


def test_texts_show_the_printed_digits_where_equal_and_how_it_differs_where_not() -> None:
    assert compared(23.4756, "23.48").ours_text == "23.48"
    assert compared(1.9949, "2.00").ours_text == "1.99"
    assert compared(235.34, "134").ours_text == "235.3"
    assert compared(1.9949, "2.00").difference_text == "-0.3 %"
    assert compared(87.4, "50.1").difference_text == "+74 %"


def test_csv() -> None:
    text = comparison_csv(("network", "strategy"), [compared(3.279, "3.27", note=2), compared(1.0, None)])
    assert text.splitlines() == [
        "network,strategy,ours,published,source,relative_difference,verdict,note",
        "vgg_e,hypar,3.279,3.27,printed,0.002752,within 1 %,2",
        "vgg_e,hypar,1,,,,,",
    ]


def test_verdicts_are_in_the_order_of_nearness() -> None:
    assert list(Verdict) == ["equal", "within 1 %", "within 3 %", "differs"]
