"""Schedules of pipelines, one a file."""

from hypar_exp.simulation.schedules.gpipe import GPipe
from hypar_exp.simulation.schedules.one_f_one_b import OneFOneB
from hypar_exp.simulation.schedules.schedule import Kind, Order, Schedule

__all__ = ["GPipe", "Kind", "OneFOneB", "Order", "Schedule"]
