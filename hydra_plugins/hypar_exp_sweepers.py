"""Sweepers as Hydra's plugin interface finds them; what they do is in `hypar_exp.sweeps`, imported when one is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class GridSweeper(Sweeper):
    """`hydra/sweeper=grid`: every combination of the axes' values, started by any launcher, recorded as one sweep.

    The grid's syntax and order are those of Hydra's basic sweeper.
    """

    def __init__(self, most_jobs: int, params: Mapping[str, Any] | None = None) -> None:
        self.most_jobs = most_jobs
        self.params = params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        from hydra.core.plugins import Plugins

        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Run the jobs that the overrides `arguments` and the sweeper's own `params` span."""
        from hydra.core.override_parser.overrides_parser import OverridesParser

        from hypar_exp.sweeps.axes import grid_of
        from hypar_exp.sweeps.launching import launch_grid

        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        own = [f"{key}={value}" for key, value in self.params.items()]
        grid = grid_of(parser.parse_overrides([*own, *arguments]), self.most_jobs)
        launch_grid(grid, self.config, self.hydra_context.config_loader, self.launcher)
