"""Pipelines on a cluster, of profiles and of networks, against hand computation and closed forms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks import load
from hypar_exp.networks.profile import load_profile
from hypar_exp.planning.pipelines import Balanced, Cluster, Dapple, GPipe, PipeDream, PipelineProblem, ProfileCosts
from hypar_exp.planning.stages import Stage, StagePlan
from hypar_exp.simulation import CostModel, HTree, step_report
from hypar_exp.simulation.cluster_step import ClusterStep
from hypar_exp.simulation.network_costs import NetworkCosts
from hypar_exp.simulation.schedules import GPipe as GPipeSchedule
from hypar_exp.simulation.schedules import Interleaved, OneFOneB
from hypar_exp.systems.cluster import ClusterPipeline
from tests import conf
from tests.systems.settings import setting

NODE = "forward_compute_time={f}, backward_compute_time={b}, activation_size={out}, parameter_size={weights}"


def profile(
    path: Path, nodes: int = 4, f: float = 1000.0, b: float = 2000.0, out: float = 0, weights: float = 0
) -> str:
    """A chain of like nodes of a batch of one sample; times in ms."""
    lines = [f"node{at} -- Unheard(of) -- {NODE.format(f=f, b=b, out=out, weights=weights)}" for at in range(nodes)]
    lines += [f"\tnode{at} -- node{at + 1}" for at in range(nodes - 1)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("micro_batches", [1, 4, 32])
def test_four_nodes_with_times_are_a_pipeline_of_four_stages(tmp_path: Path, micro_batches: int) -> None:
    """GPipe and 1F1B: (m + p - 1)(f + b) where nothing is sent; sizes may be 0, and the modules need not be known."""
    workload = ClusterPipeline(
        GPipe(), Cluster(1, 4), profile(tmp_path / "four"), profile_batch=1, micro_batches=micro_batches
    )
    for schedule in (GPipeSchedule(), OneFOneB()):
        found = workload.run(replace(setting(1, 1), batch_size=micro_batches, schedule=schedule))
        assert found.metrics["step_time_s"] == pytest.approx((micro_batches + 3) * 3.0)
        assert found.metrics["pipeline_stages"] == 4
        assert found.metrics["baseline/step_time_s"] == pytest.approx(micro_batches * 12.0 / 4)
        assert found.metrics["bubble_fraction"] == pytest.approx(3 / (micro_batches + 3))


def test_replicas_transfers_and_all_reduces_by_hand(tmp_path: Path) -> None:
    """Two nodes of 2 s and 4 s; the first on 2 accelerators of a machine, the second alone on another machine.

    A micro-batch of a sample: F 1, B 2 and F 2, B 4; 8 bytes at 2 B/s across take 4 s each way. One micro-batch:
    1 + 4 + 2 + 4 + 4 + 2 = 17, then the first node's 6 bytes of weights at 3 B/s among two: 6 x 2 x 1/2 / 3 = 2 s.
    """
    path = profile(tmp_path / "two", 2, 2000.0, 4000.0, out=8, weights=6)
    costs = ProfileCosts.of(load_profile(path, batch_size=1))
    cluster = Cluster(2, 2, inside_bytes_per_s=3.0, across_bytes_per_s=2.0)
    plan = StagePlan((Stage((0,), 2, 2, machines=(2, 0)), Stage((1,), machines=(0, 1))))
    step = ClusterStep(PipelineProblem(costs, cluster, 1), plan, GPipeSchedule())
    assert step.timeline.step_time_s == 19.0
    # weights and gradients; half of the first's 8 bytes of output, all of the second's
    assert step.memory_bytes.tolist() == [12 + 4, 12 + 8]


@pytest.mark.parametrize("name", ["lenet_c", "vgg_a", "resnet18"])
def test_a_network_on_one_accelerator_takes_what_the_simulator_says(name: str) -> None:
    network = load(name)
    costs = NetworkCosts.of(network, conf.hardware(), conf.accounting(), linear=True)
    whole = costs.forward_s(64)[0, -1] + costs.backward_s(64)[0, -1]
    model = CostModel(network, HTree(levels=0), conf.hardware(), conf.accounting(), 64)
    alone = step_report(model, np.zeros((0, len(network.layers)), np.uint8))
    assert whole == pytest.approx(alone.step_time_s, rel=1e-12)
    assert costs.weight_bytes()[0, -1] == alone.memory.weights_bytes
    assert (costs.forward_s(64, devices=4)[0, -1]) < whole


@pytest.mark.parametrize("planner", [Dapple(), Dapple("exact"), PipeDream(), Balanced()])
def test_no_planner_is_slower_than_one_accelerator(planner: Dapple | PipeDream | Balanced) -> None:
    found = ClusterPipeline(planner, Cluster(2, 2), micro_batches=8).run(setting(network="vgg_a"))
    assert found.metrics["speedup_over_one_accelerator"] >= 1
    assert found.metrics["accelerators"] <= 4
    assert found.timeline is not None
    assert found.timeline.step_time_s == found.metrics["step_time_s"]


def test_what_cannot_be(tmp_path: Path) -> None:
    without = ClusterPipeline(GPipe(), Cluster(1, 4), profile(tmp_path / "none", f=0, b=0), 1)
    with pytest.raises(UserError, match=r"none has no times; a profile needs forward_compute_time"):
        without.run(setting(1, 1))
    odd = ClusterPipeline(GPipe(), Cluster(1, 3), profile(tmp_path / "three", 3), 1)
    with pytest.raises(UserError, match=r"the schedule has 2 stages on each device, so a plan has a multiple of 2"):
        odd.run(replace(setting(1, 1), schedule=Interleaved()))
    costs = ProfileCosts.of(load_profile(profile(tmp_path / "four"), batch_size=1))
    for stages, message in (
        ((Stage((0,), 3), Stage((1, 2, 3), 2)), r"the plan needs 5 accelerators, and 1 machines of 4 have 4"),
        ((Stage((0, 2)), Stage((1, 3))), r"a stage of the plan reads what a later stage writes"),
        ((Stage((0, 1)),), r"a layer is in none of the plan's stages"),
    ):
        step = ClusterStep(PipelineProblem(costs, Cluster(1, 4), 8), StagePlan(stages), GPipeSchedule())
        with pytest.raises(UserError, match=message):
            _ = step.timeline.step_time_s


def test_interleaved_stages_share_their_devices(tmp_path: Path) -> None:
    """Four stages on two devices: the bubble of 1F1B on two devices, halved."""
    costs = ProfileCosts.of(load_profile(profile(tmp_path / "four"), batch_size=1))
    plan = StagePlan(tuple(Stage((at,)) for at in range(4)), 8)
    step = ClusterStep(PipelineProblem(costs, Cluster(1, 4), 8), plan, Interleaved())
    assert step.devices == 2
    assert step.timeline.step_time_s == pytest.approx(8 * 6 + 3)
