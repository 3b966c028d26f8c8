"""Plans of stages in files: what a run records comes back, people's short forms, and a sentence for each mistake."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import PROFILES, Profile, load_profile
from hypar_exp.planning.pipelines import Balanced, Cluster, Dapple, FromFile, PipelineProblem, ProfileCosts
from hypar_exp.planning.pipelines.stage_file import COLUMNS, plan_rows
from hypar_exp.planning.stages import StagePlan
from hypar_exp.text_files import csv_text
from tests.planning.pipelines.profiles import random_profile

DATA = Path(__file__).parents[2] / "data"
VGG19 = load_profile(str(PROFILES / "vgg19.graph.txt"), batch_size=32)
PROBLEM = PipelineProblem(ProfileCosts.of(VGG19), Cluster(2, 8), 256, 8)


def told(plan: StagePlan) -> list[object]:
    stages = [(s.layers, s.devices, s.replicas, s.recompute, s.machines) for s in plan.stages]
    return [stages, plan.micro_batches, plan.replicas]


def test_what_a_run_records_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "stage_plan.csv"
    for planner in (Dapple("pivot"), Dapple("exact")):
        plan = planner.plan(PROBLEM)
        file.write_text(csv_text([COLUMNS, *plan_rows(plan, PROBLEM.costs)]))
        assert told(FromFile(str(file)).plan(PROBLEM)) == told(plan)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.composite(lambda draw: random_profile(draw, chain=False))())
def test_cuts_of_a_graph_come_back(tmp_path: Path, profile: Profile) -> None:
    problem = PipelineProblem(ProfileCosts.of(profile), Cluster(1, 3), 8, 2)
    plan = Balanced(links=False).plan(problem)
    file = tmp_path / "plan.csv"
    file.write_text(csv_text([COLUMNS, *plan_rows(plan, problem.costs)]))
    assert told(FromFile(str(file)).plan(problem)) == told(plan)


CSV = "last,accelerators,machines\nnode16,14,8+6\nnode26,2,0+2\n"
YAML = """
micro_batches: 4
stages:
  - {last: node16, accelerators: 14, machines: 8+6}
  - {last: node26, accelerators: 2, machines: [0, 2]}
"""


@pytest.mark.parametrize(("name", "text", "parts"), [("plan.csv", CSV, 8), ("plan.yaml", YAML, 4)])
def test_what_people_write(tmp_path: Path, name: str, text: str, parts: int) -> None:
    (tmp_path / name).write_text(text)
    plan = FromFile(str(tmp_path / name)).plan(PROBLEM)
    assert [stage.layers for stage in plan.stages] == [tuple(range(16)), tuple(range(16, 26))]
    assert [(stage.devices, stage.replicas, stage.machines) for stage in plan.stages] == [
        (14, 14, (8, 6)),
        (2, 2, (0, 2)),
    ]
    assert plan.micro_batches == parts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("last,accelerators\nnode99,1", "line 2: there is no layer 'node99'"),
        ("last,accelerators\nnode16,1", "line 2: the layer 'node17' is in no stage"),
        ("last,accelerators\nnode26,1\nnode9,1", "line 3: the layer 'node9' is in a stage before"),
        ("first,last,accelerators\nnode2,node26,1", "line 2: the stage begins with 'node1' (got first=node2)"),
        ("last,accelerators\nnode26,none", "line 2: accelerators must be a whole number of at least 1 (got 'none')"),
        ("last,accelerators,replicas\nnode26,4,3", "line 2: 3 replicas cannot share 4 accelerators evenly"),
        ("last,accelerators,recompute\nnode26,4,some", "recompute must be none, selective or full (got 'some')"),
        ("last,accelerators,machines\nnode26,4,3", "the stage's accelerators in each of 2 machines, as 4+0 (got '3')"),
        ("last,accelerators,machines\nnode26,4,3+2", "the stage's accelerators in each of 2 machines, as 4+0"),
        ("last,acelerators\nnode26,4", "'acelerators' says nothing of a stage; did you mean accelerators?"),
        ("last\nnode26", "line 1: a stage needs its accelerators"),
        ("last,accelerators\nnode26", "line 2 has 1 cells, but the header has 2"),
        ("last,accelerators,copies\nnode16,1,1\nnode26,1,2", "line 3: copies must be the same in all lines"),
        ("last,accelerators", "has no stages"),
        ("", "is empty; it should be a plan of stages"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        FromFile(str(file)).plan(PROBLEM)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("stages: 3", "stages must be a list of lines as {last: fc8, accelerators: 2}"),
        ("stages: []", "has no stages"),
        ("steps: []", "has no key 'steps'"),
        ("stages: [{last: node26}]", "stage 1: a stage needs its accelerators"),
    ],
)
def test_mistakes_in_yaml(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        FromFile(str(file)).plan(PROBLEM)
    assert sentence in str(error.value)
