"""What a user can put right, in one sentence: errors of Hydra, OmegaConf, YAML and the system among them."""

from __future__ import annotations

import contextlib
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException, ValidationError

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.extras import install_command
from hypar_exp.paths import CONF_DIR

EXTRA_OF_LAUNCHER = {"joblib": "joblib", "submitit_local": "slurm", "submitit_slurm": "slurm", "ray": "ray"}
"""Hydra's launchers that are plugins, and the extra of the package that brings each."""


EXTRA_OF_MODULE = {"sklearn": "digits", "optuna": "search", "onnx": "onnx"}
"""What is imported only where it is used, and the extra of the package that brings it."""


def user_sentence(error: BaseException) -> str | None:
    """One sentence for an error that a user can put right; None for any other."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename} cannot be used: {error.strerror}"
    if isinstance(error, ModuleNotFoundError) and error.name in EXTRA_OF_MODULE:
        return f"this needs {error.name}: {install_command(EXTRA_OF_MODULE[error.name])}"
    return hydra_sentence(error)


def hydra_sentence(error: BaseException) -> str | None:
    """One sentence for an error in the command line's overrides or a configuration file; None for any other error."""
    if isinstance(error, MissingConfigException):
        return _missing_option(error)
    if isinstance(error, OverrideParseException):
        return _unreadable(str(error.override))
    ambiguous = re.search(r"Ambiguous value for argument '(.+)'", str(error))
    if ambiguous is not None:
        return f"{ambiguous[1]} is several values; add -m to run each of them, or quote it to mean one text"
    if isinstance(error, HydraException | OmegaConfBaseException):
        return _not_global(error) or _unknown_key(error) or _wrong_type(error) or _one_line(error)
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = f"{mark.name}, line {mark.line + 1}" if mark else "a configuration file"
        return f"{where}: this is not YAML: {error.problem or error.context}"
    if isinstance(error, ValueError):
        known = next((sentence for words, sentence in _OF_VALUES.items() if words in str(error)), None)
        if known is not None:
            return known
    return _of_composition(error)


_OF_VALUES = {
    "Config group override must be a string": "a configuration group cannot be null; choose one of its options",
    "Config group override deletion value": "a group is deleted as ~GROUP, or as ~GROUP=OPTION",
    "The --resolve flag can only be used": "--resolve goes with --cfg job",
    "integer string conversion": "a number on the command line has thousands of digits; no value here can be so large",
}
"""Words of Python's and Hydra's errors about a value, and what they mean on our command line."""


COMPOSERS = ("hydra", "omegaconf")
"""The packages that put a configuration together, before any work of ours."""


def _of_composition(error: BaseException) -> str | None:
    """An error of Hydra's own code about overrides that it does not expect, as a list for a group."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames or not isinstance(error, TypeError | ValueError | AttributeError | RecursionError):
        return None
    module = str(frames[-1][0].f_globals.get("__name__", ""))
    ours = any(str(frame.f_globals.get("__name__", "")).startswith("hypar_exp.experiments") for frame, _ in frames)
    if ours or module.partition(".")[0] not in COMPOSERS:
        return None
    return f"the overrides {' '.join(sys.argv[1:])} cannot be put together: {_one_line(error)}"


def _unreadable(override: str) -> str:
    key, equals, value = override.partition("=")
    if not equals:
        options = {option: group for group in _groups() for option in _options(group)}
        if override in options:
            return f"'{override}' does not say what it is; did you mean {options[override]}={override}?"
        return f"'{override}' is not KEY=VALUE{did_you_mean(override, (f'{options[name]}={name}' for name in options))}"
    return (
        f"the override '{override}' cannot be read; a value with = # ( ) [ ] {{ }} or a comma is quoted twice: "
        f"""'{key}="{value}"'"""
    )


def _groups() -> list[str]:
    return sorted(folder.name for folder in CONF_DIR.iterdir() if folder.is_dir() and folder.name != "hydra")


def _options(group: str) -> list[str]:
    return sorted(file.stem for file in (CONF_DIR / group).glob("*.yaml"))


def _missing_option(error: MissingConfigException) -> str:
    group, _, option = str(error.missing_cfg_file).rpartition("/")
    if not group:
        return f"there is no configuration '{option}'; groups and options are listed by --help"
    if group == "hydra/launcher" and option in EXTRA_OF_LAUNCHER:
        return f"hydra/launcher={option} needs its plugin: {install_command(EXTRA_OF_LAUNCHER[option])}"
    return f"there is no {group} '{option}'{did_you_mean(option, error.options or [])}"


def _unknown_key(error: Exception) -> str | None:
    match = re.search(r"Could not (?:override|delete from config\.?) '([^']+)'", str(error))
    if match is None or not isinstance(error.__cause__, ConfigKeyError | AttributeError | None):
        return None
    key = match[1]
    if key in _groups():
        return f"{key} must be one of its options{did_you_mean(key, _options(key))}"
    return f"there is no key '{key}'{did_you_mean(key, set(_known_keys()))}"


def _not_global(error: Exception) -> str | None:
    match = re.search(r"In '((experiment|case|local)/[^']+)'.*Key '\2' not in", " ".join(str(error).split()))
    if match is None:
        return None
    return (
        f"the file {match[1]}.yaml sets keys of the whole configuration; begin it with the line '# @package _global_'"
    )


def _wrong_type(error: Exception) -> str | None:
    cause = error if isinstance(error, ValidationError) else error.__cause__
    if not isinstance(cause, ValidationError):
        return None
    return f"{cause.full_key}: {str(cause).splitlines()[0]}"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _known_keys() -> Iterator[str]:
    """Every key of the configuration that the command line's choice of groups composes."""
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose("config")
        chosen = [argument for argument in sys.argv[1:] if argument.split("=")[0] in config]
        # where another override is wrong as well, the defaults' keys are near enough
        with contextlib.suppress(HydraException, OmegaConfBaseException, ValueError):
            config = compose("config", overrides=chosen)
    yield from _keys(config)


def _keys(node: Any, path: str = "") -> Iterator[str]:
    if path:
        yield path
    if isinstance(node, DictConfig) and not OmegaConf.is_missing(node, ""):
        for key, child in node.items_ex(resolve=False):
            yield from _keys(child, ".".join(filter(None, (path, str(key)))))
