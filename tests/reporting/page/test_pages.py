"""The pages of runs and sweeps, in a real browser: what they show is what the simulator and the table say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hypar_exp as hx
from hypar_exp import networks, planning, simulation
from hypar_exp.experiments.page import page_of
from hypar_exp.experiments.record import numbers_of
from hypar_exp.experiments.run_result import RunResult
from hypar_exp.reporting.page.costs import page_costs
from hypar_exp.reporting.page.run_page import run_page
from hypar_exp.reporting.page.sweep_page import sweep_page
from hypar_exp.reporting.sweep_table import Row
from hypar_exp.units import quantity
from tests.browser import browser_page

MOST_BYTES = 300_000
CASES: dict[str, tuple[str, simulation.AcceleratorArray, str]] = {
    "the paper's": ("vgg_e", simulation.HTree(levels=4), "as_evaluated"),
    "a graph on a torus": ("resnet18", simulation.Torus(levels=5), "as_tabulated"),
    "three splits": ("alexnet", simulation.HTree(levels=3), "accpar"),
    "two kinds": ("lenet_c", simulation.Hetero(levels=3, mixed_level=2, second={"utilisation": 0.4}), "as_evaluated"),
}


@pytest.mark.slow
def test_a_flipped_dot_costs_what_the_simulator_says(tmp_path: Path) -> None:
    hardware = simulation.load_hardware()
    with browser_page() as page:
        for name, (network_name, array, accounting_name) in CASES.items():
            network, accounting = networks.load(network_name), simulation.load_accounting(accounting_name)
            model = accounting.communication
            plan = planning.Fixed("dp", "dp").plan(
                planning.PlanningProblem(network, 256, array.levels, accounting.communication)
            )
            costs = page_costs(simulation.CostModel(network, array, hardware, accounting, 256))
            html = run_page(name, [], "dp", network.layer_names, model.splits, plan, {}, costs)
            assert len(html.encode()) < MOST_BYTES
            (tmp_path / "page.html").write_text(html, encoding="utf-8")
            page.goto(f"file://{tmp_path / 'page.html'}")
            for level, layer in ((0, 1), (array.levels - 1, 0), (1, 2), (1, 1), (1, 2)):
                page.click(f"#dot-{level}-{layer}")
                choices = plan.choices.copy()
                choice = model.splits.index(planning.Split(choices[level, layer]))
                choices[level, layer] = model.splits[(choice + 1) % len(model.splits)]
                plan = planning.Plan(choices)
                report = simulation.simulate(network, plan, array, hardware, accounting, 256)
                keys = ["step_time_s", "communication_bytes", "step_energy_j", "compute_time_s"]
                if name != "two kinds":  # memory is that of the kind with the least to spare there
                    keys.append("memory_per_accelerator_bytes")
                for key in keys:
                    shown = float(page.locator(f"#total-{key}").get_attribute("data-value"))
                    assert shown == pytest.approx(getattr(report, key), rel=1e-12), (name, key)


def test_names_of_a_page_are_text_and_no_markup(tmp_path: Path) -> None:
    del tmp_path
    nothing = planning.Plan(np.zeros((0, 1), np.uint8))
    html = run_page("<b>&", ["</script><i>"], "s", ["</script><u>"], (planning.Split.DP,), nothing, {}, {})
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<u>" not in html
    assert html.count("</script>") == 2


@pytest.mark.slow
def test_a_sweep_can_be_sorted_filtered_and_drawn(tmp_path: Path) -> None:
    times = {("a", "dp"): 3.0, ("a", "hypar"): 1.0, ("b", "dp"): 10.0, ("b", "hypar"): 20.0}
    rows = [
        Row({"network": network, "strategy": strategy}, {"step_time_s": time, "step_energy_j": 1 / time})
        for (network, strategy), time in times.items()
    ]
    rows.append(Row({"network": "<c>", "strategy": "dp"}, {}, "FAILED"))
    (tmp_path / "page.html").write_text(sweep_page("x", ["network", "strategy"], rows), encoding="utf-8")
    with browser_page() as page:
        page.goto(f"file://{tmp_path / 'page.html'}")

        def column(number: int) -> list[str]:
            return [str(text) for text in page.locator(f"#runs tbody td:nth-child({number})").all_text_contents()]

        assert column(1) == ["a", "a", "b", "b", "<c>"]
        page.locator("#runs th", has_text="step time").click()
        assert column(3) == ["1 s", "3 s", "10 s", "20 s", ""]
        page.locator("#runs th", has_text="step time").click()
        assert column(3)[:2] == ["20 s", "10 s"]
        bold = page.locator("#runs td[style*='700']:nth-child(3)").all_text_contents()
        assert sorted(bold) == ["1 s", "10 s"], "the best of each network"
        assert page.locator("#picture .point").count() == 4
        page.fill("#filter", "hypar b")
        assert column(3) == ["20 s"]
        assert page.locator("#picture .point").count() == 1


def test_the_page_of_a_pipeline_has_its_timeline() -> None:
    chosen = "network=vgg_e pipeline=balanced pipeline.stages=4 pipeline.micro_batches=16 tracking=none"
    result = hx.run(chosen)
    assert isinstance(result, RunResult)
    html = page_of(result.job, result.result, "title", numbers_of(result.job, result.result))
    assert len(html.encode()) < MOST_BYTES
    assert html.count("<svg") == 3
    assert "device 3</text>" in html
    assert f"<td>{quantity(result.report.step_time_s, 's')}</td>" in html
    assert "4 devices, 16 micro-batches" in html


@pytest.mark.slow
def test_a_timeline_is_zoomed_into(tmp_path: Path) -> None:
    result = hx.run("network=alexnet overlap=gradients tracking=none")
    assert isinstance(result, RunResult)
    html = page_of(result.job, result.result, "title", numbers_of(result.job, result.result))
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    with browser_page() as page:
        page.goto(f"file://{tmp_path / 'page.html'}")
        width = page.locator("#timeline svg").bounding_box()["width"]
        page.locator("#zoom").fill("2")
        assert page.locator("#timeline svg").bounding_box()["width"] == pytest.approx(4 * width, rel=0.01)
