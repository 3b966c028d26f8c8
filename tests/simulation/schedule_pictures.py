"""The pictures of docs/time.md; `python -m tests.simulation.schedule_pictures` draws them again."""

from __future__ import annotations

from hypar_exp.reporting.timeline_picture import timeline_svg
from hypar_exp.simulation import schedules
from hypar_exp.simulation.timeline import timeline
from tests.conftest import ROOT
from tests.simulation.pipelines import uniform

FOLDER = ROOT / "docs" / "pictures" / "schedules"
DEVICES, MICRO_BATCHES = 4, 8
SCHEDULES: dict[str, schedules.Schedule] = {
    "gpipe": schedules.GPipe(),
    "1f1b": schedules.OneFOneB(),
    "1f1b_long": schedules.OneFOneB("long"),
    "interleaved": schedules.Interleaved(2),
    "zb_h1": schedules.ZeroBubbleH1(),
    "zb_h2": schedules.ZeroBubbleH2(),
    "zb_v": schedules.ZeroBubbleV(),
    "v_half": schedules.VHalf(),
    "v_min": schedules.VMin(),
    "chimera": schedules.Chimera(),
    "dualpipe": schedules.DualPipe(),
    "dualpipe_v": schedules.DualPipeV(),
    "merak": schedules.Merak(),
    "inference": schedules.Inference(),
}


def pictures() -> dict[str, str]:
    """Each schedule's picture: a device's F, I and W of all its chunks take 1 s each, R 1 s where it is computed."""
    drawn = {}
    for name, schedule in SCHEDULES.items():
        chunks = 1 + max(max(held) for held in schedule.placement(DEVICES))
        whole = DEVICES / chunks
        recompute = 1.0 if name == "merak" else 0.0
        times = uniform(chunks, whole, whole, whole, recompute_s=recompute)
        drawn[name] = timeline_svg(timeline(schedule, DEVICES, MICRO_BATCHES, times), name)
    return drawn


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures().items():
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
