"""A step on the terminal, as a picture and as trace events: what a reader sees in them."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from hypar_exp.reporting.timeline_chart import timeline_lines, timeline_words
from hypar_exp.reporting.timeline_looks import IDLE, Doing
from hypar_exp.reporting.timeline_picture import MOST_BLOCKS, timeline_svg
from hypar_exp.reporting.timeline_trace import timeline_json
from hypar_exp.simulation.schedules import DualPipe, GPipe, Inference, Interleaved, OneFOneB, ZeroBubbleH1, ZeroBubbleV
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import Timeline, timeline
from tests.browser import browser_page
from tests.conftest import ROOT
from tests.simulation.pipelines import uniform
from tests.simulation.schedule_pictures import FOLDER, pictures

SVG = "{http://www.w3.org/2000/svg}"


def step_with_gradients() -> Timeline:
    ones = np.full(2, 1e-3)
    times = StageTimes(
        ones, ones, ones, forward_boundary_s=ones[1:], backward_boundary_s=ones[1:], gradient_exchange_s=2 * ones
    )
    return timeline(OneFOneB(), 2, 4, times)


def test_the_chart_of_gpipe() -> None:
    """Two devices, F = 1 and B = 2 for three micro-batches: 12 seconds in columns of half a second."""
    lines = timeline_lines(timeline(GPipe(), 2, 3, uniform(2)), 41)
    assert lines[0] == "device 0 FFFFFF......BBBBBBBBBBBB   75 %"
    assert lines[1] == "device 1 ..FFFFFFBBBBBBBBBBBB....   75 %"
    assert lines[2] == "         0                 12.0 s   busy"
    assert lines[3] == "F forward, B backward, . idle"


def test_the_chart_tells_weight_gradients_chunks_and_gradients_apart() -> None:
    assert set("".join(letters_of(timeline(ZeroBubbleH1(), 4, 8, uniform(4)), 120))) == set("FBW.")
    assert set("".join(letters_of(timeline(ZeroBubbleV(), 4, 8, uniform(8)), 120))) == set("FBWfbw.")
    assert "&" in "".join(letters_of(timeline(DualPipe(), 4, 8, uniform(4)), 120))
    assert letters_of(step_with_gradients(), 120)[0].endswith("GGG")
    assert set("".join(letters_of(timeline(Inference(), 2, 3, uniform(2)), 80))) == set("F.")


def letters_of(step: Timeline, width: int) -> list[str]:
    return [line.split()[2] for line in timeline_lines(step, width) if line.startswith("device")]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("devices", [1, 8, 64])
def test_the_chart_fits_the_width(width: int, devices: int) -> None:
    lines = timeline_lines(timeline(Interleaved(2), devices, devices, uniform(2 * devices)), width)
    assert max(len(line) for line in lines) <= width
    assert len(lines) <= 32 + 5
    if devices == 64:
        assert lines[-1] == "(one of every 2 of 64 devices)"


def test_words_say_what_bounds_the_step() -> None:
    """By hand: 5 forwards and 5 backwards of 1 and 2, four boundaries and the gradients: 15 + 4 + 2."""
    assert timeline_words(step_with_gradients()) == [
        "2 devices, 4 micro-batches: 21.0 ms a step, bubble 33.3 %",
        "critical path: 71.4 % compute, 19.0 % boundaries, 9.52 % exchange of gradients",
        "longest on it: stage 1 with 42.9 % of the step",
        "most activations: device 0 keeps 2 at a time, each a stage's of one micro-batch",
    ]
    assert timeline_words(timeline(GPipe(), 1, 1, uniform(1)))[:2] == [
        "1 device, 1 micro-batch: 3.00 s a step, bubble 0 %",
        "critical path: 100 % compute",
    ]


def parsed_events(step: Timeline) -> list[dict[str, Any]]:
    document = json.loads(timeline_json(step))
    assert document["displayTimeUnit"] == "ms"
    events: list[dict[str, Any]] = document["traceEvents"]
    return events


@pytest.mark.parametrize("step", [step_with_gradients(), timeline(DualPipe(), 4, 8, uniform(4))])
def test_trace_events_are_complete_and_do_not_overlap(step: Timeline) -> None:
    events = parsed_events(step)
    assert {event["ph"] for event in events} <= {"M", "X", "b", "e"}
    for event in events:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event["name"]
        if event["ph"] == "M":
            assert event["args"]
        else:
            assert event["ts"] >= 0
            assert event["cat"]
    for device in range(step.devices):
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X" and e["tid"] == device)
        assert all(begin >= end - 1e-6 for (_, end), (begin, _) in itertools.pairwise(own))
        assert sum(end - begin for begin, end in own) == pytest.approx(
            1e6 * (step.busy_s - step.gradient_exchange_by_device_s)[device]
        )
    opened = sorted((e["id"], e["name"]) for e in events if e["ph"] == "b")
    assert opened == sorted((e["id"], e["name"]) for e in events if e["ph"] == "e")
    assert len({number for number, _ in opened}) == len(opened)
    last = max(event["ts"] + event.get("dur", 0.0) for event in events if event["ph"] != "M")
    assert last == pytest.approx(1e6 * step.step_time_s)


def test_names_in_the_trace() -> None:
    names = [event["name"] for event in parsed_events(step_with_gradients())]
    assert {"F0", "B3", "output 0", "error 3", "gradients of chunk 1"} <= set(names)
    threads = [
        event["args"]["name"] for event in parsed_events(step_with_gradients()) if event["name"] == "thread_name"
    ]
    assert threads == ["device 0 (stage 0)", "device 1 (stage 1)"]
    assert "F5 & B0" in [event["name"] for event in parsed_events(timeline(DualPipe(), 2, 8, uniform(2)))]


def test_the_picture_has_a_block_and_a_number_for_every_operation() -> None:
    root = ElementTree.fromstring(timeline_svg(timeline(OneFOneB(), 3, 5, uniform(3)), "Three <stages>"))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert texts[0] == "Three <stages>"
    assert texts[1:4] == ["device 0", "device 1", "device 2"]
    assert sorted(text for text in texts if text.isdigit() and len(text) == 1 and text != "0")[:6] == ["1"] * 6
    paths = {path.get("fill"): path.get("d", "").count("M") for path in root.iter(f"{SVG}path") if path.get("fill")}
    assert paths[Doing.FORWARD.look.colour] == 15
    assert paths[Doing.BACKWARD.look.colour] == 15
    assert paths[IDLE.colour] == 3
    assert {"forward", "backward", "idle", "critical path"} <= set(texts)
    line = next(root.iter(f"{SVG}polyline")).get("points", "").split()
    assert len(line) > 4


def test_blocks_beyond_32_devices_and_256_micro_batches_become_columns() -> None:
    step = timeline(OneFOneB(), 32, 1024, uniform(32))
    assert len(step.graph) > MOST_BLOCKS
    document = timeline_svg(step, "Many")
    assert len(document) < 2_000_000
    root = ElementTree.fromstring(document)
    assert float(root.get("width", 0)) < 1000
    areas = {
        path.get("fill"): sum(float(w) * float(h) for w, h in re.findall(r"h([\d.]+)v([\d.]+)", path.get("d", "")))
        for path in root.iter(f"{SVG}path")
    }
    assert areas[Doing.BACKWARD.look.colour] == pytest.approx(2 * areas[Doing.FORWARD.look.colour], rel=0.02)


def test_the_largest_picture_of_single_blocks() -> None:
    document = timeline_svg(timeline(OneFOneB(), 32, 256, uniform(32)), "Largest")
    assert len(document) < 2_500_000
    assert ">255</text>" in document


def test_a_browser_reads_the_trace_and_the_picture() -> None:
    step = timeline(ZeroBubbleV(), 4, 8, uniform(8, boundary_s=0.5))
    with browser_page() as page:
        page.set_content(timeline_svg(step, "V"))
        boxes = page.evaluate("[...document.querySelectorAll('text')].map(t => {const b = t.getBoundingClientRect();"
                              "return [b.left, b.top, b.right, b.bottom]})")  # fmt: skip
        overlaps = [
            (one, other)
            for index, one in enumerate(boxes)
            for other in boxes[index + 1 :]
            if one[0] < other[2] - 0.5 and other[0] < one[2] - 0.5 and one[1] < other[3] - 2 and other[1] < one[3] - 2
        ]
        assert not overlaps
        count = page.evaluate(
            "text => JSON.parse(text).traceEvents.filter(e => e.ph !== 'X' || (e.dur > 0 && e.ts >= 0)).length",
            timeline_json(step),
        )
        assert count == len(parsed_events(step))


def test_the_pictures_of_the_page_on_time_are_of_this_program() -> None:
    for name, svg in pictures().items():
        assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == svg, (
            "python -m tests.simulation.schedule_pictures"
        )
        assert f"pictures/schedules/{name}.svg" in (ROOT / "docs" / "time.md").read_text(encoding="utf-8")
