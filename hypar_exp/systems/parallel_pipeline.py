"""Of `workload=piper`: stages x replicas x tensor parallelism x recomputation, of a profile in Piper's form."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hypar_exp.errors import UserError
from hypar_exp.networks.parallel_profile import ParallelProfile, load_parallel_profile
from hypar_exp.planning.pipelines.piper import Piper, PiperStage
from hypar_exp.systems.workload import Cell, Findings, Setting, Table
from hypar_exp.units import quantity, significant

COLUMNS = ("stage", "first", "last", "nodes", "replicas", "tensor_parallel", "devices", "recomputed", "time_s")
LESS = {"replicas": "replicate", "tensor parallelism": "tensor_parallel", "recomputation": "recompute"}
"""What Piper may do -> the option that allows it."""


@dataclass(frozen=True)
class ParallelPipeline:
    """The pipeline with the least time between micro-batches (Piper; Tarnawski et al., NeurIPS 2021).

    Attributes:
        profile: the path of a profile in Piper's form.
        planner: what it may make use of, and the devices.
    """

    profile: str
    planner: Piper = field(default_factory=Piper)
    name: str = "piper"
    uses: ClassVar[tuple[str, ...]] = ()

    def run(self, setting: Setting) -> Findings:
        """The stages, and how slow the best pipeline is without each of what Piper may do."""
        profile = load_parallel_profile(self.profile)
        stages = self.planner.stages(profile)
        seconds = _slowest_s(stages)
        devices = sum(stage.replicas * stage.tensor_parallel for stage in stages)
        words = [
            f"A micro-batch leaves every {quantity(seconds, 's')}: {len(stages)} stages on {devices} of "
            f"{self.planner.devices or profile.devices} devices",
        ]
        rows: list[list[Cell]] = []
        for what, option in LESS.items():
            if getattr(self.planner, option):
                slower = self._without(profile, option)
                rows.append([f"without {what}", slower, None if slower is None else slower / seconds])
                words.append(
                    f"Without {what} nothing fits"
                    if slower is None
                    else f"Without {what} it would take {significant(slower / seconds)} times as long"
                )
        return Findings(
            title=f"{profile.name} by Piper: {len(profile.node_names)} layers, "
            f"{self.planner.devices or profile.devices} devices of "
            f"{quantity(self.planner.memory_bytes or profile.memory_bytes, 'B')}",
            words=words,
            tables=[
                Table("stages", COLUMNS, _rows(profile, stages)),
                Table("ablation", ("what", "micro_batch_interval_s", "times_as_long"), rows),
            ],
            metrics={
                "micro_batch_interval_s": seconds,
                "micro_batches_per_s": 1 / seconds,
                "pipeline_stages": float(len(stages)),
                "accelerators": float(devices),
                "recomputed_layers": float(sum(len(stage.recomputed) for stage in stages)),
            },
            series={"stage/time_s": [stage.seconds for stage in stages]},
        )

    def _without(self, profile: ParallelProfile, option: str) -> float | None:
        """Seconds between micro-batches without what an option allows; None where nothing fits then."""
        try:
            return _slowest_s(replace(self.planner, **{option: False}).stages(profile))
        except UserError:
            return None


def _slowest_s(stages: list[PiperStage]) -> float:
    return max(stage.seconds for stage in stages)


def _rows(profile: ParallelProfile, stages: list[PiperStage]) -> list[list[Cell]]:
    return [
        [
            *(number, profile.node_names[stage.nodes[0]], profile.node_names[stage.nodes[-1]], len(stage.nodes)),
            *(stage.replicas, stage.tensor_parallel, stage.replicas * stage.tensor_parallel),
            *(len(stage.recomputed), stage.seconds),
        ]
        for number, stage in enumerate(stages, 1)
    ]
