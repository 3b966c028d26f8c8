"""Plans in other programs' forms: PipeDream's runtime configuration, and dnn-partitioning's placements."""

import json
from pathlib import Path
from typing import Any

import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks.operator_graph import load_operator_graph
from hypar_exp.networks.profile import load_profile
from hypar_exp.planning.pipelines.pipedream_files import graph_with_stages, hybrid_configuration
from hypar_exp.planning.pipelines.placement import Place
from hypar_exp.planning.pipelines.placement_file import placement_json, read_placement
from hypar_exp.planning.stages import Stage, StagePlan

DATA = Path(__file__).parents[2] / "data"
BERT = load_operator_graph("bert24_training")


def test_the_configuration_of_vgg16_on_four_is_the_authors() -> None:
    """runtime/image_classification/models/vgg16/gpus=4/hybrid_conf.json of msr-fiddle/pipedream."""
    plan = StagePlan((Stage(tuple(range(16)), 3, 3), Stage(tuple(range(16, 41)))))
    assert json.loads(hybrid_configuration(plan)) == {
        "module_to_stage_map": [0, 1, 1],
        "stage_to_rank_map": {"0": [0, 1, 2], "1": [3]},
        "stage_to_depth_map": {"0": 1, "1": 0},
    }


def test_a_graph_with_stages_is_a_profile(tmp_path: Path) -> None:
    profile = load_profile(str(DATA / "pipedream/vgg16.graph.txt"))
    plan = StagePlan((Stage(tuple(range(16)), 3, 3), Stage(tuple(range(16, 41)))))
    file = tmp_path / "gpus=4.txt"
    file.write_text(graph_with_stages(profile, plan))
    again = load_profile(str(file))
    assert (again.node_names, again.edges) == (profile.node_names, profile.edges)
    assert again.forward_s == pytest.approx(profile.forward_s)
    assert again.weight_bytes == pytest.approx(profile.weight_bytes)
    assert sum(line.endswith("stage_id=1") for line in file.read_text().splitlines()) == 25


def test_a_placement_comes_back(tmp_path: Path) -> None:
    placement = Place().place(BERT)
    file = tmp_path / "placement.json"
    file.write_text(placement_json(BERT, placement))
    again = read_placement(str(file), BERT)
    assert again.max_load_s == pytest.approx(placement.max_load_s)
    assert {device.nodes for device in again.devices} == {device.nodes for device in placement.devices}


EXPERT: dict[str, Any] = {
    "fpgas": [
        {"nodes": list(range(first, last + 1))}
        for first, last in ((1, 8), (9, 12), (13, 16), (17, 20), (21, 24), (25, 32))
    ],
    "cpus": [],
}


def test_an_expert_s_split_of_the_forward_pass(tmp_path: Path) -> None:
    """human-experts/bert24_training_expert.json of msr-fiddle/dnn-partitioning: the same of each backward pass."""
    file = tmp_path / "expert.json"
    file.write_text(json.dumps(EXPERT))
    assert read_placement(str(file), BERT).max_load_s * 1e3 == pytest.approx(49.4049, abs=6e-5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"cpus": [{"nodes": [99]}]}, "cpu 1: there is no operator 99 in bert24_training"),
        ({"cpus": [{"nodes": [1]}]}, "cpu 1: the operator 1 appears twice"),
        ({"fpgas": EXPERT["fpgas"][1:]}, "the operator 1 is on no device"),
        ({"cpus": [{"nodes": [33]}]}, "the operator 1 is apart from those it has to be with"),
        ({"fpgas": 3}, "fpgas must be a list of objects"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    file = tmp_path / "expert.json"
    file.write_text(json.dumps(EXPERT | change))
    with pytest.raises(UserError) as error:
        read_placement(str(file), BERT)
    assert sentence in str(error.value)
