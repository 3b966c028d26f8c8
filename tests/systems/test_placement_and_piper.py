"""Operators on devices and Piper's pipelines as workloads, on the programs' own inputs."""

from pathlib import Path

import pytest

from hypar_exp.planning.pipelines import Piper
from hypar_exp.systems.operator_placement import OperatorPlacement
from hypar_exp.systems.parallel_pipeline import ParallelPipeline
from tests.systems.settings import setting

DATA = Path(__file__).parents[1] / "data"


def test_bert_on_six_accelerators() -> None:
    found = OperatorPlacement("bert24_training").run(setting(1, 1))
    assert found.metrics["max_load_s"] == pytest.approx(41.7458125e-3, rel=1e-9)  # the program's
    assert found.metrics["devices"] == 6
    assert "latency_s" not in found.metrics  # of a training step there is none
    devices, operators = found.tables
    assert len(devices.rows) == 6
    assert len(operators.rows) == 64


def test_latency_of_bert() -> None:
    graph = "bert24_inference"
    by_load = OperatorPlacement(graph).run(setting(1, 1))
    by_latency = OperatorPlacement(graph, "latency").run(setting(1, 1))
    assert by_latency.metrics["latency_s"] == pytest.approx(92.406e-3)  # all on one accelerator, which it fits on
    assert by_latency.metrics["latency_s"] < by_load.metrics["latency_s"]
    assert by_load.metrics["max_load_s"] < by_latency.metrics["max_load_s"]


def test_bert_of_piper_on_eight_devices_of_8_gib() -> None:
    planner = Piper(
        devices=8, memory_bytes=8 * 2.0**30, bytes_per_s=25 * 2.0**30, micro_batches=480, exchanges_per_weight=4.0
    )
    found = ParallelPipeline(str(DATA / "piper/bert32a100.json"), planner).run(setting(1, 1))
    assert found.metrics["micro_batch_interval_s"] == pytest.approx(0.16585575)
    assert found.metrics["pipeline_stages"] == 8
    stages, ablation = found.tables
    assert sum(int(row[3] or 0) for row in stages.rows) == 37
    without = {row[0]: row[1] for row in ablation.rows}
    assert without["without recomputation"] == pytest.approx(0.2597525)
    assert without["without replicas"] == pytest.approx(0.16585575)


def test_beside_what_the_authors_program_prints() -> None:
    found = OperatorPlacement("bert24_training").run(setting(1, 1))
    assert found.metrics["max_load_s"] == pytest.approx(41.7458125e-3, rel=1e-9)
    printed = "prints 41.7 ms by its exact search (the same), 188 ms by PipeDream's and 49.4 ms for an expert's split"
    assert any(printed in words for words in found.words)
