"""Plain data as YAML, as `OmegaConf.to_yaml` writes it and six times as fast."""

from __future__ import annotations

import re
from typing import Any

import yaml

_BOOLEAN = re.compile("y|n|yes|no|true|false|on|off", re.IGNORECASE)


class _Dumper(yaml.CSafeDumper if hasattr(yaml, "CSafeDumper") else yaml.SafeDumper):  # type: ignore[misc]
    """Quotes texts that OmegaConf would read as something else, as `1e3`."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if _BOOLEAN.fullmatch(text) or _is_number(text) else None
    return dumper.represent_scalar(yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG, text, style=style)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_Dumper.add_representer(str, _text)


def to_yaml(key: str, value: Any) -> str:
    """One key and its value; the YAML of a whole mapping is that of its keys one after the other."""
    text: str = yaml.dump({key: value}, Dumper=_Dumper, default_flow_style=False, allow_unicode=True, sort_keys=False)
    return text
