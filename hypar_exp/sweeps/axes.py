"""The axes of a sweep: which keys take several values, and the jobs that their product makes."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypar_exp.errors import UserError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


@dataclass(frozen=True)
class Axis:
    """A key and the values that it takes, as they are written in an override."""

    key: str
    values: tuple[str, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The values as a person reads them."""
        return tuple(map(_shown, self.values))


@dataclass(frozen=True)
class Grid:
    """The product of some axes; an axis of one value is a key that all jobs share."""

    axes: tuple[Axis, ...]

    @property
    def swept(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if len(axis.values) > 1)

    def __len__(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)

    def jobs(self) -> list[list[str]]:
        """The overrides of each job, in the order of Hydra's basic sweeper: the last axis turns fastest."""
        by_axis = [[f"{axis.key}={value}" for value in axis.values] for axis in self.axes]
        return [list(job) for job in itertools.product(*by_axis)]


def grid_of(overrides: Sequence[Override], most_jobs: int) -> Grid:
    """The grid that overrides span; of two overrides of one key the later holds.

    Raises:
        UserError: nothing to sweep, an axis without values, one that has no end, or more jobs than `most_jobs`.
    """
    if not overrides:
        raise UserError("there is nothing to sweep; give a key several values, as -m network=sfc,vgg_a")
    axes: dict[str, Axis] = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            axes[key] = Axis(key, (override.get_value_element_as_str(),))
            continue
        if not override.is_discrete_sweep():
            raise UserError(f"{key} is swept over an interval, which has no end; name its values, or use range()")
        _require_at_most(most_jobs, values_of_range(override))  # before they are made: they could fill the memory
        values = tuple(override.sweep_string_iterator())
        if not values:
            raise UserError(f"the axis {override.input_line} has no values")
        axes[key] = Axis(key, values)
    grid = Grid(tuple(axes.values()))
    _require_at_most(most_jobs, len(grid))
    return grid


def _require_at_most(most_jobs: int, jobs: int) -> None:
    if jobs > most_jobs:
        raise UserError(
            f"this sweep has {jobs:,} jobs, more than {most_jobs:,}; if you mean it, set hydra.sweeper.most_jobs={jobs}"
        )


def values_of_range(override: Override) -> int:
    """How many values a range has, without making them; 0 for any other override.

    Raises:
        UserError: its step is 0.
    """
    from hydra.core.override_parser.types import RangeSweep

    swept = override.value()
    if not isinstance(swept, RangeSweep):
        return 0
    assert swept.start is not None
    assert swept.stop is not None
    if swept.step == 0:
        raise UserError(f"the axis {override.input_line} has a step of 0")
    count: int = math.ceil((swept.stop - swept.start) / swept.step)
    return max(0, count)


def values_of(job: Iterable[str], keys: Sequence[str]) -> Mapping[str, str]:
    """What a job's overrides say of some keys, as a person reads it."""
    told = dict(override.lstrip("+").split("=", 1) for override in job)
    return {key.lstrip("+"): _shown(told[key.lstrip("+")]) for key in keys}


def _shown(value: str) -> str:
    """A value without the backslashes that Hydra's grammar needs in `http\\://host`; a quoted one as it is."""
    return value if value[:1] in ("'", '"') else re.sub(r"\\([\\()\[\]{}:=, \t])", r"\1", value)
