"""What every sweep does, however its jobs are run: leave out what is finished, list, or run what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omegaconf import DictConfig, OmegaConf

from hypar_exp.experiments.run_record import config_hash
from hypar_exp.reporting.console import console
from hypar_exp.sweeps.axes import values_of
from hypar_exp.sweeps.composition import Composer
from hypar_exp.sweeps.sweep import Sweep
from hypar_exp.tracking.secrets import take_passwords_out


def conduct(sweep: Sweep, config: DictConfig, composer: Composer, run: Callable[[Sequence[int]], None]) -> None:
    """Run the jobs of a sweep that are left, under its parent; with `dry_run` list them.

    Args:
        sweep: not opened yet.
        config: as Hydra composed it for the sweep itself.
        composer: composes each job once, so that what cannot be composed is known before any work.
        run: runs the jobs at some places.

    Raises:
        HydraException: a job that cannot be composed; nothing was run then.
        SweepError: some of the jobs failed.
    """
    composed = (composer.compose(job, at).plain for at, job in enumerate(sweep.jobs))
    hashes = [config_hash(plain) if config.resume else "" for plain in composed]
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
        take_passwords_out(sweep.folder)
        if left:
            run(left)


def _show_plan(sweep: Sweep) -> None:
    left = sweep.left
    console().print(f"{sweep.name}: {len(left)} runs to make, {len(sweep.jobs) - len(left)} finished already.")
    keys = [axis.key for axis in sweep.grid.swept]
    for at in left:
        console().print("  " + " ".join(f"{key}={value}" for key, value in values_of(sweep.jobs[at], keys).items()))
