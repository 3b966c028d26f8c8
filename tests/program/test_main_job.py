"""The main job from the command line: what a person sees, and what MLflow reads back."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from tests.conftest import ROOT, Command, run_program

MAIN_JOB = ("network=vgg_e", "strategy=hypar", "array.levels=4")
METRICS = {
    "step_time_s",
    "compute_time_s",
    "communication_time_s",
    "communication_bytes",
    "step_energy_j",
    "samples_per_s",
    "memory_per_accelerator_bytes",
    "speedup",
    "energy_efficiency",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The main job, run once: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("main job")
    return folder, run_program(*MAIN_JOB, cwd=folder).stdout


def runs_in(folder: Path) -> list[Any]:
    client = MlflowClient(f"sqlite:///{folder}/outputs/mlflow.db")
    experiment = client.get_experiment_by_name("hypar_exp")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id]))


def test_a_person_sees_the_plan_the_numbers_and_where_they_are(recorded: tuple[Path, str]) -> None:
    folder, printed = recorded
    rows = [line.split() for line in printed.splitlines() if line.strip().startswith(("H1", "H2", "H3", "H4"))]
    assert ["".join(row[1:]) for row in rows] == ["○" * 16 + "●" * 3] * 3 + ["○" * 15 + "●" * 4]
    numbers = {line.strip()[:24].strip(): line.split() for line in printed.splitlines()}
    assert "2.73x" in numbers["step time"]  # figure 6
    assert {"2.76", "17.2", "GB"} <= set(printed.split())  # figure 8
    assert f"mlflow ui --workers 1 --backend-store-uri 'sqlite:///{folder}/outputs/mlflow.db'" in printed
    assert "\x1b" not in printed  # plain where it is no terminal


def test_mlflow_reads_the_run_back(recorded: tuple[Path, str]) -> None:
    folder, _ = recorded
    (run,) = runs_in(folder)
    assert run.info.status == "FINISHED"
    assert run.data.metrics.keys() >= METRICS
    assert run.data.metrics["speedup"] == pytest.approx(2.73, abs=0.005)
    assert run.data.metrics["communication_bytes"] == pytest.approx(2.76e9, rel=0.005)
    assert {
        "network.name": "vgg_e",
        "strategy.name": "hypar",
        "array.name": "htree",
        "array.levels": "4",
        "hardware.name": "hmc",
        "hardware.link_bandwidth_bits_per_s": "1600000000.0",
        "accounting.name": "as_evaluated",
        "tracking.name": "sqlite",
        "batch_size": "256",
        "baseline": "dp",
    }.items() <= run.data.params.items()
    assert "conv1_2: {conv: 64, kernel: 3, padding: 1, pool: 2}" in run.data.params["network.layers"]
    tags = run.data.tags
    assert (tags["network"], tags["strategy"], tags["topology"]) == ("vgg_e", "hypar", "htree")
    assert tags["hypar_exp.version"]
    assert len(tags["config_hash"]) >= 16
    assert run.info.run_name == "vgg_e hypar htree-16 b256"


def test_series_have_a_point_for_each_level_and_layer(recorded: tuple[Path, str]) -> None:
    folder, _ = recorded
    client = MlflowClient(f"sqlite:///{folder}/outputs/mlflow.db")
    (run,) = runs_in(folder)
    by_level = client.get_metric_history(run.info.run_id, "level/communication_bytes")
    assert [point.step for point in by_level] == [1, 2, 3, 4]
    assert sum(point.value for point in by_level) == pytest.approx(run.data.metrics["communication_bytes"])
    by_layer = client.get_metric_history(run.info.run_id, "layer/compute_time_s")
    assert [point.step for point in by_layer] == list(range(1, 20))
    assert sum(point.value for point in by_layer) == pytest.approx(run.data.metrics["compute_time_s"])


def test_artifacts_say_the_same(recorded: tuple[Path, str]) -> None:
    folder, _ = recorded
    (run,) = runs_in(folder)
    artifacts = folder / "outputs" / "artifacts" / run.info.run_id / "artifacts"
    plan = list(csv.reader(io.StringIO((artifacts / "plan.csv").read_text())))
    assert plan[0][:2] == ["level", "conv1_1"]
    assert plan[0][-1] == "fc3"
    assert [row[0] for row in plan[1:]] == ["H1", "H2", "H3", "H4"]
    assert ["".join(row[1:]) for row in plan[1:]] == ["0" * 16 + "111"] * 3 + ["0" * 15 + "1111"]
    picture = (artifacts / "plan.svg").read_text()
    assert picture.count("<circle") >= 4 * 19
    layers = list(csv.DictReader(io.StringIO((artifacts / "layers.csv").read_text())))
    assert sum(float(row["communication_bytes"]) for row in layers) == pytest.approx(
        run.data.metrics["communication_bytes"]
    )
    assert "link_bandwidth_bits_per_s: 1600000000.0" in (artifacts / "config.yaml").read_text()


def test_a_run_s_page_begins_with_its_main_numbers(recorded: tuple[Path, str]) -> None:
    folder, _ = recorded
    (run,) = runs_in(folder)
    description = run.data.tags["mlflow.note.content"]
    first, table, *_ = description.split("\n\n")
    assert first.startswith("vgg_e by hypar: 19 layers")
    assert first.endswith("2.73x the speed and 1.13x the energy efficiency of dp")
    assert "| step time | 41.9 s | 114 s | 2.73x less |" in table
    with sqlite3.connect(folder / "outputs" / "mlflow.db") as database:
        shown = [key for (key,) in database.execute("SELECT key FROM latest_metrics ORDER BY rowid")]
    assert shown[:4] == ["step_time_s", "speedup", "step_energy_j", "energy_efficiency"]
    assert all(key.startswith("baseline/") for key in shown[-4:] if not key.startswith(("level/", "layer/")))
    picture = (folder / "outputs" / "artifacts" / run.info.run_id / "artifacts" / "breakdown.svg").read_text()
    assert "conv5_4: " in picture


def test_hydra_s_own_outputs_are_below_outputs(recorded: tuple[Path, str]) -> None:
    folder, _ = recorded
    assert [entry.name for entry in folder.iterdir()] == ["outputs"]


@pytest.mark.usefixtures("database")
def test_the_recorded_configuration_runs_again_to_the_same_numbers(command: Command, tmp_path: Path) -> None:
    command("network=lenet_c", "array=torus", "array.levels=3")
    (first,) = runs_in(tmp_path)
    conf = tmp_path / "conf"
    conf.mkdir()
    recorded = tmp_path / "outputs" / "artifacts" / first.info.run_id / "artifacts" / "config.yaml"
    (conf / "again.yaml").write_text(recorded.read_text())
    command("--config-path", str(conf), "--config-name", "again", f"hydra.run.dir={tmp_path}/hydra")
    again, _ = runs_in(tmp_path)
    assert again.data.metrics == first.data.metrics
    assert again.data.tags["config_hash"] == first.data.tags["config_hash"]


@pytest.mark.usefixtures("database")
def test_no_baseline_no_comparison(command: Command, tmp_path: Path) -> None:
    printed = command("network=sconv", "baseline=null").stdout
    (run,) = runs_in(tmp_path)
    assert "speedup" not in run.data.metrics
    assert "against" not in printed


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("chosen", "words", "hops"),
    [
        (["array.levels=4"], "16 accelerators (htree)", "1"),
        (["array=torus"], "16 accelerators (torus, 2 hops)", "2"),  # 4 x 4, mean over all ordered pairs
        (["array=torus", "array.levels=3"], "8 accelerators (torus, 1.5 hops)", "1.5"),
        (["interconnect=ring"], "16 accelerators (htree, ring links, 1 to 8 hops)", "8 4 2 1"),
        (["array.levels=0"], "1 accelerators (htree)", "none"),
    ],
)
def test_hops_are_shown_and_recorded(
    command: Command, tmp_path: Path, chosen: list[str], words: str, hops: str
) -> None:
    assert words in command("network=lenet_c", *chosen).stdout.splitlines()[0]
    (run,) = runs_in(tmp_path)
    assert run.data.tags["hops"] == hops


@pytest.mark.usefixtures("database")
def test_optimizer_states_are_recorded_where_there_are_some(command: Command, tmp_path: Path) -> None:
    command("network=lenet_c", "baseline=null")
    command("network=lenet_c", "baseline=null", "strategy=dp", "memory_model=mixed_precision_adam")
    by_model = {run.data.params["memory_model.name"]: run.data.metrics for run in runs_in(tmp_path)}
    assert "optimizer_memory_bytes" not in by_model["paper"]
    adam = by_model["mixed_precision_adam"]
    assert adam["optimizer_memory_bytes"] == 6 * adam["weights_memory_bytes"] == 12 * 430_500
    assert adam["gradients_memory_bytes"] == 2 * adam["weights_memory_bytes"]


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ("memory_model.optimizer_state_bytes=[4,x]", "memory_model.optimizer_state_bytes[1] must be a whole number"),
        ("memory_model.gradient_bytes=0", "memory_model.gradient_bytes must be a whole number from 1 to 64 (got 0)"),
        ("memory_model.recompute=some", "memory_model.recompute must be none, selective or full (got 'some')"),
        ("memory_model=adm", "there is no memory_model 'adm'; did you mean adam?"),
    ],
)
def test_memory_models_that_cannot_be(command: Command, tmp_path: Path, chosen: str, sentence: str) -> None:
    refused = command("network=lenet_c", chosen, expect=2)
    assert sentence in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert MlflowClient(f"sqlite:///{tmp_path}/outputs/mlflow.db").get_experiment_by_name("hypar_exp") is None


@pytest.mark.usefixtures("database")
def test_another_baseline(command: Command, tmp_path: Path) -> None:
    command("network=sfc", "strategy=dp", "baseline=hypar")
    (run,) = runs_in(tmp_path)
    assert run.data.metrics["speedup"] == pytest.approx(1 / 23.48, rel=0.001)  # figure 6, the other way round


@pytest.mark.usefixtures("database")
def test_a_user_s_network_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("input: [3, 8, 8]\nlayers:\n  c: {conv: 4, kernel: 3}\n  f: {fc: 10}\n")
    command("network=file", "network.path=mine.yaml", "array.levels=2")
    (run,) = runs_in(tmp_path)
    assert run.data.params["network.name"] == "mine"
    assert run.info.run_name.startswith("mine hypar")


@pytest.mark.usefixtures("database")
def test_a_user_s_own_groups_and_strategy(command: Command, tmp_path: Path) -> None:
    """A package and a folder of configurations of the user's own, with no registry to edit."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "import numpy as np\n"
        "@dataclass(frozen=True)\n"
        "class LastLayer:\n"
        "    name: str\n"
        "    layers: int = 1\n"
        "    def plan(self, problem):\n"
        "        plan = np.zeros((problem.levels, len(problem.network.layers)), dtype=np.uint8)\n"
        "        plan[:, -self.layers:] = 1\n"
        "        return plan\n"
    )
    group = tmp_path / "own" / "strategy"
    group.mkdir(parents=True)
    (group / "last.yaml").write_text("_target_: mine.LastLayer\nname: last\nlayers: 2\n")
    own = ("--config-dir", "own", "strategy=last", "network=lenet_c", "array.levels=2")
    path = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    assert "○ ○ ● ●" in command(*own, **path).stdout
    refused = command(*own, "strategy.layers=two", expect=2, **path)
    assert refused.stderr == "hypar_exp: strategy.layers must be a whole number (got 'two')\n"
    assert len(runs_in(tmp_path)) == 1


def test_a_batch_that_the_array_does_not_divide_is_said_once(command: Command) -> None:
    printed = command("network=lenet_c", "batch_size=100", "tracking=none").stdout
    assert printed.count("a batch of 100 is not a multiple of 16 accelerators") == 1


def test_a_terminal_without_unicode_gets_plain_dots(command: Command) -> None:
    printed = command("network=lenet_c", "tracking=none", PYTHONIOENCODING="ascii").stdout
    assert " H1  o o X X" in printed


def test_tracking_none_leaves_no_database(command: Command, tmp_path: Path) -> None:
    command("network=lenet_c", "tracking=none")
    assert not list(tmp_path.rglob("*.db"))


def test_the_configuration_is_shown_without_running(command: Command, tmp_path: Path) -> None:
    assert "link_bandwidth_bits_per_s: 1600000000.0" in command("--cfg", "job").stdout
    assert "strategy: accpar, dp" in command("--help").stdout
    assert not list(tmp_path.rglob("*.db"))


def test_telemetry_is_off(command: Command, tmp_path: Path) -> None:
    """Whatever MLflow would send, it is told not to before it is imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, json, os, sys\n"
        "atexit.register(lambda: open('env.jsonl', 'a').write(json.dumps([os.environ.get('MLFLOW_DISABLE_TELEMETRY'),"
        " 'mlflow' in sys.modules]) + '\\n'))\n"
    )
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    command("network=lenet_c", XDG_CACHE_HOME=str(tmp_path), **path)  # a user's first run makes a database, with MLflow
    processes = [json.loads(line) for line in (tmp_path / "env.jsonl").read_text().splitlines()]
    assert [told for told, imported in processes if imported] == ["true"]


def test_no_run_is_left_running(recorded: tuple[Path, str]) -> None:
    with sqlite3.connect(recorded[0] / "outputs" / "mlflow.db") as connection:
        assert connection.execute("SELECT DISTINCT status FROM runs").fetchall() == [("FINISHED",)]


@pytest.mark.usefixtures("database")
def test_a_page_is_among_the_artifacts_where_it_is_asked_for(command: Command, tmp_path: Path) -> None:
    command("network=lenet_c", "strategy=optimal", "page=true")
    command("network=lenet_c", "strategy=optimal")
    (page,) = (tmp_path / "outputs" / "artifacts").rglob("page.html")
    assert "lenet_c by optimal: 4 layers" in page.read_text(encoding="utf-8")
    with sqlite3.connect(tmp_path / "outputs" / "mlflow.db") as connection:
        hashes = connection.execute("SELECT DISTINCT value FROM tags WHERE key = 'config_hash'").fetchall()
    connection.close()
    assert len(hashes) == 1, "with a page or without it is the same experiment"
