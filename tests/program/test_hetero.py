"""array=hetero on the command line."""

from __future__ import annotations

import pytest

from tests.conftest import Command


def test_two_kinds_in_one_run(command: Command) -> None:
    shown = command("network=lenet_c", "array=hetero", "tracking=none").stdout
    assert "16 accelerators (hetero)" in shown
    (compute,) = [line.split()[1:3] for line in shown.splitlines() if line.strip().startswith("compute")]
    # 4/3 of the H tree's 6.28 ms: 8 of 16 accelerators have half the speed
    assert compute == ["8.38", "ms"]


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("array.mixed_level=5", "array.mixed_level must be a whole number from 1 to 4 (got 5)"),
        ("array.second.processing_elements=0", "array.second: processing_elements must be a whole number"),
        ("+array.second.pes=2", "array.second has no key 'pes'"),
        ("objective=time", "objective=time is a sum over accelerators of one kind, and array=hetero has several"),
    ],
)
def test_what_is_refused(command: Command, override: str, sentence: str) -> None:
    error = command("network=lenet_c", "array=hetero", "tracking=none", override, expect=2).stderr
    assert error.startswith(f"hypar_exp: {sentence}")
    assert error.count("\n") == 1
