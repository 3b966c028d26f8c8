"""What every sweep does, however its jobs are run: leave out what is finished, list, or run what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omegaconf import DictConfig, OmegaConf

from hypar_exp.reporting.console import console
from hypar_exp.sweeps.axes import values_of
from hypar_exp.sweeps.sweep import Sweep


def conduct(sweep: Sweep, config: DictConfig, hashes: Sequence[str], run: Callable[[Sequence[int]], None]) -> None:
    """Run the jobs of a sweep that are left, under its parent; with `dry_run` list them.

    Args:
        sweep: not opened yet; its jobs can be composed.
        config: as Hydra composed it for the sweep itself.
        hashes: the jobs' configuration hashes; looked at with `resume` only.
        run: runs the jobs at some places.

    Raises:
        SweepError: some of the jobs failed.
    """
    if config.resume:
        sweep.adopt_finished(hashes)
    if config.dry_run:
        _show_plan(sweep)
        return
    left = sweep.left
    if not left:
        console().print(f"All {len(sweep.jobs)} runs are finished already.")
    with sweep.opened():
        OmegaConf.save(config, sweep.folder / "multirun.yaml")
        if left:
            run(left)


def _show_plan(sweep: Sweep) -> None:
    left = sweep.left
    console().print(f"{sweep.name}: {len(left)} runs to make, {len(sweep.jobs) - len(left)} finished already.")
    keys = [axis.key for axis in sweep.grid.swept]
    for at in left:
        console().print("  " + " ".join(f"{key}={value}" for key, value in values_of(sweep.jobs[at], keys).items()))
