"""The MLflow UI on a recorded sweep, as a person sees it: in a browser. The pictures are kept in outputs/ui/."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from hypar_exp.tracking import SqliteRecorder
from tests.browser import browser_page
from tests.conftest import ROOT, NewStore, run_program
from tests.sweeps.server import free_port, mlflow_server
from tests.sweeps.store import children, parents

MODE = "workflowType=machine_learning"


@pytest.mark.slow
def test_a_sweep_reads_well_in_the_browser(tmp_path: Path) -> None:
    run_program("-m", "network=sfc,lenet_c,alexnet", "strategy=dp,trick,hypar", cwd=tmp_path)
    (parent,) = parents(tmp_path)
    told = {(run.tags["network"], run.tags["strategy"]): run for run in children(tmp_path)}
    three = [told["sfc", "dp"], told["lenet_c", "trick"], told["alexnet", "hypar"]]
    pictures = ROOT / "outputs" / "ui"
    pictures.mkdir(parents=True, exist_ok=True)
    with (
        mlflow_server(tmp_path / "outputs" / "mlflow.db", free_port()) as address,
        browser_page() as page,
    ):
        page.goto(f"{address}/#/experiments/1?{MODE}")
        page.get_by_text(parent.name, exact=True).first.wait_for()
        page.screenshot(path=pictures / "runs.png")

        page.goto(f"{address}/#/experiments/1/runs?{MODE}&viewStateShareKey=hypar")
        page.get_by_text("alexnet hypar htree-16 b256").wait_for()
        heads = page.evaluate(
            "[...document.querySelectorAll('[role=columnheader]')].map(head => "
            "[head.getBoundingClientRect().left, head.innerText.trim()])"
        )
        columns = ["network", "strategy", "array.levels", "step_time_s", "speedup", "step_energy_j"]
        assert list(dict.fromkeys(head for _, head in sorted(heads) if head in columns)) == columns
        page.screenshot(path=pictures / "runs_as_chosen.png")
        page.goto(f"{address}/#/experiments/1/runs?{MODE}&viewStateShareKey=hypar&compareRunsMode=CHART")
        page.wait_for_function(r"/Plans\s*\(5\)/.test(document.body.innerText)")
        page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length >= 3")
        page.screenshot(path=pictures / "charts.png")

        page.goto(f"{address}/#/experiments/1?{MODE}")
        page.get_by_text(parent.name, exact=True).first.click()
        page.get_by_text("Child runs", exact=True).wait_for()
        page.get_by_text("alexnet hypar htree-16 b256").wait_for()
        page.screenshot(path=pictures / "parent.png")
        assert page.get_by_text("sfc, lenet_c, alexnet").count() == 1, "the axes are the parent's params"

        page.goto(f"{address}/#/experiments/1/runs/{parent.run_id}/model-metrics?{MODE}")
        page.get_by_text("step_time_s", exact=True).first.wait_for()
        page.screenshot(path=pictures / "parent_metrics.png")

        runs, experiments = quote(json.dumps([run.run_id for run in three])), quote(json.dumps(["1"]))
        page.goto(f"{address}/#/compare-runs?runs={runs}&experiments={experiments}&{MODE}")
        page.get_by_text("Comparing 3 Runs from 1 Experiment").wait_for()
        plot = page.locator(".js-plotly-plot").first
        plot.wait_for()
        page.wait_for_function("document.querySelector('.js-plotly-plot').textContent.includes('step_time_s')")
        page.screenshot(path=pictures / "compare.png")
        words = plot.text_content()
        for word in ("Network", "Strategy", "step_time_s", "sfc", "lenet_c", "alexnet", "dp", "trick", "hypar"):
            assert word in words


@pytest.mark.slow
def test_a_run_s_page_begins_with_what_people_look_for(tmp_path: Path, new_store: NewStore) -> None:
    new_store(tmp_path)
    run_program("network=alexnet", cwd=tmp_path)
    (run,) = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results().runs()
    pictures = ROOT / "outputs" / "ui"
    pictures.mkdir(parents=True, exist_ok=True)
    with (
        mlflow_server(tmp_path / "outputs" / "mlflow.db", free_port()) as address,
        browser_page(height=1600) as page,
    ):
        page.goto(f"{address}/#/experiments/1/runs/{run.run_id}?{MODE}")
        page.get_by_text("step_time_s", exact=True).first.wait_for()
        page.screenshot(path=pictures / "run.png")
        shown = page.evaluate("document.body.innerText")
        first = ["step_time_s", "speedup", "step_energy_j", "energy_efficiency", "communication_bytes"]
        places = [shown.index(f"\n{key}\n") for key in [*first, "compute_time_s"]]
        assert places == sorted(places)
        assert shown.index("3.28x the speed") < places[0]
        page.goto(f"{address}/#/experiments/1/runs/{run.run_id}/artifacts/breakdown.svg?{MODE}")
        picture = page.locator("img[src^='blob:'], img[src*='breakdown']").first
        picture.wait_for()
        assert picture.bounding_box()["width"] > 300
        page.screenshot(path=pictures / "breakdown.png")
