"""What is recorded of a sweep's run whose process was killed."""

from __future__ import annotations

from pathlib import Path

from hypar_exp.experiments.record import Origin
from hypar_exp.sweeps.job import end_as_killed
from hypar_exp.tracking import NoRecorder, RunStatus

CONFIG = """
network: {name: sfc}
strategy: {name: dp}
array: {name: htree, levels: 1}
batch_size: 256
tracking: {name: none}
"""


def test_a_run_killed_before_hydra_had_written_all_of_its_folder_had_not_begun(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text(CONFIG)
    assert end_as_killed(tmp_path, 0, Origin(), NoRecorder(), {}) is None


def test_a_run_killed_later_ends_killed(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text(CONFIG)
    (tmp_path / ".hydra" / "overrides.yaml").write_text("- network=sfc\n- strategy=dp\n")
    outcome = end_as_killed(tmp_path, 0, Origin(), NoRecorder(), {})
    assert outcome is not None
    assert outcome.status is RunStatus.KILLED
