"""Of `workload=cluster`: a pipeline of stages with replicas on machines of accelerators, by any planner."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import load_profile
from hypar_exp.planning.pipelines import pipedream_files, stage_file
from hypar_exp.planning.pipelines.optimal import Optimal, ProvenPlan
from hypar_exp.planning.pipelines.problem import Cluster, PipelinePlanner, PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import ProfileCosts, StageCosts
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.simulation.cluster_step import ClusterStep, ClusterTimeline
from hypar_exp.simulation.network_costs import NetworkCosts
from hypar_exp.simulation.schedules import GPipe
from hypar_exp.systems.workload import Cell, Findings, Setting, Table
from hypar_exp.units import percent, percent_at_most, quantity, significant

SAME = 1e-9
"""Share by which two step times may differ and be the same."""
COLUMNS = (
    *("stage", "first", "last", "layers", "accelerators", "machines"),
    *("forward_s", "backward_s", "send_s", "all_reduce_s", "busy", "memory_bytes"),
)


@dataclass(frozen=True)
class ClusterPipeline:
    """One step of a network, or of a measured profile, in stages on a cluster.

    Attributes:
        planner: decides the stages and their replicas.
        array: the machines.
        profile: the path of a profile with measured times; None for the network and the hardware of their groups.
        profile_batch: samples that were profiled at once; None where the profile tells.
        micro_batches: parts of a step's batch.
        linear: whether a graph is cut in the order of its layers alone.
        gap: whether a run says how far its plan is from the best one.

    Raises:
        UserError: a count that cannot be.
    """

    planner: PipelinePlanner
    array: Cluster = field(default_factory=Cluster)
    profile: str | None = None
    profile_batch: int | None = None
    micro_batches: int = 8
    linear: bool = False
    gap: bool = False
    name: str = "cluster"
    uses: ClassVar[tuple[str, ...]] = ("network", "hardware", "accounting", "schedule", "batch_size", "overlap")

    def run(self, setting: Setting) -> Findings:
        """The plan on its timeline, beside data parallelism on all accelerators and one accelerator alone."""
        what, names, costs = self._costs(setting)
        problem = PipelineProblem(costs, self.array, setting.batch_size, self.micro_batches)
        timed = replace(problem, timeline=ClusterTimeline(problem, setting.schedule, setting.overlap_gradients))
        proven = self._proven(timed, setting)
        plan = proven.plan if isinstance(self.planner, Optimal) and proven is not None else self.planner.plan(timed)
        step = ClusterStep(problem, plan, setting.schedule, setting.overlap_gradients)
        timeline, seconds = step.timeline, step.timeline.step_time_s
        everywhere, alone = self._one_stage(problem, setting, self.array.devices), self._one_stage(problem, setting, 1)
        fullest = float(step.memory_bytes.max())
        planner = type(self.planner).__name__
        words = [
            f"{planner} makes {len(plan.stages)} stages"
            + (f" in {plan.replicas} copies" if plan.replicas > 1 else "")
            + f": {quantity(seconds, 's')} a step, {significant(setting.batch_size / seconds)} samples per second",
            f"Data parallelism on all {self.array.devices} accelerators takes {quantity(everywhere, 's')}, "
            f"{significant(everywhere / seconds)} times as long; one accelerator {quantity(alone, 's')}, "
            f"{significant(alone / seconds)} times",
            f"The fullest accelerator holds {quantity(fullest, 'B')}"
            + ("" if fullest <= self.array.memory_bytes else f", and has {quantity(self.array.memory_bytes, 'B')}"),
        ]
        if proven is not None:
            words.append(_distance(seconds, proven))
        return Findings(
            title=f"{what} by {planner}: {len(names)} layers, {self.array.machines} machines of "
            f"{self.array.devices_per_machine} accelerators, batch {setting.batch_size} in {plan.micro_batches} parts",
            words=words,
            tables=[
                Table("stages", COLUMNS, _rows(step, names)),
                Table("stage_plan", stage_file.COLUMNS, stage_file.plan_rows(plan, costs)),
            ],
            metrics={
                "step_time_s": seconds,
                "speedup": everywhere / seconds,
                "samples_per_s": setting.batch_size / seconds,
                "memory_per_accelerator_bytes": fullest,
                "fits_in_memory": float(fullest <= self.array.memory_bytes),
                "speedup_over_one_accelerator": alone / seconds,
                "bubble_fraction": timeline.bubble_fraction,
                "pipeline_stages": float(len(plan.stages)),
                "pipeline_copies": float(plan.replicas),
                "micro_batches": float(plan.micro_batches),
                "accelerators": float(sum(stage.devices for stage in plan.stages) * plan.replicas),
                "baseline/step_time_s": everywhere,
                **({} if proven is None else {"optimality_gap": max(seconds / proven.bound_s - 1, 0.0)}),
            },
            series={
                "stage/busy_s": timeline.busy_s.tolist(),
                "stage/peak_memory_bytes": step.memory_bytes.tolist(),
                "stage/activations_alive": timeline.activations_alive().tolist(),
            },
            files=self._for_pipedream(costs, plan),
            timeline=timeline,
        )

    def _for_pipedream(self, costs: StageCosts, plan: StagePlan) -> dict[str, str]:
        """What PipeDream's runtime reads of a plan of a profile; it has no copies of whole pipelines."""
        if not isinstance(costs, ProfileCosts) or plan.replicas > 1:
            return {}
        return {
            "pipedream_graph.txt": pipedream_files.graph_with_stages(costs.profile, plan),
            "hybrid_conf.json": pipedream_files.hybrid_configuration(plan),
        }

    def _costs(self, setting: Setting) -> tuple[str, tuple[str, ...], StageCosts]:
        """What is cut into stages: its name, its layers' names, and their costs."""
        if self.profile is None:
            network = setting.network
            costs = NetworkCosts.of(network, setting.hardware, setting.accounting, linear=self.linear)
            return network.name, network.layer_names, costs
        profile = load_profile(self.profile, batch_size=self.profile_batch)
        if not (profile.forward_s + profile.backward_s).any():
            raise UserError(f"{self.profile} has no times; a profile needs forward_compute_time of its nodes")
        return profile.name, profile.node_names, ProfileCosts.of(profile, linear=self.linear)

    def _proven(self, problem: PipelineProblem, setting: Setting) -> ProvenPlan | None:
        """The best plan with its proof, where it is asked for.

        Raises:
            UserError: the schedule has several stages on a device, or a stage on several.
        """
        if not (self.gap or isinstance(self.planner, Optimal)):
            return None
        if [list(chunks) for chunks in setting.schedule.placement(2)] != [[0], [1]]:
            raise UserError(
                "the best plan is proven for schedules with one stage on each device, as gpipe, 1f1b, zb_h1 and zb_h2"
            )
        planner = self.planner if isinstance(self.planner, Optimal) else Optimal()
        return planner.prove(problem)

    def _one_stage(self, problem: PipelineProblem, setting: Setting, devices: int) -> float:
        """Seconds of a step in one stage whose accelerators share every micro-batch."""
        units = tuple(range(problem.costs.cuts.inside.shape[1]))
        plan = StagePlan((Stage(units, devices, devices),), self.micro_batches)
        return ClusterStep(problem, plan, GPipe(), setting.overlap_gradients).timeline.step_time_s


def _distance(seconds: float, proven: ProvenPlan) -> str:
    """How far a plan is from the best, in words."""
    if seconds <= proven.bound_s * (1 + SAME):
        return "No plan of stages, replicas and copies is faster under this schedule: that is proven"
    best = f"The best plan found takes {quantity(proven.step_time_s, 's')}"
    more = percent_at_most(seconds / proven.bound_s - 1)
    if proven.excess <= SAME:
        return f"{best}, which is proven to be the least: this one takes {more} more"
    bound = quantity(proven.bound_s, "s")
    return f"{best}, and none takes less than {bound}: this one is at most {more} above the least"


def _rows(step: ClusterStep, names: tuple[str, ...]) -> list[list[Cell]]:
    """A row a stage."""
    times, timeline = step.times, step.timeline
    device_of = {int(chunk): device for device, chunks in enumerate(timeline.graph.chunks_of) for chunk in chunks}
    return [
        [
            *(number + 1, names[stage.layers[0]], names[stage.layers[-1]], len(stage.layers), stage.devices),
            "+".join(map(str, step.machines[number].tolist())),
            float(times.forward_s[number]),
            float(times.input_gradient_s[number] + times.weight_gradient_s[number]),
            float(times.forward_boundary_s[number]) if number < times.chunks - 1 else None,
            float(times.gradient_exchange_s[number]),
            percent(float(timeline.busy_s[device_of[number]] / timeline.step_time_s)),
            float(step.memory_bytes[device_of[number]]),
        ]
        for number, stage in enumerate(step.plan.stages)
    ]
