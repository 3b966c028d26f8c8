"""How long timelines of pipelines take: a million operations, and many candidates at once.

`python -m benchmarks.timeline`. Every row is in process, the best of several, in CPU time; ratios are to the first row.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from hypar_exp.simulation import schedules
from hypar_exp.simulation.critical_path import critical_path
from hypar_exp.simulation.operation_graph import operation_graph
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import step_times_s, timeline

DEVICES, MICRO_BATCHES = 16, 64
CANDIDATES = 64
MILLION = 31_250
"""Micro-batches of 16 devices: a million operations."""
ALL: dict[str, schedules.Schedule] = {
    "gpipe": schedules.GPipe(),
    "1f1b": schedules.OneFOneB(),
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


def main() -> None:
    one_f_one_b, times = ALL["1f1b"], _times(ALL["1f1b"])
    operation_graph(one_f_one_b, DEVICES, MICRO_BATCHES)
    reference_s = _best_s(lambda: timeline(one_f_one_b, DEVICES, MICRO_BATCHES, times))
    print(f"{'':58}{'time':>12}{'limit':>10}{'ratio':>10}")

    def row(what: str, seconds: float, limit_s: float | None = None) -> None:
        limit = "" if limit_s is None else f"{limit_s * 1e3:g} ms"
        print(f"{what:58}{seconds * 1e3:>9.2f} ms{limit:>10}{seconds / reference_s:>9.1f}x")

    row(f"1f1b, {DEVICES} devices x {MICRO_BATCHES} micro-batches, order known", reference_s)
    for name, schedule in ALL.items():
        candidates = [_times(schedule, 1 + index / CANDIDATES) for index in range(CANDIDATES)]
        batch_s = _best_s(lambda s=schedule, c=candidates: step_times_s(s, DEVICES, MICRO_BATCHES, c))  # type: ignore[misc]
        row(f"{name}, a candidate of {CANDIDATES} at once", batch_s / CANDIDATES, 1e-3)
    for name, schedule in ALL.items():
        row(f"{name}, making the order", _best_s(lambda s=schedule: s.orders(DEVICES, MICRO_BATCHES), 2))  # type: ignore[misc]
    step = timeline(one_f_one_b, DEVICES, MICRO_BATCHES, times)
    row("critical path", _best_s(lambda: critical_path(step)))
    print("\na million operations, from the order to the bubble:")
    for what, schedule, rule, limit_s in (
        ("1f1b", one_f_one_b, "latency", 2.0),
        ("zb_h1", ALL["zb_h1"], "latency", None),
        ("1f1b, one shared medium", one_f_one_b, "shared", None),
    ):
        operation_graph.cache_clear()
        begin = time.process_time()
        step = timeline(schedule, DEVICES, MILLION, times, boundaries=rule)  # type: ignore[arg-type]
        assert 0 < step.bubble_fraction < 1
        row(f"{what}, {len(step.graph):,} operations", time.process_time() - begin, limit_s)
    operation_graph.cache_clear()
    tracemalloc.start()
    timeline(one_f_one_b, DEVICES, MILLION, times)
    print(f"memory at its peak: {tracemalloc.get_traced_memory()[1] / 1e9:.2f} GB (limit 1 GB)")


def _times(schedule: schedules.Schedule, factor: float = 1.0) -> StageTimes:
    chunks = 1 + max(max(held) for held in schedule.placement(DEVICES))
    ones = np.full(chunks, factor)
    return StageTimes(ones, ones, ones, forward_boundary_s=0.1 * ones[1:], backward_boundary_s=0.1 * ones[1:])


def _best_s(work: Callable[[], object], repeats: int = 5) -> float:
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


if __name__ == "__main__":
    main()
