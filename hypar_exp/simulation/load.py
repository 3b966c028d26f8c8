"""The hardware, accountings and memory models that come with the package, by name, without Hydra."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.paths import CONF_DIR
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.simulation.memory_model import MemoryModel
from hypar_exp.yaml_files import read_mapping


def load_hardware(name: str | Path = "hmc") -> Hardware:
    """An option of `conf/hardware`, or the hardware that a YAML file of the same form describes.

    Args:
        name: the option, or the path of a file; anything with a suffix or a folder is a path. A file may build on an
            option, as `defaults: [hmc]`.

    Raises:
        UserError: there is no such option or file, or it has a key that hardware has not, lacks one, or gives one a
            value of the wrong type.
    """
    file = Path(name)
    if not file.suffix and file.name == str(name):
        return Hardware(**_option("hardware", str(name)))
    fields = {"name": file.stem, **_described("hardware", file)}
    hints = get_type_hints(Hardware)
    for key, value in fields.items():
        if key not in hints:
            raise UserError(f"{file}: hardware has no key '{key}'{did_you_mean(str(key), hints)}")
        if hints[key] is not str and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise UserError(f"{file}: hardware.{key} must be a number (got {value!r})")
    missing = [key for key in hints if key not in fields]
    if missing:
        raise UserError(
            f"{file}: hardware.{missing[0]} is missing; give all keys, or build on an option: defaults: [hmc]"
        )
    return Hardware(**fields)


def load_accounting(name: str = "as_evaluated") -> Accounting:
    """An option of `conf/accounting`.

    Raises:
        UserError: there is no such option.
    """
    return Accounting(**_option("accounting", name))


def load_memory_model(name: str = "paper") -> MemoryModel:
    """An option of `conf/memory_model`.

    Raises:
        UserError: there is no such option.
    """
    return MemoryModel(**_option("memory_model", name))


def _option(group: str, name: str) -> dict[str, Any]:
    options = {file.stem: file for file in (CONF_DIR / group).glob("*.yaml")}
    if name not in options:
        raise UserError(f"there is no {group} '{name}'{did_you_mean(name, options)}")
    return _described(group, options[name])


def _described(group: str, file: Path) -> dict[str, Any]:
    """The fields that a file gives, on top of those of the options that it builds on."""
    fields = dict(read_mapping(file, f"the {group} file", ("name", "...")))
    fields.pop("_target_", None)
    for base in fields.pop("defaults", []):
        if base != "_self_":
            fields = _merged(_option(group, base), fields)
    return fields


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """As Hydra merges an option into the one that it builds on."""
    merged = dict(base)
    for key, value in changes.items():
        below = merged.get(key)
        merged[key] = _merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
