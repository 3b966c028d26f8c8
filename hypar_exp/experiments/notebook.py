"""A run from Python as from the command line, with a result that a notebook shows: `hypar_exp.run()`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypar_exp.errors import UserError
from hypar_exp.experiments.job import register
from hypar_exp.experiments.record import Origin
from hypar_exp.experiments.run import make
from hypar_exp.experiments.run_result import RunResult, WorkloadResult
from hypar_exp.experiments.user_errors import user_sentence
from hypar_exp.paths import CONF_DIR
from hypar_exp.systems import Findings

if TYPE_CHECKING:
    from omegaconf import DictConfig


def run(overrides: str | Sequence[str] = "", *, config_dir: str | Path | None = None) -> RunResult | WorkloadResult:
    """Plan, simulate and record as `hypar-exp` does with the same overrides, and print nothing.

    Args:
        overrides: as on the command line, in one text or each by itself: `"network=vgg_e strategy=hypar"`;
            `tracking=none` records nothing.
        config_dir: a folder with options of your own, as `--config-dir` takes it.

    Raises:
        UserError: an override that is not understood, or a value out of range; the sentence names the key.
        DoesNotFitError: there is no plan that fits in memory; that is recorded.
    """
    words = shlex.split(overrides) if isinstance(overrides, str) else list(overrides)
    with _composed(words, config_dir) as config:
        made = make(config, words, Origin())
    run_id = None if made.recorded is None else made.recorded.run_id
    if isinstance(made.result, Findings):
        return WorkloadResult(made.result, run_id)
    return RunResult(made.job, made.result, run_id)


@contextmanager
def _composed(overrides: Sequence[str], config_dir: str | Path | None) -> Iterator[DictConfig]:
    """The configuration of a run; Hydra knows its groups until the end of the block."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.types import RunMode
    from omegaconf import open_dict

    register()
    own = [] if config_dir is None else [f"hydra.searchpath=[file://{Path(config_dir).resolve()}]"]
    around = GlobalHydra.instance().hydra  # of an application that calls us
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
            config: Any = compose("config", [*own, *overrides], return_hydra_config=True)
            if config.hydra.mode == RunMode.MULTIRUN:
                raise UserError(
                    f"'{' '.join(overrides)}' is a sweep; hypar-exp makes it, and hypar_exp.runs() reads it"
                )
            with open_dict(config):
                del config["hydra"]
            yield config
    except Exception as error:
        sentence = None if isinstance(error, UserError) else user_sentence(error)
        if sentence is None:
            raise
        raise UserError(sentence) from error
    finally:
        GlobalHydra.instance().hydra = around
