"""Figure 5: the plans of the paper's ten networks, every dot."""

from __future__ import annotations

import pytest

from hypar_exp import networks
from hypar_exp.paper.published import published_values
from hypar_exp.planning import CommunicationModel, HyPar, PlanningProblem

AS_EVALUATED = CommunicationModel(
    within_layer={"dp": {"weight_gradient": 2}, "mp": {"output": 1, "output_error": 1}},
    between_layers={"dp": {"mp": {"feature": 0.5, "error": 0.5}}},
)
NETWORKS = ["sfc", "sconv", "lenet_c", "cifar_c", "alexnet", "vgg_a", "vgg_b", "vgg_c", "vgg_d", "vgg_e"]


@pytest.mark.parametrize("name", NETWORKS)
def test_hypar_plans_as_figure_5(name: str) -> None:
    printed = [value.text for (network, _), value in published_values("fig05").items() if network == name]
    plan = HyPar().plan(PlanningProblem(networks.load(name), batch_size=256, levels=4, communication=AS_EVALUATED))
    assert plan.rows() == printed
