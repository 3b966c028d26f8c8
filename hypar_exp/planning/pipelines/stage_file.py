"""A plan of stages as a file that people can edit and give back: CSV or YAML, one line a stage.

    last,accelerators,machines        micro_batches: 8
    conv4_4,14,8+6                    stages:
    fc8,2,0+2                           - {last: conv4_4, accelerators: 14, machines: 8+6}
                                        - {last: fc8, accelerators: 2}

A stage ends with its `last` layer: it has all that this layer reads and that no stage before it has. Where a graph is
cut behind several layers, `last` names them with ` + ` between. What else a line says may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.planning.pipelines.problem import PipelineProblem
from hypar_exp.planning.pipelines.stage_costs import StageCosts
from hypar_exp.planning.stages import Recompute, Stage, StagePlan
from hypar_exp.text_files import read_text, rows_of_csv
from hypar_exp.yaml_files import read_mapping

COLUMNS = ("stage", "first", "last", "accelerators", "replicas", "machines", "recompute", "micro_batches", "copies")
"""Of a plan as runs record it; a file needs `last` and `accelerators`. The last two are the plan's own, in any line."""
BETWEEN = " + "


@dataclass(frozen=True)
class FromFile:
    """The plan in the file `path`, whatever it costs: CSV, or YAML where it ends in .yaml or .yml."""

    path: str

    def plan(self, problem: PipelineProblem) -> StagePlan:
        """The stages.

        Raises:
            UserError: the file cannot be read, or is no plan for these layers and this cluster; says file and line.
        """
        return _Reader(Path(self.path), problem).plan()


def plan_rows(plan: StagePlan, costs: StageCosts) -> list[list[str | float | None]]:
    """The rows of `COLUMNS`, one a stage, from which `FromFile` makes the same plan."""
    return [
        [
            number,
            costs.unit_names[stage.layers[0]],
            BETWEEN.join(costs.unit_names[unit] for unit in _last(stage.layers, costs)),
            stage.devices,
            stage.replicas,
            "+".join(map(str, stage.machines)),
            stage.recompute,
            plan.micro_batches,
            plan.replicas,
        ]
        for number, stage in enumerate(plan.stages, 1)
    ]


def _needs(unit: int, costs: StageCosts) -> NDArray[np.bool_]:
    """bool[units]: what has to be before a cut behind this unit, with the unit."""
    inside = costs.cuts.inside
    needed: NDArray[np.bool_] = np.logical_and.reduce(inside[inside[:, unit]])
    return needed


def _last(units: Sequence[int], costs: StageCosts) -> list[int]:
    """Those of a stage's units that no other of them reads."""
    read = {before for unit in units for before in np.flatnonzero(_needs(unit, costs)).tolist() if before != unit}
    return [unit for unit in units if unit not in read]


@dataclass(frozen=True)
class _Line:
    """What the file says of one stage, and where."""

    place: str
    values: Mapping[str, Any]

    def whole(self, key: str, default: int) -> int:
        value = self.values.get(key)
        if value in (None, ""):
            return default
        try:
            number = int(str(value))
        except ValueError:
            number = 0
        if number < 1:
            raise UserError(f"{self.place}: {key} must be a whole number of at least 1 (got {shortened(value)})")
        return number


class _Reader:
    """A file, for one problem."""

    def __init__(self, file: Path, problem: PipelineProblem) -> None:
        self._file, self._problem, self._costs = file, problem, problem.costs
        self._names = problem.costs.unit_names

    def plan(self) -> StagePlan:
        yaml = self._file.suffix in (".yaml", ".yml")
        lines, whole = self._yaml_lines() if yaml else self._csv_lines()
        if not lines:
            raise UserError(f"{self._file} has no stages")
        before = np.zeros(len(self._names), np.bool_)
        stages = []
        for line in lines:
            stages.append(self._stage(line, before))
            before = before.copy()
            before[list(stages[-1].layers)] = True
        if not before.all():
            missing = self._names[int(np.flatnonzero(~before)[0])]
            raise UserError(f"{lines[-1].place}: the layer '{missing}' is in no stage")
        copies = whole.whole("copies", 1)
        return StagePlan(tuple(stages), whole.whole("micro_batches", self._problem.micro_batches), copies)

    def _csv_lines(self) -> tuple[list[_Line], _Line]:
        rows = rows_of_csv(read_text(str(self._file), "plan of stages"))
        numbered = [(number, row) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
        if not numbered:
            raise UserError(f"{self._file} is empty; it should be a plan of stages")
        (first, header), *body = numbered
        columns = [cell.strip() for cell in header]
        self._require_keys(f"{self._file}, line {first}", columns)
        lines = []
        for number, row in body:
            place = f"{self._file}, line {number}"
            if len(row) != len(columns):
                raise UserError(f"{place} has {len(row)} cells, but the header has {len(columns)}")
            lines.append(_Line(place, dict(zip(columns, (cell.strip() for cell in row), strict=True))))
        for line in lines[1:]:
            for key in ("micro_batches", "copies"):
                if line.values.get(key) != lines[0].values.get(key):
                    raise UserError(f"{line.place}: {key} must be the same in all lines")
        return lines, lines[0] if lines else _Line(str(self._file), {})

    def _yaml_lines(self) -> tuple[list[_Line], _Line]:
        keys = ("stages", "micro_batches", "copies")
        values = read_mapping(self._file, "the plan of stages", keys)
        for key in values:
            if key not in keys:
                raise UserError(f"{self._file} has no key '{key}'{did_you_mean(str(key), keys)}")
        stages = values.get("stages")
        if not isinstance(stages, list) or not all(isinstance(stage, Mapping) for stage in stages):
            raise UserError(f"{self._file}: stages must be a list of lines as {{last: fc8, accelerators: 2}}")
        lines = [_Line(f"{self._file}, stage {number}", stage) for number, stage in enumerate(stages, 1)]
        for line in lines:
            self._require_keys(line.place, list(line.values))
        return lines, _Line(str(self._file), values)

    def _require_keys(self, place: str, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in COLUMNS:
                raise UserError(f"{place}: '{key}' says nothing of a stage{did_you_mean(str(key), COLUMNS)}")
            if keys.count(key) > 1:
                raise UserError(f"{place}: '{key}' appears twice")
        for key in ("last", "accelerators"):
            if key not in keys:
                raise UserError(f"{place}: a stage needs its {key}")

    def _stage(self, line: _Line, before: NDArray[np.bool_]) -> Stage:
        end = before.copy()
        for unit in self._units(line, "last"):
            end |= _needs(unit, self._costs)
        layers = tuple(np.flatnonzero(end & ~before).tolist())
        if not layers:
            raise UserError(f"{line.place}: the layer '{line.values['last']}' is in a stage before")
        first = line.values.get("first")
        if first not in (None, "", self._names[layers[0]]):
            raise UserError(f"{line.place}: the stage begins with '{self._names[layers[0]]}' (got first={first})")
        devices = line.whole("accelerators", 1)
        replicas = line.whole("replicas", devices)
        if devices % replicas:
            raise UserError(f"{line.place}: {replicas} replicas cannot share {devices} accelerators evenly")
        recompute: Recompute = line.values.get("recompute") or "none"
        if recompute not in get_args(Recompute):
            raise UserError(f"{line.place}: recompute must be none, selective or full (got {shortened(recompute)})")
        return Stage(layers, devices, replicas, recompute=recompute, machines=self._machines(line, devices))

    def _units(self, line: _Line, key: str) -> list[int]:
        text = str(line.values[key])
        names = [text] if text in self._names else [part.strip() for part in text.split(BETWEEN.strip())]
        for name in names:
            if name not in self._names:
                raise UserError(f"{line.place}: there is no layer '{name}'{did_you_mean(name, self._names)}")
        return [self._names.index(name) for name in names]

    def _machines(self, line: _Line, devices: int) -> tuple[int, ...]:
        value = line.values.get("machines")
        if value in (None, "", []):
            return ()
        parts = value if isinstance(value, list) else str(value).split("+")
        counts = [int(str(part)) if str(part).strip().isdecimal() else -1 for part in parts]
        machines = self._problem.cluster.machines
        if len(counts) != machines or min(counts) < 0 or sum(counts) % devices or not sum(counts):
            raise UserError(
                f"{line.place}: machines must be the stage's accelerators in each of {machines} machines, as "
                f"{'+'.join(map(str, [devices, *[0] * (machines - 1)]))} (got {shortened(value)})"
            )
        return tuple(counts)
