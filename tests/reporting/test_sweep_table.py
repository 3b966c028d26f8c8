"""A sweep's table: it fits the terminal, says units, and marks the best of each group."""

from __future__ import annotations

import pytest

from hypar_exp.reporting.console import console
from hypar_exp.reporting.sweep_table import Row, axis_heads, axis_value, best_of_groups, column_of, show_runs

AXES = ["network", "strategy", "hardware.link_bandwidth_bits_per_s"]
KEYS = (
    "step_time_s",
    "communication_bytes",
    "step_energy_j",
    "memory_per_accelerator_bytes",
    "speedup",
    "energy_efficiency",
)


def row(network: str, strategy: str, rate: str, time_s: float) -> Row:
    return Row(
        dict(zip(AXES, (network, strategy, rate), strict=True)),
        dict.fromkeys(KEYS, 1.234e9) | {"step_time_s": time_s, "speedup": 2.0, "energy_efficiency": 1.5},
    )


ROWS = [
    row("a", "dp", "1.6e9", 3),
    row("a", "hypar", "1.6e9", 2),
    row("b", "dp", "1.6e9", 8),
    row("b", "hypar", "1.6e9", 9),
]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_table_fits_and_says_what_it_leaves_out(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    console.cache_clear()
    show_runs("title", AXES, ROWS)
    console.cache_clear()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert any("1.60 Gb/s" in line for line in lines)
    assert any("link bandwidth" in line for line in lines)
    left_out = any(line.startswith("In the file: memory") for line in lines)
    assert left_out == (width < 100)
    assert any("* best strategy of its group" in line for line in lines)


def test_the_best_of_each_group_is_marked() -> None:
    assert best_of_groups(AXES, ROWS, column_of("step_time_s")) == [False, True, True, False]


def test_axes_whose_last_parts_agree_keep_their_whole_keys() -> None:
    assert axis_heads(["network.name", "strategy.name", "array.levels"]) == {
        "network.name": "network.name", "strategy.name": "strategy.name", "array.levels": "levels",
    }  # fmt: skip


def test_values_with_a_unit_in_their_key() -> None:
    assert axis_value("hardware.dram_bandwidth_bytes_per_s", "320e9") == "320 GB/s"
    assert axis_value("hardware.dram_capacity_bytes", "8000000000.0") == "8.00 GB"
    assert axis_value("hardware.dram_capacity_bytes", "many") == "many"
    assert axis_value("batch_size", "256") == "256"
