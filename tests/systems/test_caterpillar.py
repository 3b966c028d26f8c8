"""CATERPILLAR against what was read from its figures, and a step's accounting against the workload's formula."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from hypar_exp.errors import UserError
from hypar_exp.simulation import HTree, simulate
from hypar_exp.systems.caterpillar import Method
from hypar_exp.systems.caterpillar_figures import Caterpillar
from hypar_exp.systems.convergence import Convergence
from hypar_exp.systems.published_values import published_rows
from tests.conf import accounting, hardware, network
from tests.systems.settings import setting, workload

FIGURES = published_rows("caterpillar_figs6to8_read")
EXPLAINED = [row for row in FIGURES if not row["method"].startswith("DFA")]


@pytest.fixture(scope="module")
def energies() -> dict[str, float]:
    return dict(cast(Caterpillar, workload("caterpillar")).run(setting(8, 6)).metrics)


@pytest.mark.parametrize("row", EXPLAINED, ids=lambda row: f"{row['network']} {row['method']}")
def test_energies_of_figures_6_to_8_within_seven_percent(row: dict[str, str], energies: dict[str, float]) -> None:
    energy_j = float(row["epochs"]) * energies[f"energy_per_epoch_j/{row['network']}/{row['method']}"]
    assert energy_j == pytest.approx(float(row["read_total_J"]), rel=0.07)


def test_it_says_how_far_it_agrees(energies: dict[str, float]) -> None:
    assert len(EXPLAINED) == energies["totals_compared"] == energies["totals_within_7_percent"] == 30
    found = cast(Caterpillar, workload("caterpillar")).run(setting(8, 6))
    assert found.words[0].startswith("30 of 30 energies of SGD, MBGD and CP are within 7 %")
    assert "contradicts itself" in found.words[2]
    table = next(table for table in found.tables if table.name == "table_2")
    printed = {(row[0], row[1]): row[3] for row in table.rows}
    assert printed["N1", "SGD"] == 177
    assert printed["N3", "CP"] == 211


def test_an_epoch_by_hand() -> None:
    """One layer 3 -> 2, DFA and CP of a batch of 2, one sample an epoch, half of the weights' accesses off core."""
    machine = {"network": "x", "widths": [3, 4, 2], "processing_elements": 5, "off_core_share": 0.5}
    machine |= {"utilisation": {"CP": 0.5, "DFA": 1.0}}
    made = Caterpillar({"M": machine}, ["CP2", "DFA2"], 100.0, 10.0, 1.0, 1, 2.0)
    found = made.run(setting(8, 6)).metrics
    # 20 products: 60 multiply-adds and local accesses, 20 x 2 / 2 = 20 accesses to weights, half of them off core
    assert found["energy_per_epoch_j/M/CP2"] == pytest.approx(6000 + 600 + 100 + 10)
    assert found["time_per_epoch_s/M/CP2"] == pytest.approx(60 / (5 * 2 * 0.5))
    # feedback from the two outputs to the hidden four: 8 products in place of 20; 20 x 3 / 2 = 30 accesses to weights
    assert found["energy_per_epoch_j/M/DFA2"] == pytest.approx(4800 + 480 + 150 + 15)


@pytest.mark.parametrize(
    ("option", "batch_size", "method", "epochs"),
    [("caterpillar", 1, "SGD", 29), ("caterpillar_cp", 1, "CP", 29), ("caterpillar_mbgd", 50, "BGD50", 21)],
)
def test_an_ordinary_step_s_energy_is_the_figures(option: str, batch_size: int, method: str, epochs: float) -> None:
    trained, chip = network("caterpillar_500"), hardware("caterpillar_2x16")
    array, charged = HTree("htree", 0), accounting(option)
    report = simulate(trained, np.zeros((0, len(trained.layers)), np.uint8), array, chip, charged, batch_size)
    read = next(row for row in FIGURES if row["network"] == "N1" and row["method"] == method)
    accuracy = {"SGD": 92.0, "CP": 93.0, "BGD50": 90.0}[method]
    converges = Convergence("caterpillar_500", method, accuracy, 6000)
    assert converges.epochs == epochs
    whole = converges.steps(batch_size) * report.step_energy_j
    assert whole == pytest.approx(float(read["read_total_J"]), rel=0.07)


def test_epochs_are_those_of_figure_5() -> None:
    assert Convergence("caterpillar_500", "SGD", 92.0, 6000).epochs == 29
    assert Convergence("caterpillar_500", "SGD", 90.0, 6000).epochs == 5
    assert Convergence("caterpillar_2500", "BGD8", 90.0, 6000).epochs == 6  # not told when it passed 90 %
    with pytest.raises(UserError, match="BGD2 trains caterpillar_500 to 88 % at most, not to 90"):
        Convergence("caterpillar_500", "BGD2", 90.0, 6000)


def test_a_table_of_one_s_own(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("network,method,accuracy_percent,epochs\nnet,adam,75,12\nnet,adam,70,4\n")
    assert Convergence("net", "adam", 60.0, 100, str(table)).steps(10) == 40
    table.write_text("network,method,epochs\nnet,adam,12\n")
    with pytest.raises(UserError, match="has no column 'accuracy_percent'"):
        Convergence("net", "adam", 60.0, 100, str(table))
    table.write_text("network,method,accuracy_percent,epochs\nnet,adam,75,many\n")
    with pytest.raises(UserError, match=r"epochs must be a number \(got 'many'\)"):
        Convergence("net", "adam", 60.0, 100, str(table))


@pytest.mark.parametrize("name", ["ADAM", "BGD0", "SGD2", ""])
def test_unknown_methods(name: str) -> None:
    with pytest.raises(UserError, match="must be SGD, BGD, CP or DFA with a batch"):
        Method.of(name)
