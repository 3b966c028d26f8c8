"""CSV that no spreadsheet runs and that is read back as it was; lines that no terminal obeys."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from hypar_exp.reporting.console import console
from hypar_exp.text_files import csv_text, printable, rows_of_csv

CELLS = st.text() | st.sampled_from(
    ["=1+1", "+a", "-x", "@b", "'=1", "''=1", "-1.5", "+3", "-1 ", "\tx", "a,b", 'say "so"', "a\nb"]
)


@given(st.lists(st.lists(CELLS, min_size=1), min_size=1))
def test_every_text_is_read_back(rows: list[list[str]]) -> None:
    assert rows_of_csv(csv_text(rows)) == rows


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "+a", "-x", "@SUM(A1)", "'=1"])
def test_no_cell_is_a_formula(cell: str) -> None:
    ((written,),) = csv.reader(io.StringIO(csv_text([[cell]])))
    assert written == f"'{cell}"


def test_numbers_are_left_alone() -> None:
    assert csv_text([["-1.5", -2, "+3e4", "1e-5"]]) == "-1.5,-2,+3e4,1e-5\n"


@given(st.text())
def test_no_terminal_obeys(text: str) -> None:
    assert not any(letter in printable(text) for letter in "\x1b\x07\x08\r\x7f\x9b\u202e")
    printable(text).encode()  # is UTF-8, whatever was in it


def test_the_console_prints_no_control_character_that_it_was_given() -> None:
    table = Table("name\x1b[2J")
    table.add_row("\x1b]0;title\x07 [/red] [x]")
    with console().capture() as shown:
        console().print(table)
        console().print("a\x1b[31mb\rc [/red] [x]")
    assert "\x1b" not in shown.get()
    assert "[/red] [x]" in shown.get()
