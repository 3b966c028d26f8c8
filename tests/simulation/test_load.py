"""What the library loads by name is what Hydra composes."""

from __future__ import annotations

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
