"""AccPar's published program: what it plans for its own networks, every entry, for four strategies."""

from __future__ import annotations

import csv

import pytest
import yaml

from hypar_exp.networks.importers import accpar
from hypar_exp.paths import CONF_DIR
from hypar_exp.planning import CommunicationModel, Fixed, HyPar, Plan, PlanningProblem, Strategy
from tests.conftest import DATA

STRATEGIES: dict[str, Strategy] = {
    "data_par": Fixed("dp", "dp"),
    "the_trick": Fixed("trick", "dp", {"fc": "mp"}),
    "hypar": HyPar(),
    "accpar": HyPar("accpar", ("dp", "mp", "op")),
}
LEVELS, BATCH = 7, 512


def accpar_model() -> CommunicationModel:
    accounting = yaml.safe_load((CONF_DIR / "accounting" / "accpar.yaml").read_text())
    return CommunicationModel(accounting["within_layer"], accounting["between_layers"])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["Alexnet", "Vgg11"])
def test_plans_as_the_published_program(name: str, strategy: str) -> None:
    with (DATA / "accpar" / "expected_plans.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["network"] == name and row["strategy"] == strategy]
    network = accpar.load(str(DATA / "accpar" / f"{name}.txt"))
    problem = PlanningProblem(network, BATCH, LEVELS, accpar_model())
    assert Plan.of(STRATEGIES[strategy].plan(problem)).rows() == [row["types"] for row in rows]
