"""The command line before Hydra reads it: what it cannot take, or would take for something else."""

from __future__ import annotations

from collections.abc import Sequence

TAKE_A_VALUE = {
    *("--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd"),
    *("--experimental-rerun", "--shell-completion", "-sc"),
}
"""Hydra's flags that are followed by a word of theirs."""
INFO, INFO_WORDS = ("--info", "-i"), ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")


def overrides_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with the overrides in front of the flags: Hydra's parser wants them all in one place."""
    overrides: list[str] = []
    flags: list[str] = []
    for place, argument in enumerate(arguments):
        before = arguments[place - 1] if place else ""
        of_flag = before in TAKE_A_VALUE or (before in INFO and argument in INFO_WORDS)
        (flags if argument.startswith("-") or of_flag else overrides).append(argument)
    return overrides + flags


def version() -> str:
    """What `--version` prints: this package's version, and those of what it stands on."""
    from importlib.metadata import version as of

    import hypar_exp

    parts = ", ".join(f"{name} {of(package)}" for name, package in (("Hydra", "hydra-core"), ("MLflow", "mlflow")))
    return f"hypar_exp {hypar_exp.__version__} ({parts})"
