"""`python -m hypar_exp`: Hydra composes the configuration, the runner does the rest."""

from __future__ import annotations

import gc

gc.disable()  # until the first job: imports make no garbage, and looking for it takes a tenth of the start-up

import hydra
from omegaconf import DictConfig

from hypar_exp import config, runner
from hypar_exp.command_line import job_errors, run_command
from hypar_exp.paths import CONF_DIR
from hypar_exp.recording import Origin
from hypar_exp.sweeps import PARENT

config.register()


@hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name="config")  # type: ignore[untyped-decorator]
def run_job(job: DictConfig) -> object:
    """One job, as Hydra composed it; a sweep's says what became of it."""
    from hydra.core.hydra_config import HydraConfig

    if not gc.isenabled():  # the first job
        gc.freeze()  # what is there stays; looking through it takes longer than the job
        gc.enable()
    config.register()  # the processes of a launcher import this module in ways of their own
    hydra_node = HydraConfig.get()
    with job_errors():
        if PARENT in hydra_node.job.env_set:
            from hypar_exp.sweeps.job import run_sweep_job

            return run_sweep_job(job, hydra_node)
        origin = Origin(hydra_node.runtime.choices.get("experiment"))
        return runner.run(job, list(hydra_node.overrides.task), origin)


def main() -> None:
    """The command `hypar-exp`."""
    run_command(run_job)


if __name__ == "__main__":
    main()
