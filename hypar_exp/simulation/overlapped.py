"""A step without stages whose weight gradients are exchanged while earlier layers still go backward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hypar_exp.planning import Plan
from hypar_exp.simulation.accounting import PHASES
from hypar_exp.simulation.contention import Media
from hypar_exp.simulation.cost_model import CostModel
from hypar_exp.simulation.operations import Kind, Order, in_sequence, run
from hypar_exp.simulation.report import PipelineReport, StepReport
from hypar_exp.simulation.simulator import step_report
from hypar_exp.simulation.stage_model import StageModel
from hypar_exp.simulation.stage_times import StageTimes
from hypar_exp.simulation.timeline import timeline


@dataclass(frozen=True)
class LayerByLayer:
    """All layers on one device: forward from the first to the last, then backward; a chunk is a layer.

    Attributes:
        layers: how many.
    """

    layers: int

    def placement(self, devices: int) -> Sequence[Sequence[int]]:
        """All on the one device."""
        return [range(self.layers)] * devices

    def orders(self, devices: int, micro_batches: int) -> list[Order]:
        """One micro-batch after the other."""
        layers = np.arange(self.layers)
        parts = [
            in_sequence(run(Kind.FORWARD, layers, part), run(Kind.BACKWARD, layers[::-1], part))
            for part in range(micro_batches)
        ]
        return [in_sequence(*parts)] * devices


def overlapped_report(model: CostModel, plan: Plan) -> StepReport:
    """One step, layer by layer on a timeline; whatever is exchanged takes turns on the links.

    Raises:
        UserError: see `step_report`; or an array of several kinds.
    """
    report = step_report(model, plan)
    stage = StageModel(model, replace(plan.stages()[0], recompute=model.memory_model.recompute), 1)
    none = np.zeros(len(model.network.layers))
    compute = {phase: stage.compute_s.get(phase, none) for phase in PHASES}
    exchange = {phase: seconds.sum(axis=1) for phase, seconds in stage.exchange_by_layer_s.items()} | {
        phase: none for phase in PHASES if phase not in model.accounting.phases
    }
    again_s, again_exchange_s = stage.recompute_by_layer_s
    times = StageTimes(
        forward_s=compute["forward"] + exchange["forward"],
        input_gradient_s=compute["backward"] + exchange["backward"],
        weight_gradient_s=compute["gradient"],
        gradient_exchange_s=exchange["gradient"],
        forward_exchange_s=exchange["forward"],
        input_gradient_exchange_s=exchange["backward"],
        recompute_s=again_s + again_exchange_s,
        recompute_exchange_s=again_exchange_s,
    )
    step = timeline(LayerByLayer(times.chunks), 1, 1, times, boundaries=Media.one(times.chunks), overlap_gradients=True)
    return replace(
        report,
        pipeline=PipelineReport(
            timeline=step,
            stages=plan.stages(),
            micro_batches=1,
            memory_by_device_bytes=np.array([report.memory_per_accelerator_bytes]),
            exchanged_s=report.communication_time_s,
        ),
    )
