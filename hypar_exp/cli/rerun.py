"""`hypar-exp rerun RUN_ID [overrides]`: a recorded run once more, as it was or with some of it changed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from hypar_exp.cli.arguments import TAKE_A_VALUE
from hypar_exp.errors import UserError
from hypar_exp.experiments.job import compose_recorder
from hypar_exp.experiments.run_record import KNOBS_OF_THE_COMMAND
from hypar_exp.experiments.targets import PACKAGE
from hypar_exp.paths import CONF_DIR
from hypar_exp.tracking.store import Store

FOLDER = Path("outputs/hydra/rerun")
PRESETS = ("case", "experiment")
"""Groups that set keys of the whole configuration, which a record has already."""
USAGE = "rerun needs the id of a recorded run, as in hypar-exp rerun RUN_ID batch_size=512"


def rerun_arguments(arguments: Sequence[str]) -> list[str]:
    """The command line that makes a recorded run again: its configuration in a folder, and the overrides.

    Args:
        arguments: the run's id, then overrides, whole groups (`strategy=optimal`) and sweeps (-m) among them; those of
            `tracking` say where the run is recorded and where the new one shall be.

    Raises:
        UserError: there is no such run, or its configuration cannot be read.
    """
    words = [word for before, word in zip(["", *arguments], arguments, strict=False) if before not in TAKE_A_VALUE]
    run_id = next((word for word in words if not word.startswith(("-", "~")) and "=" not in word), None)
    if run_id is None:
        raise UserError(USAGE)
    overrides = list(arguments)
    overrides.remove(run_id)
    for override in overrides:
        if override.lstrip("+").partition("=")[0] in PRESETS:
            raise UserError(
                f"{override} sets keys of a whole configuration, and rerun takes those of the record; change keys and "
                "other groups, or give the preset without rerun"
            )
    recorder = compose_recorder([override for override in overrides if override.lstrip("+").startswith("tracking")])
    if not isinstance(recorder, Store):
        raise UserError(f"tracking={recorder.name} keeps no runs to read; choose tracking=sqlite or tracking=server")
    results = recorder.results()
    run = next((run for run in results.runs() if run.run_id == run_id), None)
    if run is None:
        raise UserError(f"there is no run {run_id} in this store; the MLflow UI and sweep.csv name runs by their id")
    if run.tags.get("kind") == "sweep":
        raise UserError(
            f"run {run_id} is a sweep ({run.name}), not one configuration; rerun one of its runs, with -m and the axes "
            "to sweep over again, or give the sweep's own command again"
        )
    recorded: dict[str, Any] = yaml.safe_load(results.artifact(run, "config.yaml"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{run_id}-", dir=FOLDER)).absolute()
    text = yaml.safe_dump(_primary(recorded, overrides), sort_keys=False, allow_unicode=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return [*overrides, "--config-path", str(folder), "--config-name", "config"]


def _primary(recorded: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The recorded values as a primary configuration; a group that is chosen anew, or new, is in its defaults instead.

    It may be somebody else's, so it calls classes of this package alone until the user trusts others with `trust=`.
    """
    ours: dict[str, Any] = yaml.safe_load((CONF_DIR / "config.yaml").read_text(encoding="utf-8"))
    options = {
        group: option
        for entry in ours["defaults"]
        if isinstance(entry, dict)
        for group, option in entry.items()
        if group not in PRESETS and not group.startswith("optional ")
    }
    chosen = {override.partition("=")[0] for override in overrides} | {"tracking"}
    anew = chosen | (options.keys() - recorded.keys())  # some groups are younger than the record
    groups = {group: option for group, option in options.items() if group in anew}
    values = {key: value for key, value in recorded.items() if key not in groups and key not in KNOBS_OF_THE_COMMAND}
    defaults = ["run", *({group: option} for group, option in groups.items()), "_self_"]
    return {"defaults": defaults, **values, "trust": PACKAGE, "hydra": ours["hydra"]}
