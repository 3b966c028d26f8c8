"""What a run can do besides planning and simulating one step, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from hypar_exp.networks import Network
from hypar_exp.planning import Progress, no_progress
from hypar_exp.simulation import AcceleratorArray, Accounting, Hardware, Interconnect
from hypar_exp.simulation.operations import Schedule

if TYPE_CHECKING:
    from hypar_exp.simulation.timeline import Timeline

Cell = str | float | None
"""None is an empty cell."""


@dataclass(frozen=True)
class Table:
    """Rows to read and to keep as a CSV file; the units are in the columns' names."""

    name: str
    """Of the file, without its ending."""
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Chart:
    """Lines of one picture: label -> x and y of its points."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Findings:
    """What a workload came to."""

    title: str
    """What was computed, in a line."""
    words: Sequence[str]
    """The claim beside what comes out, and what does not; whole sentences without their full stops."""
    tables: Sequence[Table]
    """The first is shown on the terminal; all are artifacts."""
    metrics: Mapping[str, float]
    """Key -> value, SI units at the keys' ends; the first are the ones that people look for."""
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """`stage/KEY`, `layer/KEY`, `block/KEY` or `epoch/KEY` -> a value for each, counted from 1."""
    chart: Chart | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    """Other artifacts: name -> text, for other programs to read."""
    timeline: Timeline | None = None
    """Shown and kept as a picture and as trace events."""


@dataclass(frozen=True)
class Setting:
    """What the groups of the configuration describe, for the workloads that use it."""

    network: Network
    array: AcceleratorArray
    interconnect: Interconnect
    hardware: Hardware
    accounting: Accounting
    batch_size: int
    schedule: Schedule
    overlap_gradients: bool
    progress: Progress = no_progress
    """Told how much of a long computation is done."""


@runtime_checkable
class Workload(Protocol):
    """An experiment of its own.

    Attributes:
        name: of the workload.
        uses: the keys of the configuration, groups and knobs, that decide what comes out besides its own; the others
            are neither kept of the run nor part of what it is.
    """

    name: str
    uses: ClassVar[tuple[str, ...]]

    def run(self, setting: Setting) -> Findings: ...


@dataclass(frozen=True)
class Step:
    """What a run does unless it is told otherwise: it plans and simulates one step, which all other groups describe."""

    name: str = "step"
