"""The paper from sweep to CSV: every table and figure as `python -m hypar_exp.reproduce all` leaves it."""

from __future__ import annotations

import csv
import functools
import os
import re
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import pytest

from hypar_exp.paper.items import ITEMS
from hypar_exp.paper.published import published_values
from hypar_exp.paths import CONF_DIR
from hypar_exp.tracking import SqliteRecorder, StoredRun
from tests.conftest import ROOT, Command, run_program

REPRODUCE = "hypar_exp.reproduce"
NETWORKS = ["sfc", "sconv", "lenet_c", "cifar_c", "alexnet", "vgg_a", "vgg_b", "vgg_c", "vgg_d", "vgg_e"]
Rows = dict[tuple[str, ...], str]


@dataclass(frozen=True)
class Reproduced:
    """The folder in which everything was reproduced."""

    folder: Path

    def ours(self, item: str) -> Rows:
        """Labels -> our value, from the CSV."""
        with (self.folder / "outputs" / "paper" / f"{item}.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        return {tuple(row[: header.index("ours")]): row[header.index("ours")] for row in rows}

    def number(self, item: str, *labels: str) -> float:
        return float(self.ours(item)[labels])

    @property
    def recorder(self) -> SqliteRecorder:
        return SqliteRecorder(database=str(self.folder / "outputs" / "mlflow.db"))

    def runs(self, item: str) -> tuple[StoredRun, list[StoredRun]]:
        """The parent and its children."""
        stored = self.recorder.results().runs(experiment=item)
        (parent,) = [run for run in stored if run.parent_id is None]
        return parent, [run for run in stored if run.parent_id == parent.run_id]


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    """Everything reproduced from an empty database, once for all processes of the test run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reproduction"
    done = folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:
        for _ in range(600):
            if done.exists():
                return Reproduced(folder)
            time.sleep(0.5)
        pytest.fail("the process that reproduces everything did not end")
    printed = run_program("all", "--docs", "docs", module=REPRODUCE, cwd=folder, timeout=300).stdout
    (folder / "printed.txt").write_text(printed)
    done.touch()
    return Reproduced(folder)


def as_printed(value: float, text: str) -> bool:
    """Whether a value, rounded, is the printed one; the published data leave out zeros at the end."""
    digits = max(2, len(text.partition(".")[2])) if float(text) < 10 else len(text.partition(".")[2])
    return abs(value - float(text)) <= 0.5 * 10.0**-digits * (1 + 1e-9)


def test_figure_5_every_dot(reproduced: Reproduced) -> None:
    assert reproduced.ours("fig05") == {labels: value.text for labels, value in published_values("fig05").items()}


def test_figure_6_to_the_printed_digits(reproduced: Reproduced) -> None:
    bars = {network: value.text for (network, bar), value in published_values("fig06").items() if bar == "hypar"}
    wrong = {
        network: reproduced.number("fig06", network, "hypar")
        for network, text in bars.items()
        if not as_printed(reproduced.number("fig06", network, "hypar"), text)
    }
    # alexnet is 3.28 for 3.27, as the model's description says; vgg_b is 4.0652, two ten-thousandths above what rounds
    # to the printed 4.06
    assert wrong == {"alexnet": pytest.approx(3.279, abs=5e-4), "vgg_b": pytest.approx(4.0652, abs=5e-5)}


def test_figure_7_hypar_within_two_and_a_half_percent(reproduced: Reproduced) -> None:
    bars = {network: value.number for (network, bar), value in published_values("fig07").items() if bar == "hypar"}
    assert {network: reproduced.number("fig07", network, "hypar") for network in bars} == pytest.approx(bars, rel=0.025)


def test_figure_8_to_the_printed_digits(reproduced: Reproduced) -> None:
    wrong = {}
    for (network, bar), value in published_values("fig08").items():
        ours = reproduced.number("fig08", network, bar)
        if bar != "mp" and f"{ours:.3g}" != f"{value.number:.3g}":  # the figure prints three significant digits
            wrong[network, bar] = ours
    # the figure labels vgg_b with vgg_a's number, and rounds alexnet's 1.995
    assert wrong == {
        ("vgg_b", "hypar"): pytest.approx(1.49, abs=0.005),
        ("alexnet", "dp"): pytest.approx(1.995, abs=5e-4),
    }


def test_figures_9_and_10_marked_points(reproduced: Reproduced) -> None:
    assert reproduced.number("fig09", "HyPar's plan", "performance") == pytest.approx(3.05, abs=0.005)
    assert reproduced.ours("fig09")["HyPar's plan", "H1-H4"] == "0011-0011"
    assert reproduced.ours("fig09")["the peak", "H1-H4"] == "0011-0011"
    assert reproduced.number("fig10", "HyPar's plan, 0001-1111", "performance") == pytest.approx(4.97, abs=0.005)
    # the figure reads 5.05 here; the model's four equal peaks are these
    assert reproduced.number("fig10", "the printed peak, 1000-1111", "performance") == pytest.approx(4.97, abs=0.005)
    peaks = "our peak, 0001-1111 = 0010-1111 = 0100-1111 = 1000-1111"
    assert reproduced.number("fig10", peaks, "performance") == pytest.approx(4.97, abs=0.005)


def test_figures_9_and_10_are_a_run_an_accounting_with_all_their_plans(reproduced: Reproduced) -> None:
    for item in ("fig09", "fig10"):
        _, runs = reproduced.runs(item)
        assert [run.params["accounting.name"] for run in runs] == ["as_evaluated", "as_printed"]
        for run in runs:
            assert len(reproduced.recorder.results().artifact(run, "plan_space.csv").splitlines()) == 1 + 256


def test_the_reading_of_the_model_parallelism_bars(reproduced: Reproduced) -> None:
    for item in ("fig06", "fig08"):
        bars = {network: value.number for (network, bar), value in published_values(item).items() if bar == "mp"}
        del bars["sconv"], bars["gmean"]
        ours = {network: reproduced.number(item, network, "mp as printed") for network in bars}
        assert ours == pytest.approx(bars, rel=0.0035)
    assert reproduced.number("fig08", "sconv", "mp as printed") == pytest.approx(0.4704, abs=5e-5)  # printed 0.480
    peak = reproduced.number("fig10", "the printed peak, 1000-1111", "performance as printed")
    assert peak == pytest.approx(5.03, abs=0.005)  # printed 5.05
    assert reproduced.number("fig10", "our peak, 1000-1111", "performance as printed") == peak
    assert reproduced.ours("fig09")["the peak", "H1-H4 as printed"] == "0011-0011"
    energy = {"sconv": 1.144, "lenet_c": 1.134, "cifar_c": 1.711, "alexnet": 1.223}  # it does not explain these
    for network, ratio in energy.items():
        printed = published_values("fig07")[network, "mp"].number
        assert printed is not None
        assert reproduced.number("fig07", network, "mp as printed") / printed == pytest.approx(ratio, abs=0.001)


def test_figure_11_within_three_percent(reproduced: Reproduced) -> None:
    read_off = {labels: value.number for labels, value in published_values("fig11").items()}
    assert {labels: reproduced.number("fig11", *labels) for labels in read_off} == pytest.approx(read_off, rel=0.03)
    assert reproduced.number("fig11", "vgg_a", "16", "hypar GB") == pytest.approx(1.47, abs=0.005)  # figure 8


def test_figure_12_within_two_percent(reproduced: Reproduced) -> None:
    for (network, topology), value in published_values("fig12").items():
        ours = reproduced.number("fig12", network, topology)
        if topology == "htree":
            assert reproduced.ours("fig12")[network, "htree"] == reproduced.ours("fig06")[network, "hypar"]
        elif value.is_bound:
            assert ours > 10
        else:
            assert ours == pytest.approx(value.number, rel=0.02), network


def test_figure_13(reproduced: Reproduced) -> None:
    for (case, quantity), value in published_values("fig13").items():
        ours = reproduced.number("fig13", case, quantity)
        if quantity == "energy efficiency":
            assert ours == pytest.approx(value.number, rel=0.025), case
        elif case == "fc3-b4096-h4":
            assert ours == pytest.approx(2.37, abs=0.005)  # printed 2.40
        else:
            assert as_printed(ours, value.text), case


def test_model_parallelism_ranks_as_printed(reproduced: Reproduced) -> None:
    for (network, bar), value in published_values("fig06").items():
        if bar == "mp":
            ours = reproduced.number("fig06", network, "mp")
            assert (ours < 1) == (float(value.text) < 1), network
            assert ours < reproduced.number("fig06", network, "hypar")


def test_tables(reproduced: Reproduced) -> None:
    for accounting in ("as_evaluated", "as_tabulated"):
        amounts = [
            reproduced.number("table1", accounting, layer, split)
            for layer in ("fc 70 -> 100", "conv 5x5x20 -> 50")
            for split in ("dp", "mp")
        ]
        assert amounts == [56.0, 25.6, 200.0, 819.2]
    stated = {("dp-dp", 0, 0), ("dp-mp", 0.25, 0.25), ("mp-mp", 0, 0.5), ("mp-dp", 0, 0.5)}
    assert stated == {
        (
            splits,
            reproduced.number("table2", splits, "as_tabulated", "A(F)"),
            reproduced.number("table2", splits, "as_tabulated", "A(E)"),
        )
        for splits, _, _ in stated
    }
    assert reproduced.ours("table3")["sfc",] == "784-8192-8192-8192-10"


def test_every_sweep_has_its_children_and_keeps_what_came_of_it(reproduced: Reproduced) -> None:
    sizes = {"table1": 8, "table2": 2, "table3": 2, "fig05": 10, "fig06": 60, "fig07": 60, "fig08": 60}
    sizes |= {"fig09": 2, "fig10": 2, "fig11": 28, "fig12": 20, "fig13": 6}
    for item, size in sizes.items():
        parent, children = reproduced.runs(item)
        assert len(children) == size, item
        assert {child.tags["experiment"] for child in children} == {item}
        assert parent.status == "FINISHED"
        assert "max_relative_difference" in parent.metrics
        written = (reproduced.folder / "outputs" / "paper" / f"{item}.csv").read_text()
        assert reproduced.recorder.results().artifact(parent, f"{item}.csv") == written
        pictures = {file.suffix for file in Path(parent.artifact_uri.removeprefix("file://")).glob(f"{item}.*")}
        assert pictures == ({".csv"} if item.startswith("table") else {".csv", ".png", ".svg"})
    parent, _ = reproduced.runs("fig13")
    assert parent.metrics["max_relative_difference"] == pytest.approx(1 - 2.369565 / 2.40, abs=1e-5)


def test_a_second_time_nothing_is_run(reproduced: Reproduced) -> None:
    before = len(reproduced.recorder.results().runs())
    printed = run_program("fig11", module=REPRODUCE, cwd=reproduced.folder).stdout
    assert "making" not in printed
    assert "left out" not in printed
    assert len(reproduced.recorder.results().runs()) == before


def test_the_page_needs_no_network(reproduced: Reproduced) -> None:
    page = (reproduced.folder / "outputs" / "paper" / "index.html").read_text()
    assert set(re.findall(r"""(?:src|href)=["']([a-z]+:[^,"'#]{0,24})""", page)) == {
        "data:image/svg+xml;base64",
        "http://127.0.0.1:5000/",
    }
    assert page.count("<img ") == 9
    assert len(re.findall(r'<h2 id="(?:table[123]|fig\d\d)">', page)) == 12


def test_the_repositorys_page_is_current(reproduced: Reproduced) -> None:
    made, kept = reproduced.folder / "docs", ROOT / "docs"
    remedy = "python -m hypar_exp.reproduce all --docs docs"
    assert (made / "reproduction.md").read_text() == (kept / "reproduction.md").read_text(), remedy
    for picture in sorted((made / "reproduction").iterdir()):
        drawn = (kept / "reproduction" / picture.name).read_text()
        if f"Matplotlib v{matplotlib.__version__}" in drawn:  # another version draws the same in other words
            assert picture.read_text() == drawn, remedy


def test_every_item_has_a_preset_that_further_overrides_change(command: Command) -> None:
    assert {item.name for item in ITEMS} <= {file.stem for file in (CONF_DIR / "experiment").glob("*.yaml")}
    listed = command("experiment=fig11", "network=vgg_a", "array.levels=1,2", "tracking=none", "dry_run=true").stdout
    assert "fig11: strategy x array.levels: 4 runs to make" in listed


@pytest.fixture
def reproduce(command: Command) -> Callable[..., str]:
    """Run the command in a folder of the test's own and return what it printed."""
    run = functools.partial(command, module=REPRODUCE)
    return lambda *arguments: run(*arguments).stdout


def test_an_interrupted_sweep_is_completed(
    command: Command, reproduce: Callable[..., str], tmp_path: Path, database: Path
) -> None:
    command("experiment=fig13", "case=vgg_e_fc3_b4096")
    assert "fig13: making 3 of 6 runs" in reproduce("fig13")
    runs = SqliteRecorder(database=str(database)).results().runs(experiment="fig13")
    assert len([run for run in runs if run.parent_id]) == 6


def test_runs_of_another_version_or_accounting_are_named_and_made_again(
    command: Command, reproduce: Callable[..., str], tmp_path: Path, database: Path
) -> None:
    command("experiment=table3", "accounting=as_tabulated")
    printed = reproduce("table3")
    assert "table3: making 2 of 2 runs" in printed
    assert "are left out: 2 of accounting.name=as_tabulated" in printed
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE tags SET value = '0.0.9' WHERE key = 'hypar_exp.version'")
    printed = reproduce("table3")
    assert "table3: making 2 of 2 runs" in printed
    assert "are left out: 4 of version 0.0.9" in printed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fig6"], "the paper has no table or figure 'fig6' (did you mean fig06"),
        ([], "name a table or figure, of table1, table2, table3, fig05"),
        (
            ["fig06", "--no-run"],
            "0 of the 60 runs of fig06 are recorded with this version and configuration; "
            "'python -m hypar_exp experiment=fig06' makes them",
        ),
        (["fig06", "network=vgg_a"], "fig06 sweeps network itself; leave out network=vgg_a"),
        (["fig06", "tracking=none"], "tracking=none keeps no runs to read"),
        (["fig06", "batch_sise=32"], "there is no key 'batch_sise'; did you mean batch_size?"),
    ],
)
def test_bad_input(command: Command, arguments: list[str], sentence: str) -> None:
    done = command(*arguments, module=REPRODUCE, expect=2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
