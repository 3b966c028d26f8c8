"""The presets about a step in time: links, pipelines against HyPar, and schedules."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked import Program, forked_program

Runs = dict[tuple[str, ...], dict[str, str]]


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with forked_program() as program:
        yield program


def swept(program: Program, folder: Path, keys: list[str], *overrides: str) -> Runs:
    """The runs of a sweep by their values of some keys."""
    ended = program(*overrides, "tracking=none", f"hydra.sweep.dir={folder / 'sweep'}", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    with (folder / "sweep" / "sweep.csv").open(encoding="utf-8") as file:
        return {tuple(row[key] for key in keys): row for row in csv.DictReader(file)}


def test_links_says_how_much_is_the_link_rule(program: Program, tmp_path: Path) -> None:
    axes = ["network=lenet_c,vgg_e", "interconnect=shared,tree", "array.levels=4,10"]
    runs = swept(program, tmp_path, ["network", "interconnect", "array.levels"], "experiment=links", *axes)
    gain = {key[1]: float(run["speedup"]) for key, run in runs.items() if key[::2] == ("vgg_e", "4")}
    assert gain == pytest.approx({"shared": 2.73, "tree": 1.60}, abs=0.005)
    seconds = {key[1]: float(run["step_time_s"]) for key, run in runs.items() if key[::2] == ("vgg_e", "10")}
    assert seconds == pytest.approx({"shared": 310, "tree": 7.06}, rel=0.002)
    assert {"sweep.png", "sweep_step_time_s.png"} <= {file.name for file in (tmp_path / "sweep").iterdir()}


def test_two_stages_are_as_fast_as_a_prototype_had_them(program: Program, tmp_path: Path) -> None:
    prototype = {"lenet_c": (1.80, 2.16), "alexnet": (1.04, 1.03), "vgg_a": (1.24, 1.04), "sfc": (1.99, 1.64)}
    runs = swept(
        program, tmp_path, ["network", "interconnect"], "experiment=pipeline_vs_hypar", f"network={','.join(prototype)}"
    )
    for network, speedups in prototype.items():
        for links, at_least in zip(("shared", "tree"), speedups, strict=True):
            assert float(runs[network, links]["speedup"]) > at_least - 0.005, (network, links)


def test_where_stages_gain_nothing_there_are_no_micro_batches_either(program: Program, tmp_path: Path) -> None:
    """A stage of 64 micro-batches takes as long, but for rounding, and reads all weights 64 times."""
    runs = swept(
        program, tmp_path, ["network", "interconnect"], "experiment=pipeline_vs_hypar", "network=vgg_c,vgg_e",
        "interconnect=tree,shared",
    )  # fmt: skip
    for network in ("vgg_c", "vgg_e"):
        assert (runs[network, "tree"]["speedup"], runs[network, "tree"]["energy_efficiency"]) == ("1.0", "1.0")
    assert float(runs["vgg_e", "shared"]["speedup"]) > 1.1


def test_schedules_differ_as_they_should(program: Program, tmp_path: Path) -> None:
    runs = swept(program, tmp_path, ["schedule", "pipeline.recompute"], "experiment=schedules")
    assert len(runs) == 16

    def of(schedule: str, metric: str, recompute: str = "none") -> float:
        return float(runs[schedule, recompute][metric])

    memory = "memory_per_accelerator_bytes"
    assert of("1f1b_long", "step_time_s") < of("1f1b", "step_time_s")
    assert of("zb_h2", "bubble_fraction") < of("zb_h1", "bubble_fraction") < of("1f1b", "bubble_fraction")
    assert of("1f1b", memory) < of("1f1b_long", memory) < of("gpipe", memory)
    assert of("gpipe", memory, "full") < of("gpipe", memory)
    assert of("gpipe", "step_time_s", "full") > of("gpipe", "step_time_s")


def test_a_metric_to_draw_that_no_run_has_is_said(program: Program, tmp_path: Path) -> None:
    ended = program("-m", "network=sfc,lenet_c", "tracking=none", "hydra.sweeper.chart=[step_tim_s]", cwd=tmp_path)
    assert ended.returncode == 0
    assert "no run has a metric 'step_tim_s'; did you mean step_time_s" in " ".join(ended.stdout.split())
