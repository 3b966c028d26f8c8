"""Classes of a user's own package: their annotations are the schema, and their faults are theirs to see."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from hypar_exp.errors import UserError
from hypar_exp.experiments.objects import build_object
from tests.conftest import Command

MINE = """
from __future__ import annotations
import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Optional
import users_types as ut
if TYPE_CHECKING:
    from nowhere import Unknown

Count = int

@dataclass(frozen=True)
class Base:
    name: str
    shares: list[float] = dataclasses.field(default_factory=list)

@dataclass(frozen=True)
class Mine(Base):
    levels: Count = 1
    rate: Optional[float] = None
    sizes: ut.Sizes = None
    unknown: Unknown = None
    def plan(self, problem): ...

@dataclass(frozen=True)
class Faulty:
    name: str
    kind: str = "type"
    def __post_init__(self):
        raise {"type": TypeError, "value": ValueError, "import": ImportError}[self.kind]("a fault of its author's")
    def plan(self, problem): ...
"""


def write(folder: Path) -> None:
    (folder / "users_package.py").write_text(MINE)
    (folder / "users_types.py").write_text("Sizes = dict[str, int] | None\n")


@pytest.fixture(autouse=True, scope="module")
def users_package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("users")
    write(folder)
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))


def built(target: str, **fields: Any) -> object:
    node = {"_target_": f"users_package.{target}", "name": "mine", **fields}
    return build_object(OmegaConf.create({"strategy": node}), "strategy")


def test_values_of_the_annotated_types_are_taken() -> None:
    made: Any = built("Mine", levels=3, rate=2, shares=[0.5], sizes={"a": 1}, unknown="anything")
    assert (made.levels, made.rate, made.shares, made.sizes) == (3, 2, [0.5], {"a": 1})
    assert built("Mine", rate=None)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"levels": "three"}, "strategy.levels must be a whole number (got 'three')"),
        ({"rate": "fast"}, "strategy.rate must be a number or null (got 'fast')"),
        ({"shares": 0.5}, "strategy.shares must be a list, as in [one, two] (got 0.5)"),
        ({"sizes": [1]}, "strategy.sizes must be a mapping, as in {key: value} or null (got [1])"),
        ({"name": 3}, "strategy.name must be text (got 3)"),
        ({"level": 3}, "strategy has no key 'level'; did you mean levels"),
    ],
)
def test_others_are_refused_whatever_else_the_class_names(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        built("Mine", **fields)
    assert str(refused.value).startswith(sentence)


def test_a_field_that_is_missing_is_one_sentence() -> None:
    with pytest.raises(UserError, match="strategy cannot be made: missing a required argument: 'name'"):
        build_object(OmegaConf.create({"strategy": {"_target_": "users_package.Faulty"}}), "strategy")


@pytest.mark.parametrize(("kind", "error"), [("type", TypeError), ("value", ValueError), ("import", ImportError)])
def test_a_fault_inside_a_constructor_goes_on_up(kind: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="a fault of its author's"):
        built("Faulty", kind=kind)


def test_the_command_line_shows_where_it_was(command: Command, tmp_path: Path) -> None:
    write(tmp_path)
    done = command("network=lenet_c", "strategy=dp", "strategy._target_=users_package.Faulty", "~strategy.default",
                   "~strategy.by_kind", expect=1)  # fmt: skip
    assert "users_package.py" in done.stderr
    assert done.stderr.rstrip().endswith("TypeError: a fault of its author's")
