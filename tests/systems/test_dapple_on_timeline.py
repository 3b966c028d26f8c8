"""DAPPLE's exact length beside the timeline: two ways to the same seconds, one of which lets links wait."""

from pathlib import Path

import pytest

from hypar_exp.networks.profile import load_profile
from hypar_exp.planning.pipelines import Cluster, Dapple, PipelineProblem, ProfileCosts
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.simulation.cluster_step import ClusterStep
from hypar_exp.simulation.schedules import OneFOneB

VGG16 = Path(__file__).parents[1] / "data/pipedream/vgg16.graph.txt"


def test_the_timeline_is_never_longer_than_where_a_link_has_one_channel_for_both_directions() -> None:
    profile = load_profile(str(VGG16))
    costs = ProfileCosts.of(profile)
    problem = PipelineProblem(costs, Cluster(2, 8, 25e9, 1e9, 0, 3e9), 32 * profile.batch_size, 32)
    equal = 0
    plans = Dapple().search(problem)[:40]
    for plan in plans:
        counts = [sum(stage.devices) // plan.copies for stage in plan.stages]
        stages = (
            Stage(costs.cuts.units_between(stage.start, stage.end), count, count, machines=stage.devices)
            for stage, count in zip(plan.stages, counts, strict=True)
        )
        step = ClusterStep(problem, StagePlan(tuple(stages), plan.micro_batches, plan.copies), OneFOneB("long"))
        seconds = step.timeline.step_time_s
        assert seconds <= plan.exact_length_s() * (1 + 1e-12)
        equal += seconds == pytest.approx(plan.exact_length_s(), rel=1e-12)
    assert equal > len(plans) // 2  # wherever no link is the bottleneck
