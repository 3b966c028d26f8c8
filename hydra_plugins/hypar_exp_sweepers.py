"""Sweepers as Hydra's plugin interface finds them; what they do is in `hypar_exp.sweeps`, imported when one is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

if TYPE_CHECKING:
    from hypar_exp.sweeps.axes import Grid


class GridSweeper(Sweeper):
    """`hydra/sweeper=grid`: every combination of the axes' values, started by any launcher, recorded as one sweep.

    The grid's syntax and order are those of Hydra's basic sweeper.
    """

    def __init__(
        self, most_jobs: int, fail_fast: bool, chart: Sequence[str] = (), params: Mapping[str, Any] | None = None
    ) -> None:
        self.most_jobs, self.fail_fast, self.chart = most_jobs, fail_fast, chart
        self.params = params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        from hydra.core.plugins import Plugins

        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Run the jobs that the overrides `arguments` and the sweeper's own `params` span."""
        from hypar_exp.sweeps.grid.launch import launch_grid

        launch_grid(self._grid(arguments), self.config, self.hydra_context.config_loader, self.launcher)

    def _grid(self, arguments: list[str]) -> Grid:
        from hydra.core.override_parser.overrides_parser import OverridesParser

        from hypar_exp.sweeps.axes import grid_of

        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        own = [f"{key}={value}" for key, value in self.params.items()]
        return grid_of(parser.parse_overrides([*own, *arguments]), self.most_jobs)


class BatchSweeper(GridSweeper):
    """`hydra/sweeper=batch`: the same sweep in this process, which shares among its jobs whatever is equal."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config
        _require_basic_launcher("batch", config)

    def sweep(self, arguments: list[str]) -> None:
        """Run the jobs that the overrides `arguments` and the sweeper's own `params` span."""
        from hypar_exp.sweeps.grid.batch import run_grid

        run_grid(self._grid(arguments), self.config, self.hydra_context.config_loader)


class PipeTuneSweeper(BatchSweeper):
    """`hydra/sweeper=pipetune`: a batch of hyper- and system parameters, and what tuning them together would cost."""

    def __init__(
        self,
        most_jobs: int,
        fail_fast: bool,
        system: Sequence[str],
        default_systems: Sequence[Mapping[str, Any]],
        epochs: int,
        samples_per_epoch: int,
        near: float,
        clusters: int,
        seed: int,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        from hypar_exp.checks import require_whole
        from hypar_exp.sweeps.pipetune.sweep import PipeTune

        super().__init__(most_jobs, fail_fast, params=params)
        numbers = {"epochs": epochs, "samples_per_epoch": samples_per_epoch, "clusters": clusters}
        for name, value in numbers.items():
            require_whole("hydra.sweeper", name, value, least=1)
        require_whole("hydra.sweeper", "seed", seed, least=0)
        self.asked = PipeTune(list(system), list(default_systems), near=near, seed=seed, **numbers)

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config
        _require_basic_launcher("pipetune", config)

    def sweep(self, arguments: list[str]) -> None:
        """Run the jobs that the overrides `arguments` and the sweeper's own `params` span."""
        self.asked.run(self._grid(arguments), self.config, self.hydra_context.config_loader)


class SearchSweeper(Sweeper):
    """`hydra/sweeper=search`: trials of a space that Optuna chooses, run in this process and recorded as one sweep."""

    def __init__(
        self,
        trials: int,
        minimise: Sequence[str],
        maximise: Sequence[str],
        bounds: Sequence[str],
        batch: int,
        seed: int,
        storage: str | None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        from hypar_exp.checks import require_whole
        from hypar_exp.sweeps.search.goals import Goals

        require_whole("hydra.sweeper", "trials", trials, least=1)
        require_whole("hydra.sweeper", "batch", batch, least=1)
        require_whole("hydra.sweeper", "seed", seed, least=0)
        self.goals = Goals(list(minimise), list(maximise), list(bounds))
        self.trials, self.batch, self.seed, self.storage = trials, batch, seed, storage
        self.params = params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config
        _require_basic_launcher("search", config)

    def sweep(self, arguments: list[str]) -> None:
        """Run trials of the space that the overrides `arguments` and the sweeper's own `params` describe."""
        from hydra.core.override_parser.overrides_parser import OverridesParser

        from hypar_exp.sweeps.search.search import Search
        from hypar_exp.sweeps.search.space import space_of

        loader = self.hydra_context.config_loader
        own = [f"{key}={value}" for key, value in self.params.items()]
        overrides = OverridesParser.create(config_loader=loader).parse_overrides([*own, *arguments])
        space = space_of(overrides, self.trials)
        Search(space, self.goals, self.batch, self.seed, self.storage).run(self.config, loader)


def _require_basic_launcher(sweeper: str, config: DictConfig) -> None:
    from hypar_exp.errors import UserError

    launcher = config.hydra.runtime.choices["hydra/launcher"]
    if launcher != "basic":
        raise UserError(
            f"hydra/sweeper={sweeper} runs its jobs in one process; hydra/launcher={launcher} needs hydra/sweeper=grid"
        )
