"""Simulation: one step on an array of accelerators, as time, energy, communication and memory."""

from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.cost_model import CostModel, KindCosts
from hypar_exp.simulation.energy import StepEnergy
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.hetero import AcceleratorKind, Hetero, MixedArray, kinds_of
from hypar_exp.simulation.interconnect.links import Interconnect, Links
from hypar_exp.simulation.interconnect.routed import MeshLinks, RingLinks, SwitchLinks, TorusLinks
from hypar_exp.simulation.interconnect.shared import SharedLink, SubarrayLinks
from hypar_exp.simulation.interconnect.tree import TreeLinks
from hypar_exp.simulation.load import load_accounting, load_hardware, load_memory_model
from hypar_exp.simulation.memory import LeafMemory, memory_limit
from hypar_exp.simulation.memory_model import MemoryModel
from hypar_exp.simulation.objectives import Communication, Energy, Objective, Time
from hypar_exp.simulation.plan_costs import PlanCosts
from hypar_exp.simulation.report import Comparison, PipelineReport, StepReport
from hypar_exp.simulation.simulator import simulate, step_report
from hypar_exp.simulation.topology import MOST_LEVELS, AcceleratorArray, HTree, Torus, accelerators

__all__ = [
    "MOST_LEVELS",
    "AcceleratorArray",
    "AcceleratorKind",
    "Accounting",
    "Communication",
    "Comparison",
    "CostModel",
    "Energy",
    "HTree",
    "Hardware",
    "Hetero",
    "Interconnect",
    "KindCosts",
    "LeafMemory",
    "Links",
    "MemoryModel",
    "MeshLinks",
    "MixedArray",
    "Objective",
    "PipelineReport",
    "PlanCosts",
    "RingLinks",
    "SharedLink",
    "StepEnergy",
    "StepReport",
    "SubarrayLinks",
    "SwitchLinks",
    "Time",
    "Torus",
    "TorusLinks",
    "TreeLinks",
    "accelerators",
    "kinds_of",
    "load_accounting",
    "load_hardware",
    "load_memory_model",
    "memory_limit",
    "simulate",
    "step_report",
]
