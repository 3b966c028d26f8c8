"""`pass=` on the command line: a knob whose name is a keyword of Python."""

from __future__ import annotations

import pytest

from tests.conftest import Command


def test_inference_by_hypar_is_data_parallel_and_exchanges_nothing(command: Command) -> None:
    shown = command("network=lenet_c", "pass=inference", "baseline=null", "tracking=none").stdout
    assert "inference" in shown
    assert "●" not in shown.split("● model parallelism")[0]
    assert [line.split()[1:] for line in shown.splitlines() if line.startswith(" communication ")] == [["0", "B"]]


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("pass=infer", "pass must be training or inference (got 'infer')"),
        ("pas=inference", "there is no key 'pas'; did you mean pass or page?"),
        ("+passes=inference", "there is no key 'passes'; did you mean pass or page?"),
        ("batch_size=abc", "batch_size: Value 'abc' of type 'str' could not be converted to Integer"),
    ],
)
def test_what_is_no_pass(command: Command, override: str, sentence: str) -> None:
    assert command("tracking=none", override, expect=2).stderr == f"hypar_exp: {sentence}\n"
