"""Planners of pipelines: which units each stage has, on how many accelerators, in how many replicas."""

from hypar_exp.planning.pipelines.balanced import Balanced, GPipe
from hypar_exp.planning.pipelines.dapple import Dapple
from hypar_exp.planning.pipelines.optimal import Optimal, ProvenPlan
from hypar_exp.planning.pipelines.pipedream import PipeDream
from hypar_exp.planning.pipelines.piper import Piper
from hypar_exp.planning.pipelines.placement import Place, Placement
from hypar_exp.planning.pipelines.problem import Cluster, PipelinePlanner, PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import ProfileCosts, StageCosts
from hypar_exp.planning.pipelines.stage_file import FromFile

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
