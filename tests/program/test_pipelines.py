"""Pipelines, links and overlap through the command line: what is shown and recorded, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hypar_exp.tracking import SqliteRecorder
from tests.conftest import Command


def test_a_pipeline_is_shown_and_recorded(command: Command, tmp_path: Path) -> None:
    shown = command(
        *("network=vgg_e", "strategy=hypar", "pipeline=balanced", "pipeline.stages=2", "pipeline.micro_batches=64"),
        *("schedule=1f1b", "array.levels=4"),
    ).stdout
    assert "◐ first half of the accelerators" in shown or "( first half of the accelerators" in shown
    assert "2 devices, 64 micro-batches: 40.3 s a step, bubble 22.2 %" in shown
    results = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results()
    (run,) = results.runs()
    assert run.metrics["pipeline_stages"] == 2
    assert run.metrics["micro_batches"] == 64
    assert run.metrics["bubble_fraction"] == pytest.approx(0.222, abs=5e-4)
    critical = sum(value for key, value in run.metrics.items() if key.startswith("critical/"))
    assert critical == pytest.approx(run.metrics["step_time_s"])
    assert run.metrics["speedup"] == pytest.approx(2.83, abs=5e-3)
    plan = results.artifact(run, "plan.csv").splitlines()
    assert plan[1] == "H1,3,3,3,3,3,3,3,4,4,4,4,4,4,4,4,4,4,4,4"
    events = json.loads(results.artifact(run, "timeline.json"))["traceEvents"]
    assert sum(event.get("cat") == "forward" for event in events) == 2 * 64
    assert results.artifact(run, "timeline.svg").startswith("<svg")


def test_a_recorded_plan_is_read_again(command: Command, tmp_path: Path) -> None:
    chosen = ["network=alexnet", "schedule.warm_up=long", "interconnect=tree", "baseline=null"]
    first = command(*chosen, "pipeline=balanced", "pipeline.stages=4", "pipeline.micro_batches=16")
    results = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results()
    (run,) = results.runs()
    (tmp_path / "plan.csv").write_text(results.artifact(run, "plan.csv"), encoding="utf-8")
    again = command(
        *chosen, "pipeline=file", "pipeline.path=plan.csv", "pipeline.micro_batches=16", "tracking=none"
    ).stdout
    line = next(line for line in first.stdout.splitlines() if "devices, 16 micro-batches" in line)
    assert line in again


def test_pipelines_are_swept(command: Command, tmp_path: Path) -> None:
    shown = command(
        *("-m", "hydra/sweeper=batch", "network=lenet_c", "pipeline=uniform", "pipeline.micro_batches=1,16"),
        *("schedule=gpipe,1f1b,zb_h1", "interconnect=shared,tree", "baseline=hypar"),
    ).stdout
    assert "12 done, 0 failed" in shown
    runs = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results().runs()
    assert sum("bubble_fraction" in run.metrics for run in runs) == 12


def test_overlap_hides_communication(command: Command) -> None:
    shown = command("network=vgg_a", "strategy=dp", "baseline=null", "overlap=gradients", "tracking=none").stdout
    assert "exchange of gradients" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pipeline=uniform", "pipeline.stages=3"], "pipeline.stages must be a power of two"),
        (["pipeline=uniform", "pipeline.stages=32"], "pipeline.stages is 32, but network vgg_e has 19 layers"),
        (["pipeline=balanced", "array=hetero"], "a pipeline is a sum over accelerators of one kind"),
        (["pipeline=uniform", "schedule=interleaved"], "has accelerators of its own; workload=cluster has both"),
        (["pipeline=uniform", "schedule=chimera", "pipeline.micro_batches=3"], "schedule chimera takes an even number"),
        (["pipeline=uniform", "gap=true"], "gap=true looks at plans without stages"),
        (["pipeline=file"], "pipeline.path is not set"),
        (["overlap=all"], "overlap must be none or gradients (got 'all')"),
        (["memory=maybe"], "memory must be report or enforce (got 'maybe')"),
        (["schedule=1f1b", "schedule.warm_up=middle"], "schedule.warm_up must be short, long or a list"),
        (["interconnect=tree", "interconnect.latency_s=-1"], "interconnect.latency_s must be a finite number"),
        (["interconnect=tree", "interconnect.latency_s=[0.1]"], "interconnect.latency_s has 1 numbers"),
        (["interconnect=torus", "array=hetero"], "interconnect=torus has links for accelerators of one kind"),
    ],
)
def test_what_cannot_be_is_one_sentence(command: Command, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    ended = command(*arguments, expect=2)
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert (
        not (tmp_path / "outputs" / "mlflow.db").exists()
        or not SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results().runs()
    )


def test_planners_are_swept_over_a_profile_on_a_cluster(command: Command, tmp_path: Path) -> None:
    node = "forward_compute_time=10, backward_compute_time=20, activation_size=1000, parameter_size=2000"
    lines = [f"n{at} -- Any(thing) -- {node}" for at in range(8)] + [f"\tn{at} -- n{at + 1}" for at in range(7)]
    (tmp_path / "graph.txt").write_text("\n".join(lines), encoding="utf-8")
    shown = command(
        *("-m", "workload=cluster", "workload.profile=graph.txt", "workload.profile_batch=4", "batch_size=64"),
        *("workload/planner=dapple,pipedream,balanced,gpipe", "workload.array.devices_per_machine=2"),
        *("workload.micro_batches=16", "schedule=1f1b"),
    ).stdout
    assert "4 done, 0 failed" in shown
    results = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results()
    runs = [run for run in results.runs() if "bubble_fraction" in run.metrics]
    assert len(runs) == 4
    # 64 samples of 8 x 30 ms a batch of 4 are 3.84 s on one accelerator, and no less than 0.96 s on four
    assert all(0.96 <= run.metrics["step_time_s"] <= 3.84 for run in runs)
    assert results.artifact(runs[0], "stages.csv").startswith("stage,first,last,layers,accelerators,machines,forward_s")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["workload.profile=none.txt"], "none.txt"),
        (["workload.micro_batches=0"], "micro_batches must be a whole number of at least 1"),
        (["workload.array.machines=0"], "array.machines must be a whole number of at least 1"),
        (["workload/planner=gpipe", "network=lenet_c"], "gpipe makes a stage for each of the 16 accelerators"),
        (["strategy=hypar"], "workload=cluster does not use strategy"),
    ],
)
def test_what_no_cluster_can_do(command: Command, arguments: list[str], sentence: str) -> None:
    ended = command("workload=cluster", *arguments, expect=2)
    assert sentence in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_the_best_plan_is_never_slower_than_the_published_planners(command: Command, tmp_path: Path) -> None:
    command("experiment=dapple", "case=vgg19_b1024", timeout=300)
    runs = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results().runs()
    seconds = {run.name: run.metrics["step_time_s"] for run in runs if "bubble_fraction" in run.metrics}
    assert len(seconds) == 3
    assert min(seconds.values()) == next(value for name, value in seconds.items() if "optimal" in name)


def test_memory_is_that_of_the_micro_batches_that_are_alive(command: Command) -> None:
    """alexnet in two stages: an accelerator would hold 100 MB of the whole batch, and holds 16.7 MB in 64 parts."""
    small = ["network=alexnet", "strategy=optimal", "memory=enforce", "baseline=null", "tracking=none"]
    parts = ["pipeline=uniform", "pipeline.micro_batches=64"]
    shown = command(*small, *parts, "hardware.dram_capacity_bytes=6e7").stdout
    assert "16.7 MB" in shown
    command(*small, "pipeline=halves", "hardware.dram_capacity_bytes=6e7")
    ended = command(*small, *parts, "hardware.dram_capacity_bytes=1e7", expect=2)
    assert "the plan does not fit: an accelerator of stage 2 of 2 needs 16.7 MB and has 10.0 MB" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
