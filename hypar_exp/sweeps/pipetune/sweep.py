"""A grid of hyper- and system parameters whose end shows what tuning it costs in three ways, for several defaults.

Every configuration that any of the ways needs is a run of the sweep, made once, so that a sweep that was killed goes on
as any other does; what the ways cost is made of these runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from omegaconf import DictConfig

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.extras import install_command
from hypar_exp.reporting.sweep_table import Row
from hypar_exp.sweeps.axes import Grid
from hypar_exp.sweeps.grid.batch import run_grid
from hypar_exp.sweeps.outcome import Outcome
from hypar_exp.sweeps.parent import Maker, SweepResults, View
from hypar_exp.sweeps.pipetune.tuning import Choice, Epoch, Tuned, Tuning
from hypar_exp.text_files import csv_text
from hypar_exp.tracking.store import Metric

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader

PROFILED = ("step_time_s", "compute_time_s", "communication_time_s", "communication_bytes", "step_energy_j")
"""What of a run is its profile."""
LEAST = 1e-12
"""A profile has no logarithm of less."""
NUMBERS = ("tuning_time_s", "training_time_s", "tuning_energy_j", "training_energy_j")


@dataclass(frozen=True)
class PipeTune:
    """What a PipeTune sweep is told besides its axes.

    Attributes:
        system: keys of the axes that are system parameters; the others are hyper-parameters.
        defaults: of the system parameters, each with a value for every key.
        epochs: of a trial.
        samples_per_epoch: of the training set.
        near, clusters, seed: see `Tuning`.
    """

    system: Sequence[str]
    defaults: Sequence[Mapping[str, Any]]
    epochs: int
    samples_per_epoch: int
    near: float
    clusters: int
    seed: int

    def run(self, grid: Grid, config: DictConfig, loader: ConfigLoader) -> None:
        """Run the grid in this process, and show at its end what tuning costs; see `run_grid`.

        Raises:
            UserError: a system parameter that is no axis, a default that is none of its values, or too few epochs.
        """
        view = TuningView(self, grid)
        run_grid(grid, config, loader, view)


class TuningView(View):
    """Shows V1, V2 and PipeTune side by side for every default."""

    def __init__(self, asked: PipeTune, grid: Grid) -> None:
        super().__init__()
        _require_scikit_learn()
        self._asked = asked
        axes = {axis.key: axis.shown for axis in grid.swept}
        for key in asked.system:
            if key not in axes:
                raise UserError(f"hydra.sweeper.system names '{key}', which is not swept{did_you_mean(key, axes)}")
        self._system = {key: axes[key] for key in asked.system}
        self._hyper = {key: values for key, values in axes.items() if key not in asked.system}
        if not self._hyper or not self._system:
            raise UserError("hydra/sweeper=pipetune needs axes in hydra.sweeper.system and others besides them")
        if not asked.defaults:
            raise UserError(
                "hydra.sweeper.default_systems must have at least one, as [{array.levels: 4}] (got an empty list)"
            )
        self._defaults = [self._default(default) for default in asked.defaults]
        probes = sum(len(values) - 1 for values in self._system.values())
        if asked.epochs <= probes:
            raise UserError(
                f"hydra.sweeper.epochs must be above {probes}, the system parameters' values that a trial probes "
                f"(got {asked.epochs})"
            )

    def axes(self, results: SweepResults) -> list[str]:
        return ["default", "way"]

    def rows(self, results: SweepResults) -> list[Row]:
        return [
            Row({"default": " ".join(default), "way": way}, _numbers(tuned), "")
            for default, way, tuned in self._tuned(results)
        ]

    def pictures(self, results: SweepResults, title: str) -> dict[str, Maker]:
        return {"pipetune.csv": lambda: self._csv(results)}

    def metrics(self, results: SweepResults) -> list[Metric]:
        return [
            Metric(f"{way.lower()}/{key}", value, place)
            for place, default in enumerate(self._defaults, 1)
            for of_default, way, tuned in self._tuned(results)
            if of_default == default
            for key, value in _numbers(tuned).items()
        ]

    def _default(self, given: Mapping[str, Any]) -> Choice:
        for key in given:
            if key not in self._system:
                raise UserError(
                    f"hydra.sweeper.default_systems has '{key}', which is no system parameter"
                    f"{did_you_mean(key, self._system)}"
                )
        for key, values in self._system.items():
            if str(given.get(key)) not in values:
                raise UserError(
                    f"hydra.sweeper.default_systems: {key} must be one of {', '.join(values)} (got {given.get(key)!s})"
                )
        return tuple(str(given[key]) for key in self._system)

    def _tuned(self, results: SweepResults) -> list[tuple[Choice, str, Tuned]]:
        """Default, way and what it came to."""
        keys = [*self._hyper, *self._system]
        outcomes = {tuple(place[key] for key in keys): outcome for place, outcome in results.jobs}

        def epoch(hyper: Choice, system: Choice) -> Epoch | None:
            outcome = outcomes.get((*hyper, *system))
            return None if outcome is None or "step_time_s" not in outcome.metrics else self._epoch(outcome)

        hypers = list(itertools.product(*self._hyper.values()))
        systems = list(itertools.product(*self._system.values()))
        asked = self._asked
        tuning = Tuning(
            hypers, list(self._system.values()), asked.epochs, epoch, asked.near, asked.clusters, asked.seed
        )
        whole = tuning.v2(systems)
        return [
            entry
            for default in self._defaults
            for entry in (
                (default, "V1", tuning.v1(default)),
                (default, "V2", whole),
                (default, "PipeTune", tuning.pipetune(default)),
            )
        ]

    def _epoch(self, outcome: Outcome) -> Epoch:
        batch = outcome.params["batch_size"]
        steps = self._asked.samples_per_epoch / float(batch)
        metrics = outcome.metrics
        profile = np.log10([max(metrics.get(key, 0.0), LEAST) for key in PROFILED])
        return Epoch(steps * metrics["step_time_s"], steps * metrics["step_energy_j"], profile, batch)

    def _csv(self, results: SweepResults) -> str:
        head = [*self._hyper, *(f"default {key}" for key in self._system), "way", *self._system]
        rows = [
            [*hyper, *default, way, *tuned.chosen.get(hyper, [""] * len(self._system))]
            for default, way, tuned in self._tuned(results)
            for hyper in itertools.product(*self._hyper.values())
        ]
        return csv_text([head, *rows])


def _require_scikit_learn() -> None:
    try:
        import sklearn.cluster  # noqa: F401
    except ImportError:
        raise UserError(f"hydra/sweeper=pipetune needs scikit-learn: {install_command('search')}") from None


def _numbers(tuned: Tuned) -> dict[str, float]:
    return {key: getattr(tuned, key) for key in NUMBERS} | {"hits": float(tuned.hits)}
