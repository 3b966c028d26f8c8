"""Where the time of a step goes, as a picture whose bars add up to it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hypar_exp.networks import Network
from hypar_exp.planning import HyPar, PlanningProblem
from hypar_exp.reporting.breakdown_picture import HEIGHT, breakdown_svg, round_ticks
from hypar_exp.simulation import HTree, StepReport, simulate
from tests import conf

SVG = "{http://www.w3.org/2000/svg}"

Bars = dict[str, list[tuple[float, str]]]


def evaluated(name: str, levels: int) -> tuple[Network, StepReport]:
    """A network and its step under HyPar's plan."""
    network, array, accounting = conf.network(name), HTree(levels=levels), conf.accounting()
    plan = HyPar().plan(PlanningProblem(network, 256, levels, accounting.communication))
    return network, simulate(network, plan, array, conf.hardware(), accounting, 256)


def bars_of(svg: str) -> Bars:
    """Layer -> its segments from the bottom up: height in pixels, and what it is."""
    bars: Bars = {}
    for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        tip = rect.find(f"{SVG}title")
        if tip is not None and tip.text is not None:
            layer, _, words = tip.text.partition(": ")
            bars.setdefault(layer, []).append((float(rect.attrib["height"]), words.split(" ", 2)[2]))
    return bars


def longest_of(report: StepReport) -> float:
    """Seconds of the layer that takes the longest, by hand: bytes of a level by that level's rate."""
    rates = report.communication_time_s_by_level / report.communication_bytes_by_level
    by_layer = (report.communication_bytes_by_level_and_layer * rates[:, None]).sum(axis=0)
    return float((by_layer + report.compute_time_s_by_layer).max())


def test_bars_add_up_to_the_step() -> None:
    network, report = evaluated("vgg_e", levels=4)
    bars = bars_of(breakdown_svg(report, network.layer_names, "title"))
    assert list(bars) == list(network.layer_names)
    assert [words for _, words in bars["fc1"]] == ["compute", *(f"communication at H{level}" for level in (1, 2, 3, 4))]
    seconds = sum(height for bar in bars.values() for height, _ in bar) / HEIGHT * longest_of(report)
    assert seconds == pytest.approx(report.step_time_s, rel=1e-3)


def test_every_layer_is_named_and_every_level_has_its_numbers() -> None:
    network, report = evaluated("densenet121", levels=4)
    svg = breakdown_svg(report, network.layer_names, "densenet121 <by> hypar")
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert set(network.layer_names) <= set(texts)
    assert {"H1", "H2", "H3", "H4", "compute", "densenet121 <by> hypar"} <= set(texts)
    assert sum(text.endswith("B") for text in texts if text is not None) >= 4


def test_one_accelerator_communicates_nothing() -> None:
    network, report = evaluated("lenet_c", levels=0)
    bars = bars_of(breakdown_svg(report, network.layer_names, "title"))
    assert all(len(bar) == 1 for bar in bars.values())


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(4.05, [0, 1, 2, 3, 4]), (92e-6, [0, 2e-5, 4e-5, 6e-5, 8e-5]), (3.0, [0, 1, 2, 3]), (17.0, [0, 5, 10, 15])],
)
def test_ticks_are_round(most: float, ticks: list[float]) -> None:
    assert round_ticks(most) == pytest.approx(ticks)
