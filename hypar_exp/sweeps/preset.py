"""Presets that are sweeps, asked from outside of Hydra's command line: which runs they mean, and running them."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from omegaconf import DictConfig, OmegaConf

from hypar_exp.errors import UserError
from hypar_exp.experiments.identity import code_state
from hypar_exp.experiments.run_record import config_hash, params_of
from hypar_exp.paths import CONF_DIR
from hypar_exp.sweeps.axes import grid_of

MOST_JOBS = 100_000


@dataclass(frozen=True)
class Preset:
    """A preset of `conf/experiment` that sets a sweep, with further overrides as on the command line."""

    name: str
    overrides: Sequence[str] = ()

    @property
    def command(self) -> list[str]:
        """What runs the sweep, without the interpreter."""
        return ["-m", "hypar_exp", f"experiment={self.name}", *self.overrides]

    @cached_property
    def inputs_hash(self) -> str:
        """The same as long as the sweep means the same runs: of every file of `conf`, the code and the overrides."""
        digest = hashlib.sha256(repr([code_state(), self.name, self._deciding]).encode())
        for file in sorted(CONF_DIR.rglob("*.yaml")):
            digest.update(str(file.relative_to(CONF_DIR)).encode() + file.read_bytes())
        return digest.hexdigest()[:16]

    def check(self) -> None:
        """See that the overrides leave the sweep's axes as they are.

        Raises:
            UserError: an override of a key that the preset sweeps.
        """
        written = OmegaConf.load(CONF_DIR / "experiment" / f"{self.name}.yaml")
        axes = OmegaConf.select(written, "hydra.sweeper.params", default={})
        for override in self.overrides:
            key = override.split("=")[0].lstrip("+")
            if key in axes:
                raise UserError(f"{self.name} sweeps {key} itself; leave out {override}")

    def configurations(self) -> dict[str, Mapping[str, str]]:
        """The params of every run that the sweep means, by the hash of its configuration.

        Raises:
            HydraException, ConfigCompositionException: an override that cannot be composed.
        """
        from hydra.core.global_hydra import GlobalHydra
        from hydra.core.override_parser.overrides_parser import OverridesParser
        from hydra.types import RunMode

        from hypar_exp.sweeps.composition import Composer

        loader = GlobalHydra.instance().config_loader()
        told = [f"experiment={self.name}", *self.overrides]
        master: DictConfig = loader.load_configuration("config", told, RunMode.MULTIRUN)
        axes = {str(key): value for key, value in (master.hydra.sweeper.get("params") or {}).items()}
        task = [override for override in told if not override.startswith("hydra")]
        parsed = OverridesParser.create(config_loader=loader).parse_overrides(
            [*(f"{key}={value}" for key, value in axes.items()), *task]
        )
        grid = grid_of(parsed, MOST_JOBS)
        composer = Composer(loader, master, [axis.key for axis in grid.swept])
        plain = [composer.compose(job, number).plain for number, job in enumerate(grid.jobs())]
        return {config_hash(config): params_of(config) for config in plain}

    def run(self) -> None:
        """Run what the sweep has no finished run of, in a process of its own; an interruption is handed on to it.

        The sweeper is the batch sweeper, unless an override names another one or a launcher.

        Raises:
            UserError: a run failed, or the sweep could not begin; says what it said.
        """
        choices = {"resume": "true"}
        if not any(override.startswith(("hydra/sweeper=", "hydra/launcher=")) for override in self.overrides):
            choices["hydra/sweeper"] = "batch"
        environment = {key: value for key, value in os.environ.items() if key != "HYDRA_FULL_ERROR"}
        process = subprocess.Popen(
            [sys.executable, *self.command, *(f"{key}={value}" for key, value in choices.items())],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            _, error = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)  # a second one does no harm where the terminal sent the first
            process.communicate()
            raise
        if process.returncode:
            last = error.strip().removeprefix("hypar_exp: ")
            raise UserError(f"the sweep 'python {' '.join(self.command)}' did not end well: {last}")

    @property
    def _deciding(self) -> list[str]:
        """The overrides that decide what a run is, not how and where it is made."""
        return [override for override in self.overrides if not override.startswith(("tracking", "hydra"))]
