"""Planners of pipelines: which units each stage has, on how many accelerators, in how many replicas.

Each is imported when it is first asked for: most programs need one of them, or none.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypar_exp.planning.pipelines.balanced import Balanced, GPipe
    from hypar_exp.planning.pipelines.dapple import Dapple
    from hypar_exp.planning.pipelines.optimal import Optimal, ProvenPlan
    from hypar_exp.planning.pipelines.pipedream import PipeDream
    from hypar_exp.planning.pipelines.piper import Piper
    from hypar_exp.planning.pipelines.placement import Place, Placement
    from hypar_exp.planning.pipelines.problem import Cluster, PipelinePlanner, PipelineProblem
    from hypar_exp.planning.pipelines.stage_costs import ProfileCosts, StageCosts
    from hypar_exp.planning.pipelines.stage_file import FromFile

_MODULES = {
    "Balanced": "balanced",
    "Cluster": "problem",
    "Dapple": "dapple",
    "FromFile": "stage_file",
    "GPipe": "balanced",
    "Optimal": "optimal",
    "PipeDream": "pipedream",
    "PipelinePlanner": "problem",
    "PipelineProblem": "problem",
    "Piper": "piper",
    "Place": "placement",
    "Placement": "placement",
    "ProfileCosts": "stage_costs",
    "ProvenPlan": "optimal",
    "StageCosts": "stage_costs",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"hypar_exp.planning.pipelines.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'hypar_exp.planning.pipelines' has no attribute {name!r}")


__all__ = [
    "Balanced",
    "Cluster",
    "Dapple",
    "FromFile",
    "GPipe",
    "Optimal",
    "PipeDream",
    "PipelinePlanner",
    "PipelineProblem",
    "Piper",
    "Place",
    "Placement",
    "ProfileCosts",
    "ProvenPlan",
    "StageCosts",
]
