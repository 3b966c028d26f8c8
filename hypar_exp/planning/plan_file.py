"""A user's own plan: a CSV file as runs record it, or the dots of the terminal pasted into a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hypar_exp.errors import did_you_mean
from hypar_exp.planning.plan import DOTS, ENTRIES, PLAIN_DOTS, Choices, Half, Plan, Split, level_names
from hypar_exp.planning.problem import PlanningProblem
from hypar_exp.text_files import Line, read_lines, read_text, rows_of_csv

ENTRY_OF = {
    symbol: entry for entry in ENTRIES for symbol in (DOTS[entry], PLAIN_DOTS[entry], str(entry.value), entry.label)
}


@dataclass(frozen=True)
class FromFile:
    """The plan in the file `path`, whatever it costs."""

    name: str
    path: str

    def plan(self, problem: PlanningProblem) -> Plan:
        """The plan.

        Raises:
            UserError: the file cannot be read, or is no plan of this network and array; says file and line.
        """
        return Plan(read_plan(self.path, problem.network.layer_names, problem.levels))


def read_plan(path: str, layer_names: Sequence[str], levels: int) -> Choices:
    """The plan in a file, uint8[levels, layers].

    The file is CSV with the header `level,<layer names>` and a row for each of H1, H2, ..., or what the terminal
    prints: lines that begin with H1, H2, ... and hold a symbol for each layer, or below the line `H1 H2 ...` one for
    each run of layers that are split alike, with a symbol for each level; whatever is around them does not count. Where
    there is none of this, every line holds the symbols of a level. A symbol is 0 to 4, a name (dp mp op first
    second), or a dot of the terminal.

    Raises:
        UserError: the file cannot be read, has another shape, or other symbols; says file and line.
    """
    text = read_text(path, "plan")
    if text.lstrip().partition(",")[0].strip() in ("level", '"level"'):
        return _plan_of(*_csv_rows(Path(path), text, layer_names), layer_names, levels)
    lines = read_lines(path, "plan")
    runs = [at for at, line in enumerate(lines) if re.fullmatch(r"H1( +H\d+)*", line.text)]
    if runs and levels:
        return _plan_of_runs(lines[runs[0] :], layer_names, levels)
    return _plan_of(_pasted_rows(lines), lines[-1], layer_names, levels)


def _plan_of(rows: Mapping[str, _Row], last: Line, layer_names: Sequence[str], levels: int) -> Choices:
    for (name, row), expected in zip(rows.items(), level_names(len(rows)), strict=True):
        if name != expected:
            raise row.line.error(f"the level should be {expected} (got {name})")
        if len(row.choices) != len(layer_names):
            raise row.line.error(
                f"{name} has {len(row.choices)} choices, but the network has {len(layer_names)} layers"
            )
    if len(rows) != levels:
        raise last.error(f"array.levels is {levels}, but the plan has {len(rows)}")
    return np.array([row.choices for row in rows.values()], dtype=np.uint8).reshape(levels, len(layer_names))


@dataclass(frozen=True)
class _Row:
    """The choices of a level, in the network's order, and where they are."""

    line: Line
    choices: list[Split | Half]


def _csv_rows(path: Path, text: str, layer_names: Sequence[str]) -> tuple[dict[str, _Row], Line]:
    """The rows by level, and the last line."""
    numbered = [(number, cells) for number, cells in enumerate(rows_of_csv(text), 1) if any(map(str.strip, cells))]
    (_, columns), *body = numbered
    head = Line(path, numbered[0][0], ",".join(columns))
    columns = [cell if cell in layer_names else cell.strip() for cell in columns]
    for name in columns[1:]:
        if name not in layer_names:
            raise head.error(f"the network has no layer '{name}'{did_you_mean(name, layer_names)}")
        if columns[1:].count(name) > 1:
            raise head.error(f"the layer '{name}' is there twice")
    for name in layer_names:
        if name not in columns[1:]:
            raise head.error(f"the layer '{name}' is missing")
    rows: dict[str, _Row] = {}
    for number, given in body:
        line = Line(path, number, ",".join(given))
        level, *cells = (cell.strip() for cell in given)
        if level in rows:
            raise line.error(f"the level {level} is there twice")
        if len(cells) != len(layer_names):
            raise line.error(f"{level} has {len(cells)} choices, but the network has {len(layer_names)} layers")
        by_name = dict(zip(columns[1:], _entries(line, cells), strict=True))
        rows[level] = _Row(line, [by_name[name] for name in layer_names])
    return rows, Line(path, numbered[-1][0], ",".join(numbered[-1][1]))


def _pasted_rows(lines: list[Line]) -> dict[str, _Row]:
    named = [(line, match[1], match[2]) for line in lines if (match := re.match(r"(H\d+)\b(.*)", line.text))]
    if not named:
        named = [(line, f"H{number}", line.text) for number, line in enumerate(lines, 1)]
    rows: dict[str, _Row] = {}
    for line, level, text in named:
        if level in rows:
            raise line.error(f"the level {level} is there twice")
        rows[level] = _Row(line, _entries(line, _symbols(text)))
    return rows


def _plan_of_runs(lines: list[Line], layer_names: Sequence[str], levels: int) -> Choices:
    """The plan in lines `FIRST to LAST COUNT SYMBOLS`, or `LAYER 1 SYMBOLS`, below the line `H1 H2 ...`."""
    head, *body = lines
    if len(head.text.split()) != levels:
        raise head.error(f"array.levels is {levels}, but the plan has {len(head.text.split())}")
    plan = np.empty((levels, len(layer_names)), dtype=np.uint8)
    start, line = 0, head
    for line in body:
        match = re.match(r"(\S+)(?: to (\S+))? +(\d+) +(.*)", line.text)
        if start == len(layer_names) or match is None:
            break
        first, last, count, choices = match[1], match[2] or match[1], int(match[3]), _symbols(match[4])
        end = start + count
        if end > len(layer_names) or (layer_names[start], layer_names[end - 1]) != (first, last):
            raise line.error(f"the network has no {count} layers {first} to {last} after its first {start}")
        if len(choices) != levels:
            raise line.error(f"{first} has {len(choices)} choices, but array.levels is {levels}")
        plan[:, start:end] = np.array(_entries(line, choices))[:, None]
        start = end
    if start < len(layer_names):
        raise line.error(f"the layer '{layer_names[start]}' is missing")
    return plan


def _symbols(text: str) -> list[str]:
    """The symbols of a row, whether or not there is space between them."""
    words = text.split()
    return words if set(words) <= ENTRY_OF.keys() else list("".join(words))


def _entries(line: Line, symbols: Sequence[str]) -> list[Split | Half]:
    for symbol in symbols:
        if symbol not in ENTRY_OF:
            raise line.error(f"'{symbol}' is no split; a plan is written in {' '.join(ENTRY_OF)}")
    return [ENTRY_OF[symbol] for symbol in symbols]
