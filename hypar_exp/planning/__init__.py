"""Planning: the sharding rule, the communication model, the paper's algorithms, and the strategies."""

from hypar_exp.planning.cost.amount_tables import (
    AmountTables,
    PlanCommunication,
    level_communication,
    plan_communication,
)
from hypar_exp.planning.cost.communication import CommunicationModel, PairAmounts, pair_amounts
from hypar_exp.planning.cost.device_groups import EVEN, GroupKind, Kinds
from hypar_exp.planning.cost.sharding import ShardedTensors, choices_above, layers_in_fractions_of_channels, shard
from hypar_exp.planning.costs import CostedPlans, Costs
from hypar_exp.planning.plan import (
    DOTS,
    ENTRIES,
    PLAIN_DOTS,
    Choices,
    Half,
    Plan,
    Split,
    level_names,
    split_named,
    split_types,
)
from hypar_exp.planning.plan_file import FromFile, read_plan
from hypar_exp.planning.problem import COMMUNICATION, PlanningProblem, Progress, StepCosts, no_progress
from hypar_exp.planning.solvers.elimination import Elimination, Minimum, PlanningWarning
from hypar_exp.planning.solvers.level_by_level import partition_hierarchy, partition_level
from hypar_exp.planning.solvers.memory_bound import DoesNotFitError, MemoryLimit
from hypar_exp.planning.solvers.optimum import LeastPlan
from hypar_exp.planning.space.exploration import Exploration, Points
from hypar_exp.planning.space.explore import Explore
from hypar_exp.planning.space.gap import OptimalityGap, optimality_gap
from hypar_exp.planning.space.plan_space import PlanSpace
from hypar_exp.planning.stages import Recompute, Stage, StagePlan
from hypar_exp.planning.strategies import Fixed, HyPar, Optimal, Planned, Strategy, planned

__all__ = [
    "COMMUNICATION",
    "DOTS",
    "ENTRIES",
    "EVEN",
    "PLAIN_DOTS",
    "AmountTables",
    "Choices",
    "CommunicationModel",
    "CostedPlans",
    "Costs",
    "DoesNotFitError",
    "Elimination",
    "Exploration",
    "Explore",
    "Fixed",
    "FromFile",
    "GroupKind",
    "Half",
    "HyPar",
    "Kinds",
    "LeastPlan",
    "MemoryLimit",
    "Minimum",
    "Optimal",
    "OptimalityGap",
    "PairAmounts",
    "Plan",
    "PlanCommunication",
    "PlanSpace",
    "Planned",
    "PlanningProblem",
    "PlanningWarning",
    "Points",
    "Progress",
    "Recompute",
    "ShardedTensors",
    "Split",
    "Stage",
    "StagePlan",
    "StepCosts",
    "Strategy",
    "choices_above",
    "layers_in_fractions_of_channels",
    "level_communication",
    "level_names",
    "no_progress",
    "optimality_gap",
    "pair_amounts",
    "partition_hierarchy",
    "partition_level",
    "plan_communication",
    "planned",
    "read_plan",
    "shard",
    "split_named",
    "split_types",
]
