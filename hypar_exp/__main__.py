"""`python -m hypar_exp`: Hydra composes the configuration, the runner does the rest."""

from __future__ import annotations

import gc

gc.disable()  # until the first job: imports make no garbage, and looking for it takes a tenth of the start-up

import hydra
from omegaconf import DictConfig

from hypar_exp import config, runner
from hypar_exp.command_line import job_errors, run_command
from hypar_exp.paths import CONF_DIR

config.register()


@hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name="config")  # type: ignore[untyped-decorator]
def run_job(job: DictConfig) -> None:
    """One job, as Hydra composed it."""
    from hydra.core.hydra_config import HydraConfig

    gc.enable()
    with job_errors():
        runner.run(job, list(HydraConfig.get().overrides.task))


def main() -> None:
    """The command `hypar-exp`."""
    run_command(run_job)


if __name__ == "__main__":
    main()
