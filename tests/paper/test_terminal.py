"""The reproduction on a terminal of 80 columns."""

from __future__ import annotations

import pytest

from hypar_exp.paper.evidence import Evidence
from hypar_exp.paper.finding import Finding
from hypar_exp.paper.items import ITEMS
from hypar_exp.paper.published import published_values
from hypar_exp.paper.terminal import show_finding, show_scoreboard
from hypar_exp.reporting.console import console

FINDINGS = [
    Finding(
        item,
        item.compared(
            Evidence({labels: value.number if value.number is not None else value.text for labels, value in values})
        ),
        None,
        None,
    )
    for item in ITEMS
    for values in [published_values(item.name).items()]
]


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console(), "_width", 80)


@pytest.mark.parametrize("finding", FINDINGS, ids=[item.name for item in ITEMS])
def test_every_table_fits(finding: Finding, capsys: pytest.CaptureFixture[str]) -> None:
    show_finding(finding)
    table = [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.startswith(" ")]
    assert len(table) > 3
    assert max(map(len, table)) <= 80


def test_the_scoreboard_fits(capsys: pytest.CaptureFixture[str]) -> None:
    show_scoreboard(FINDINGS)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert sum(line.startswith((" Table", " Figure")) for line in lines) == len(ITEMS)
