"""Every package of examples/ by itself, in a folder of its own: its commands as README.md has them, and its numbers."""

from __future__ import annotations

import csv
import importlib
import itertools
import json
import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hypar_exp as hx
from hypar_exp import planning, simulation
from hypar_exp.errors import UserError
from hypar_exp.experiments.run_result import RunResult, WorkloadResult
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import timeline
from tests import conf
from tests.conftest import ROOT, NewStore
from tests.forked import Program, forked_program

EXAMPLES = ROOT / "examples"
FOLDERS = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())
COMMANDS = re.findall(r"^    cd (\w+) && (.*)$", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with forked_program() as program:
        yield program


@pytest.fixture
def example(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package of that name, which is also where we stand and where Python looks."""
    folder = Path(shutil.copytree(EXAMPLES / request.param, tmp_path / request.param))
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return folder


def step(overrides: str, config_dir: Path | None = None) -> RunResult:
    """A run that plans and simulates a step."""
    result = hx.run(overrides, config_dir=config_dir)
    assert isinstance(result, RunResult)
    return result


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("example", [name], indirect=True)


@pytest.mark.parametrize("name", FOLDERS)
def test_its_commands_run_one_after_the_other(
    name: str, program: Program, tmp_path: Path, new_store: NewStore, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = Path(
        shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "outputs"))
    )
    new_store(folder)
    commands = [shlex.split(command) for at, command in COMMANDS if at == name]
    assert commands, "README.md has none"
    for word, *arguments in commands:
        if word == "hypar-exp":
            ended = program(*arguments, cwd=folder)
            assert ended.returncode == 0, ended.stderr
        else:
            monkeypatch.chdir(folder)
            runpy.run_path(arguments[0], run_name="__main__")
            lines = capsys.readouterr().out.splitlines()
            assert "vgg_a by hypar: up to 16 accelerators, 9.5 times as fast as on one" in lines
            assert len(lines) == 6


@of("strategy")
def test_the_strategy_splits_what_has_more_weights_than_outputs(example: Path) -> None:
    layers = step("network=alexnet strategy=by_weights tracking=none", config_dir=example / "conf").to_frame()
    assert (layers.loc["fc1":, "split_H1"] == "mp").all(), "4,608 x 2,048 weights, 256 x 2,048 outputs"
    assert (layers.loc[:"conv5", "split_H1"] == "dp").all()
    heavy = step("network=alexnet strategy=by_weights strategy.factor=1e9 tracking=none", config_dir=example / "conf")
    assert not heavy.plan.choices.any()
    with pytest.raises(UserError, match=r"strategy\.factor"):
        hx.run("strategy=by_weights strategy.factor=0 tracking=none", config_dir=example / "conf")


@of("topology")
def test_the_hypercube_carries_a_tensor_over_half_of_its_dimensions(example: Path) -> None:
    cube = step("network=vgg_a array=hypercube array.levels=6 tracking=none", config_dir=example / "conf").report
    tree = step("network=vgg_a array=htree array.levels=6 tracking=none").report
    distances = [bin(one ^ other).count("1") for one, other in itertools.product(range(64), repeat=2)]
    assert cube.communication_time_s == pytest.approx(np.mean(distances) * tree.communication_time_s)
    assert cube.compute_time_s == tree.compute_time_s


@of("interconnect")
def test_the_fat_tree_has_faster_links_above(example: Path) -> None:
    told = "network=vgg_a strategy=dp baseline=null array.levels=5 tracking=none interconnect="
    tapered = [
        step(f"{told}fat_tree interconnect.taper={taper}", config_dir=example / "conf").report for taper in (2, 1)
    ]
    tree = step(f"{told}tree").report
    by_level = [report.communication_time_s_by_level for report in (*tapered, tree)]
    np.testing.assert_allclose(by_level[0], by_level[2], err_msg="links that are all alike are a tree")
    np.testing.assert_allclose(by_level[1] * 2.0 ** np.arange(5)[::-1], by_level[2])
    with pytest.raises(UserError, match=r"interconnect\.taper"):
        hx.run("interconnect=fat_tree interconnect.taper=0 tracking=none", config_dir=example / "conf")


@of("hardware")
def test_the_hardware_differs_from_hmc_in_what_it_says(example: Path) -> None:
    edge = hx.load_hardware(example / "conf" / "hardware" / "edge.yaml")
    assert (edge.name, edge.processing_elements, edge.dram_capacity_bytes) == ("edge", 32, 1e9)
    assert edge.addition_energy_j == conf.hardware("hmc").addition_energy_j
    with pytest.raises(planning.DoesNotFitError):
        hx.run("network=vgg_e hardware=edge memory=enforce tracking=none strategy=dp", config_dir=example / "conf")


@of("objective")
def test_no_plan_is_cheaper_than_the_cheapest(example: Path) -> None:
    chosen = step(
        "network=lenet_c array.levels=2 strategy=optimal tracking=none "
        "objective=price objective.electricity_per_kwh=900",
        config_dir=example / "conf",
    )

    def price(report: simulation.StepReport) -> float:
        return report.accelerators * report.step_time_s / 3600 + 900 * report.step_energy_j / 3.6e6

    job = chosen.job
    plans = (np.array(bits, dtype=np.uint8).reshape(2, 4) for bits in itertools.product((0, 1), repeat=8))
    prices = [
        price(simulation.simulate(job.network, plan, job.array, job.hardware, job.accounting, 256)) for plan in plans
    ]
    assert price(chosen.report) == pytest.approx(min(prices))
    assert max(prices) > 1.5 * min(prices)


@of("recorder")
def test_the_recorder_writes_a_line_a_run(example: Path, program: Program) -> None:
    ended = program(
        "--config-dir", "conf", "tracking=json_lines", "-m", "network=lenet_c,sfc", "strategy=dp,hypar", cwd=example
    )
    assert ended.returncode == 0, ended.stderr
    runs = [json.loads(line) for line in (example / "runs.jsonl").read_text().splitlines()]
    (table,) = example.glob("outputs/hydra/*/*/sweep.csv")
    with table.open(encoding="utf-8") as file:
        times = {(row["network"], row["strategy"]): float(row["step_time_s"]) for row in csv.DictReader(file)}
    recorded = {
        (run["params"]["network.name"], run["params"]["strategy.name"]): run["metrics"]["step_time_s"]
        for run in runs
        if "network.name" in run["params"]
    }
    assert recorded == times
    assert program(
        "--config-dir", "conf", "tracking=json_lines", "tracking.file=no/runs.jsonl", cwd=example
    ).stderr == ("hypar_exp: tracking.file must be in a folder that is there (got 'no/runs.jsonl')\n")


@of("network")
def test_the_network_has_the_sizes_of_its_keys(example: Path) -> None:
    network = step(
        "network=perceptron network.width=512 network.depth=5 tracking=none", config_dir=example / "conf"
    ).job.network
    assert network.name == "perceptron_5x512"
    assert sum(layer.weights for layer in network.layers) == 784 * 512 + 4 * 512**2 + 512 * 10


@of("importer")
def test_the_importer_reads_the_weights_that_keras_counts(example: Path) -> None:
    """keras.io/examples/vision/mnist_convnet prints 34,826 parameters; 106 of them are biases."""
    network = step("network=keras network.path=mnist.json tracking=none", config_dir=example / "conf").job.network
    assert network.name == "mnist"
    assert sum(layer.weights for layer in network.layers) == 34_826 - (32 + 64 + 10)
    (example / "other.json").write_text((example / "mnist.json").read_text().replace('"Dense"', '"LSTM"'))
    with pytest.raises(UserError, match="the layer 'dense' is a LSTM, which is not known"):
        hx.run("network=keras network.path=other.json tracking=none", config_dir=example / "conf")


@of("workload")
def test_the_workload_finds_the_layers_that_memory_bounds(example: Path) -> None:
    """H100: 989 TFLOPS x 0.5 over 3.35 TB/s is a ridge of 73.8 multiply-accumulates a byte; fc3 at batch 1 has 1/2."""
    result = hx.run(
        "workload=intensity network=alexnet hardware=h100 batch_size=1 tracking=none", config_dir=example / "conf"
    )
    assert isinstance(result, WorkloadResult)
    layers = result.to_frame().set_index("layer")
    hardware = conf.hardware("h100")
    ridge = hardware.sustained_operations_per_s / 2 / hardware.dram_bandwidth_bytes_per_s
    assert result.metrics["ridge_macs_per_byte"] == pytest.approx(ridge)
    elements = 2048 * 1000 + 2048 + 1000
    assert layers.loc["fc3", "MACs a byte"] == pytest.approx(2048 * 1000 / (2 * elements))
    assert layers.loc["fc3", "bound by"] == "memory"
    assert (layers["bound by"] == "memory").to_list() == (layers["MACs a byte"] < ridge).to_list()
    assert result.plot().svg.startswith("<svg")


@of("schedule")
def test_the_serial_schedule_takes_every_micro_batch_from_end_to_end(example: Path) -> None:
    serial = importlib.import_module("one_by_one").Serial()
    times = StageTimes(
        forward_s=np.array([1.0, 2.0, 3.0]), input_gradient_s=np.array([2.0, 3.0, 4.0]),
        weight_gradient_s=np.array([1.0, 1.0, 2.0]), forward_boundary_s=np.array([0.5, 0.25]),
        backward_boundary_s=np.array([0.5, 0.25]),
    )  # fmt: skip
    assert timeline(serial, 3, 5, times).step_time_s == pytest.approx(5 * (6 + 9 + 4 + 1.5))
    told = "network=alexnet pipeline=balanced tracking=none"
    report = step(f"{told} schedule=serial", example / "conf").report
    assert report.step_time_s > step(f"{told} schedule=gpipe").report.step_time_s


@of("pipeline")
def test_the_pipeline_is_cut_where_it_is_told(example: Path) -> None:
    told = "network=alexnet pipeline=cut_after tracking=none"
    layers = step(f"{told} pipeline.layer=conv5", example / "conf").to_frame()
    assert list(layers["split_H1"]) == ["first"] * 5 + ["second"] * 3
    cut_by_us = step("network=alexnet pipeline=balanced tracking=none").to_frame()["split_H1"]
    last = cut_by_us[cut_by_us == "first"].index[-1]
    ours = step(f"{told} pipeline.layer={last}", example / "conf")
    assert ours.report.step_time_s == pytest.approx(
        step("network=alexnet pipeline=balanced tracking=none").report.step_time_s
    )
    with pytest.raises(
        UserError, match=r"pipeline\.layer must be a layer before the last \(got 'conv6'\); did you mean"
    ):
        hx.run(f"{told} pipeline.layer=conv6", config_dir=example / "conf")
