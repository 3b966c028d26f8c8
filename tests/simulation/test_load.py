"""What the library loads by name is what Hydra composes."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from hypar_exp import simulation
from hypar_exp.errors import UserError
from hypar_exp.paths import CONF_DIR
from tests import conf


@pytest.mark.parametrize("name", sorted(file.stem for file in (CONF_DIR / "hardware").glob("*.yaml")))
def test_hardware(name: str) -> None:
    assert simulation.load_hardware(name) == conf.hardware(name)


@pytest.mark.parametrize("name", sorted(file.stem for file in (CONF_DIR / "accounting").glob("*.yaml")))
def test_accounting(name: str) -> None:
    assert simulation.load_accounting(name) == conf.accounting(name)


def test_an_unknown_option_names_the_near_ones() -> None:
    with pytest.raises(UserError, match="there is no accounting 'as_evaluted'; did you mean as_evaluated"):
        simulation.load_accounting("as_evaluted")


def test_hardware_of_a_user_s_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("defaults: [hmc]\nlink_bandwidth_bits_per_s: 25.6e+9\n")
    mine = simulation.load_hardware(tmp_path / "mine.yaml")
    assert mine == dataclasses.replace(conf.hardware("hmc"), name=mine.name, link_bandwidth_bits_per_s=25.6e9)
    assert simulation.load_hardware(str(tmp_path / "mine.yaml")) == mine


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "defaults: [hmc]\nlink_bandwith_bits_per_s: 1e+9\n",
            "hardware has no key 'link_bandwith_bits_per_s'; did you mean",
        ),
        (
            "name: mine\n",
            "hardware.processing_elements is missing; give all keys, or build on an option: defaults: [hmc]",
        ),
        ("defaults: [hmc]\nutilisation: high\n", "hardware.utilisation must be a number (got 'high')"),
        ("defaults: [hmc]\nutilisation: 2\n", "hardware.utilisation must be"),
        ("defaults: [hcm]\n", "there is no hardware 'hcm'; did you mean hmc"),
    ],
)
def test_a_file_that_is_no_hardware(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(UserError, match=re.escape(sentence)):
        simulation.load_hardware(tmp_path / "mine.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mine\.yaml cannot be read"):
        simulation.load_hardware(tmp_path / "mine.yaml")
