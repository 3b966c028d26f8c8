"""Plain data as YAML against OmegaConf, which writes the same text."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from hypar_exp.paths import CONF_DIR
from hypar_exp.reporting.yaml_text import to_yaml

ODD: dict[str, Any] = {
    "texts": ["1e3", "true", "on", "null", "~", "", "a: b", "# no", "12", "1.5", "○", "two\nlines", " space ", "it's"],
    "numbers": {"whole": 3, "small": 9e-13, "large": 5e8, "inf": float("inf"), "none": None, "yes": True},
    "empty": {"list": [], "map": {}},
    "long": "word " * 60,
}


@pytest.mark.parametrize("file", sorted(CONF_DIR.glob("network/*.yaml")), ids=lambda file: file.stem)
def test_networks_are_written_as_omegaconf_writes_them(file: Any) -> None:
    values = yaml.safe_load(file.read_text())
    assert "".join(to_yaml(key, value) for key, value in values.items()) == OmegaConf.to_yaml(OmegaConf.create(values))


def test_odd_values_are_written_as_omegaconf_writes_them() -> None:
    assert "".join(to_yaml(key, value) for key, value in ODD.items()) == OmegaConf.to_yaml(OmegaConf.create(ODD))
