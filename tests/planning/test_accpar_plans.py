"""AccPar's published program: what it plans for its own networks, every entry, for four strategies."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from hypar_exp.networks import Layer, Network, Shape
from hypar_exp.paths import CONF_DIR
from hypar_exp.planning import CommunicationModel, Fixed, HyPar, PlanningProblem, Strategy, plan_rows

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


def read_network(file: Path) -> Network:
    """The program's text format: `NAME CONV` or `NAME FC`, then one `key value` a line."""
    layers: list[tuple[str, str, dict[str, int]]] = []
    for line in file.read_text().split("\n")[1:]:
        match line.split():
            case [name, ("CONV" | "FC") as kind]:
                layers.append((name, kind.lower(), {}))
            case [key, value]:
                layers[-1][2][key] = int(value)
    return Network.chain(file.stem, tuple(_layer(*layer) for layer in layers))


def _layer(name: str, kind: str, sizes: dict[str, int]) -> Layer:
    shape_in = Shape(sizes["in_ch"], sizes.get("in_fmap_h", 1), sizes.get("in_fmap_w", 1))
    shape_out = Shape(sizes["out_ch"], sizes.get("out_fmap_h", 1), sizes.get("out_fmap_w", 1))
    weights = sizes.get("kernel", 1) ** 2 * shape_in.channels * shape_out.channels
    return Layer(name, kind, shape_in, shape_out, weights, shape_out.positions * sizes.get("pool", 1) ** 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["Alexnet", "Vgg11"])
def test_plans_as_the_published_program(name: str, strategy: str, shared: Path) -> None:
    with (shared / "accpar" / "expected_plans.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["network"] == name and row["strategy"] == strategy]
    network = read_network(shared / "inputs" / "accpar" / f"{name}.txt")
    problem = PlanningProblem(network, BATCH, LEVELS, accpar_model())
    assert plan_rows(STRATEGIES[strategy].plan(problem)) == [row["types"] for row in rows]
