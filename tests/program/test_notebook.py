"""`import hypar_exp as hx` in a notebook: what docs/notebook.md shows, run as it stands, and what results look like."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import hypar_exp as hx
from hypar_exp.errors import UserError
from hypar_exp.experiments.run_result import RunResult, WorkloadResult
from tests.conftest import ROOT, NewStore

PAGE = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
VGG_E = "network=vgg_e strategy=hypar tracking=none"


def step(overrides: str | list[str], config_dir: Path | None = None) -> RunResult:
    """A run that plans and simulates a step."""
    result = hx.run(overrides, config_dir=config_dir)
    assert isinstance(result, RunResult)
    return result


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_runs_from_its_first_line_to_its_last(
    here: Path, new_store: NewStore, capsys: pytest.CaptureFixture[str]
) -> None:
    new_store(here)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    assert names["layers"].loc["fc1", "split_H1"] == "mp"
    assert {name: round(gain, 2) for name, gain in names["speedup"].items()} == {
        "lenet_c": 3.05, "alexnet": 3.28, "vgg_a": 4.97,
    }  # fmt: skip
    assert list(names["table"]["run_id"]) == [names["result"].run_id]
    assert len(names["fast"]) == 1
    assert not any(column.startswith(("metrics.layer/", "metrics.level/")) for column in names["table"].columns)
    assert repr(names["result"]) in PAGE
    assert (here / "breakdown.svg").read_text() == (ROOT / "docs" / "pictures" / "breakdown_vgg_e.svg").read_text()
    assert capsys.readouterr().out == "28.9 s\n", (
        "28.05 s of computation, and 13.82 s at 1.6 Gb/s on links 16 times as fast"
    )


def test_a_result_in_a_notebook() -> None:
    result = step(VGG_E)
    assert result.run_id is None
    page = result._repr_html_()
    ElementTree.fromstring(f"<p>{page.replace('&emsp;', ' ')}</p>")  # well formed
    assert page.count("<circle") == 4 * 19 + 2
    for words in ("step time", "41.9 s", "2.73x less", "memory per accelerator"):
        assert words in page
    frame = result.to_frame()
    assert frame.shape[0] == 19
    assert frame["compute_time_s"].sum() == pytest.approx(result.report.compute_time_s)
    assert frame["communication_bytes"].sum() == pytest.approx(2.76e9, rel=0.01)
    assert frame["energy_j"].sum() == pytest.approx(result.metrics["step_energy_j"])
    assert np.asarray([frame[f"split_H{level}"] == "mp" for level in (1, 2, 3, 4)]).sum() == result.plan.choices.sum()
    assert len(repr(result)) < 200
    assert len(repr(result.plot())) < 80


def test_a_pipeline_in_a_notebook() -> None:
    result = step("network=alexnet pipeline=balanced tracking=none")
    assert "the step takes" in result.plot().svg
    ElementTree.fromstring(result.plot_timeline().svg)
    assert set(result.to_frame()["split_H1"]) == {"first", "second"}
    with pytest.raises(UserError, match="the step has no timeline; choose pipeline=balanced"):
        step(VGG_E).plot_timeline()


def test_a_workload_in_a_notebook() -> None:
    result = hx.run("workload=pipelined_backprop tracking=none")
    assert isinstance(result, WorkloadResult)
    first = result.findings.tables[0]
    assert result.to_frame().shape == (len(first.rows), len(first.columns))
    assert list(result.to_frame(first.name).columns) == list(first.columns)
    assert result.metrics == dict(result.findings.metrics)
    page = result._repr_html_()
    ElementTree.fromstring(f"<p>{page.replace('&emsp;', ' ')}</p>")
    assert result.findings.words[0] in unescape(page)
    assert len(repr(result)) < 300
    with pytest.raises(UserError, match="there is no table 'x'"):
        result.to_frame("x")


def test_a_result_without_a_baseline() -> None:
    result = step(["network=lenet_c", "baseline=null", "tracking=none", "array.levels=0"])
    assert " of dp" not in repr(result)
    assert "speedup" not in result.metrics
    assert result.to_frame()["communication_bytes"].sum() == 0


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ("network=vg_e", "there is no network 'vg_e'; did you mean vgg_e"),
        ("bach_size=3", "there is no key 'bach_size'; did you mean batch_size?"),
        ("batch_size=0", "batch_size must be a whole number of at least 1"),
        ("strategy=dp,mp", "strategy=dp,mp is several values"),
        ("experiment=fig06", "is a sweep; hypar-exp makes it"),
        ("resume=true", "resume=true is for sweeps"),
    ],
)
def test_what_is_not_understood_is_one_sentence(overrides: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        hx.run(f"{overrides} tracking=none")


def test_a_strategy_of_one_s_own(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "strategy").mkdir()
    (here / "strategy" / "mine.yaml").write_text("_target_: hypar_exp.planning.Fixed\nname: mine\ndefault: mp\n")
    assert step("network=lenet_c strategy=mine tracking=none", config_dir=here).plan.choices.min() == 1


def test_an_application_of_hydra_may_call_it() -> None:
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        own = GlobalHydra.instance().hydra
        hx.run("network=lenet_c tracking=none")
        assert GlobalHydra.instance().hydra is own


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, hypar_exp; print({'numpy', 'pandas', 'hydra', 'mlflow', 'matplotlib'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed == "set()\n"
    assert {"run", "runs", "load_hardware", "networks", "planning", "simulation"} <= set(dir(hx))
    with pytest.raises(AttributeError, match="no attribute 'results'"):
        _ = hx.results  # type: ignore[attr-defined]
