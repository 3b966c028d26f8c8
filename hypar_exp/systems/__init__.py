"""Other systems of the field, each a workload: an experiment of its own that is run and recorded as a step is."""

from hypar_exp.systems.workload import Chart, Findings, Setting, Step, Table, Workload

__all__ = ["Chart", "Findings", "Setting", "Step", "Table", "Workload"]
