"""The hardware and the accountings that come with the package, by name, without Hydra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.paths import CONF_DIR
from hypar_exp.simulation.accounting import Accounting
from hypar_exp.simulation.hardware import Hardware
from hypar_exp.yaml_files import read_mapping


def load_hardware(name: str = "hmc") -> Hardware:
    """An option of `conf/hardware`.

    Raises:
        UserError: there is no such option.
    """
    return Hardware(**_option("hardware", name))


def load_accounting(name: str = "as_evaluated") -> Accounting:
    """An option of `conf/accounting`.

    Raises:
        UserError: there is no such option.
    """
    return Accounting(**_option("accounting", name))


def _option(group: str, name: str) -> dict[str, Any]:
    options = {file.stem: file for file in (CONF_DIR / group).glob("*.yaml")}
    if name not in options:
        raise UserError(f"there is no {group} '{name}'{did_you_mean(name, options)}")
    fields = dict(read_mapping(options[name], f"the {group} file", ("name", "...")))
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
