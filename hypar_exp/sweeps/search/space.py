"""The space of a search: keys and where their values may lie, in Hydra's grammar of sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypar_exp.errors import UserError
from hypar_exp.sweeps.axes import Axis, Grid, values_of_range

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from optuna.distributions import BaseDistribution

EXAMPLE = "'array.levels=range(1,7)' 'hardware.link_bandwidth_bits_per_s=tag(log,interval(1e9,1e12))'"


@dataclass(frozen=True)
class Space(Grid):
    """A grid of which not every point is run: its axes are searched in `trials` trials."""

    distributions: Mapping[str, BaseDistribution]
    """By the key of the axis; the keys of one value are not searched."""
    trials: int

    @property
    def swept(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.key in self.distributions)

    def __len__(self) -> int:
        return self.trials

    def jobs(self) -> list[list[str]]:
        """A place for every trial; its overrides are known when it is chosen."""
        return [[] for _ in range(self.trials)]

    def job(self, values: Mapping[str, Any]) -> list[str]:
        """The overrides of the trial of some values by key."""
        return [f"{axis.key}={_text(values.get(axis.key, axis.values[0]))}" for axis in self.axes]

    def samples(self) -> list[dict[str, Any]]:
        """The values at the lower ends of all axes, at the upper ends, and in between."""
        return [{key: _at(axis, share) for key, axis in self.distributions.items()} for share in (0.0, 1.0, 0.37)]


def _at(distribution: Any, share: float) -> Any:
    """The value that lies a share of the way from the lower to the upper end of an axis."""
    choices: Any = getattr(distribution, "choices", None)
    if choices:
        return choices[round(share * (len(choices) - 1))]
    low, high, step = distribution.low, distribution.high, distribution.step
    if step is None:
        return low + share * (high - low)
    return low + step * round(share * (high - low) / step)


def space_of(overrides: Sequence[Override], trials: int) -> Space:
    """The space that overrides describe; of two overrides of one key the later holds.

    Raises:
        UserError: nothing to search, or an axis that holds nothing or cannot be on a logarithmic scale.
    """
    axes: dict[str, Axis] = {}
    distributions: dict[str, BaseDistribution] = {}
    for override in overrides:
        key = override.get_key_element()
        distributions.pop(key, None)
        if override.is_sweep_override():
            distributions[key] = _distribution(override, key)
            axes[key] = Axis(key, (str(override.input_line).partition("=")[2],))
        else:
            axes[key] = Axis(key, (override.get_value_element_as_str(),))
    if not distributions:
        raise UserError(f"there is nothing to search; give a key a space, as {EXAMPLE}")
    return Space(tuple(axes.values()), distributions, trials)


def _text(value: Any) -> str:
    """A value as an override; six digits are as many as anybody can use."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _distribution(override: Override, key: str) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if override.is_choice_sweep():
        choices = tuple(override.sweep_string_iterator())
        if len(set(choices)) < 2:
            raise UserError(f"the axis {override.input_line} of the search needs at least two values")
        return CategoricalDistribution(choices)
    sweep: Any = override.value()
    logarithmic = "log" in sweep.tags
    if override.is_range_sweep():
        steps = values_of_range(override) - 1
        low, high, step = (sweep.start, sweep.start + steps * sweep.step, sweep.step) if steps > 0 else (0, 0, 1)
    else:
        low, high, step = sweep.start, sweep.end, None
    if not low < high:
        raise UserError(f"the axis {override.input_line} of the search must begin below its end")
    if logarithmic and (low <= 0 or step not in (None, 1)):
        raise UserError(
            f"the axis {override.input_line} of the search is logarithmic: it must begin above 0, in steps of 1"
        )
    if isinstance(low, int) and isinstance(high, int):
        return IntDistribution(low, high, log=logarithmic, step=step or 1)
    return FloatDistribution(float(low), float(high), log=logarithmic, step=None if step is None else float(step))
