"""`python -m hypar_exp`: Hydra composes the configuration, `hypar_exp.experiments.run` does the rest."""

from __future__ import annotations

import gc

gc.disable()  # until the first job: imports make no garbage, and looking for it takes a tenth of the start-up

import importlib
import os
import sys
from pathlib import Path

import hydra
from omegaconf import DictConfig

from hypar_exp.cli.arguments import overrides_first, version
from hypar_exp.cli.completion import completed_file_names
from hypar_exp.cli.endings import job_errors, run_command
from hypar_exp.errors import UserError
from hypar_exp.experiments.job import register
from hypar_exp.experiments.record import Origin
from hypar_exp.experiments.run import require_no_chdir, run
from hypar_exp.paths import CONF_DIR
from hypar_exp.sweeps import PARENT
from hypar_exp.tracking.secrets import hand_to_mlflow, take_passwords_out

register()


@hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name="config")  # type: ignore[untyped-decorator]
def run_job(job: DictConfig) -> object:
    """One job, as Hydra composed it; a sweep's says what became of it."""
    from hydra.core.hydra_config import HydraConfig

    if not gc.isenabled():  # the first job
        gc.freeze()  # what is there stays; looking through it takes longer than the job
        gc.enable()
    register()  # the processes of a launcher import this module in ways of their own
    hydra_node = HydraConfig.get()
    if "@" in str(job.get("tracking")):
        take_passwords_out(Path(hydra_node.runtime.output_dir) / str(hydra_node.output_subdir))
    with job_errors():
        require_no_chdir(hydra_node)
        if PARENT in hydra_node.job.env_set:
            from hypar_exp.sweeps.job import run_sweep_job

            return run_sweep_job(job, hydra_node)
        origin = Origin(hydra_node.runtime.choices.get("experiment"))
        return run(job, list(hydra_node.overrides.task), origin)


COMMANDS = ("compare", "reproduce", "runs", "show")
"""What `hypar-exp` does besides running jobs, as its first word: modules of `hypar_exp.cli`."""


def run_job_here() -> object:
    """Let Hydra compose and run the job, or the sweep, of the command line.

    Raises:
        UserError: Hydra cannot work in this folder.
    """
    if "${" in str(Path.cwd()):
        raise UserError(
            f"Hydra takes ${{ in the name of a folder for a value to be put in; go to another folder than {Path.cwd()}"
        )
    return run_job()


def rerun() -> object:
    """Make a recorded run again.

    Raises:
        UserError: there is no such run.
    """
    from hypar_exp.cli.rerun import rerun_arguments

    sys.argv[1:] = overrides_first(rerun_arguments(sys.argv[1:]))
    return run_job_here()


def hidden_passwords(arguments: list[str]) -> list[str]:
    """Arguments without `user:password@` in tracking.uri, so that Hydra writes no password into a file."""
    return [
        hand_to_mlflow(argument) if argument.lstrip("+").startswith("tracking.uri=") else argument
        for argument in arguments
    ]


def main() -> None:
    """The command `hypar-exp`."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, "")  # a package beside the user is found as it is by `python -m hypar_exp`
    if sys.argv[1:2] and sys.argv[1] in COMMANDS:
        command = importlib.import_module(f"hypar_exp.cli.{sys.argv.pop(1)}")
        command.main()
    file_names = completed_file_names(sys.argv[1:], os.environ.get("COMP_LINE", ""))
    if file_names is not None:
        print(file_names)
        return
    if "--version" in sys.argv:
        print(version())
        return
    sys.argv[1:] = hidden_passwords(sys.argv[1:])
    if sys.argv[1:2] == ["rerun"]:
        del sys.argv[1]
        run_command(rerun)
    sys.argv[1:] = overrides_first(sys.argv[1:])
    run_command(run_job_here)


if __name__ == "__main__":
    main()
