"""docs/beyond.md: its library example runs, and what it links to is there."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "beyond.md").read_text(encoding="utf-8")


def test_the_plan_space_example_finds_the_paper_s_peak(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out.split()[-1].startswith("18.21")  # seconds; dp takes 90.6, figure 10's peak is 4.97


def test_what_the_page_links_to_is_there() -> None:
    for target in re.findall(r"\]\((?!http|#)([^)]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
