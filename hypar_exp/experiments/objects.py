"""The border between configuration and objects: Hydra's DictConfig ends here.

Every group's node names a class or function in `_target_`. A class is a dataclass, and its fields are the schema of
the group: names and types are checked here, ranges when the object is made, all before any work starts. A user's own
strategy, topology or hardware is checked in the same way, with no registry to edit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

from hydra.errors import InstantiationException
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from hypar_exp.checks import shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.experiments.targets import ANY, require_trusted, target_of
from hypar_exp.planning import Strategy

PAPER_MEMORY = "hypar_exp.simulation.MemoryModel"
TARGETS = {
    "network": "hypar_exp.networks.build",
    "hardware": "hypar_exp.simulation.Hardware",
    "accounting": "hypar_exp.simulation.Accounting",
    "memory_model": PAPER_MEMORY,
}
"""What makes the groups of which there is one form: their files need not name it."""
PARTS = {
    "network": ("layers", "edges"),
    "strategy": ("name", "plan"),
    "objective": ("name", "costs"),
    "array": ("name", "levels"),
    "interconnect": ("name", "links"),
    "pipeline": ("name", "plan"),
    "schedule": ("placement", "orders"),
    "hardware": ("name", "element_bytes"),
    "accounting": ("name", "communication"),
    "memory_model": ("name", "sizes", "training", "recompute", "recomputing", "adds_up"),
    "workload": ("name",),
    "convergence": ("steps", "words"),
    "tracking": ("check", "record"),
}
"""What the object of each group has at least; a user's own as well."""


def build_object(config: DictConfig, group: str) -> object:
    """Make the object of one group from its `_target_`.

    What goes wrong inside a target is its author's to see, so it goes on up as it is.

    Raises:
        UserError: a missing or unknown key, a value of the wrong type or out of range, or a target that is not there.
    """
    with _sentences(group):
        node = config[group]
        for key in node:
            if OmegaConf.is_missing(node, key) and not OmegaConf.is_interpolation(node, key):
                raise UserError(f"{group}.{key!s} is not set; give it as {group}.{key!s}=VALUE")
        OmegaConf.resolve(node)
        target = node.get("_target_", TARGETS.get(group))
        if target is None:
            raise UserError(
                f"{group} has no _target_, the class or function that makes it, as _target_: my_package.MyClass"
            )
        node = cast(DictConfig, OmegaConf.merge({"_target_": target}, node))
        require_trusted(OmegaConf.to_container(node), _plain(config.get("trust", ANY)), group)
        schema = target_of(target)
        if isinstance(schema, type) and dataclasses.is_dataclass(schema):
            node = _checked(node, schema, group)
        plain = OmegaConf.to_container(node)
    return _checked_parts(cast(object, _made(plain, group)), group, target)


@contextlib.contextmanager
def _sentences(group: str) -> Iterator[None]:
    """Turn what is wrong with a group's configuration into one sentence."""
    try:
        yield
    except (InstantiationException, TypeError) as error:
        raise UserError(f"{group} cannot be made: {_first_line(error)}") from error
    except MissingMandatoryValue:
        raise UserError(f"{group} is not set; choose it as {group}=OPTION") from None
    except OmegaConfBaseException as error:
        raise UserError(f"{group}: {_first_line(error)}") from error
    except (ImportError, ValueError) as error:
        raise UserError(f"{group}._target_ cannot be used: {_first_line(error)}") from error


def _checked_parts(made: object, group: str, target: str) -> object:
    """The object of a group, if it is one.

    Raises:
        UserError: it lacks something that every object of the group has.
    """
    for part in PARTS.get(group, ()):
        if not hasattr(made, part):
            needed = " and ".join(f"'{name}'" for name in PARTS[group])
            raise UserError(f"{group}: what {target} makes has no '{part}'; the group {group} needs {needed}")
    return made


def _made(value: Any, group: str) -> Any:
    """What Hydra's `instantiate` makes of a resolved value, without the copies that take it longer than all the rest.

    Hydra still says which target may be called.
    """
    if isinstance(value, list):
        return [_made(item, group) for item in value]
    if not isinstance(value, Mapping):
        return value
    fields = {key: _made(item, group) for key, item in value.items() if key != "_target_"}
    if "_target_" not in value:
        return fields
    with _sentences(group):
        target = target_of(value["_target_"])
        _require_fields(target, fields)
    return target(**fields)


def _require_fields(target: Callable[..., object], fields: Mapping[str, Any]) -> None:
    """Whether a target takes these fields.

    Raises:
        TypeError: one is missing, or one is too many.
    """
    signature = _signature(target)
    if signature is not None:
        signature.bind(**fields)


@cache
def _signature(target: Callable[..., object]) -> inspect.Signature | None:
    """What a target takes; None of a built-in class that does not say."""
    try:
        return inspect.signature(target)
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def strategy_config(name: str, what_for: str) -> DictConfig:
    """The configuration of the strategy group's option `name`, from wherever Hydra finds its groups."""
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra

    loader = GlobalHydra.instance().config_loader()
    for source in loader.get_sources():
        if source.is_config(f"strategy/{name}"):
            found = source.load_config(f"strategy/{name}")
            if found.defaults_list:  # it builds on other files, which only a composition puts together
                return cast(DictConfig, compose("config", overrides=[f"strategy={name}"]))
            return OmegaConf.create({"strategy": found.config})
    known = loader.get_group_options("strategy")
    raise UserError(f"there is no strategy '{name}' {what_for}{did_you_mean(name, known)}")


def _checked(node: DictConfig, schema: type[Any], group: str) -> DictConfig:
    """The node with the names and types of a dataclass's fields enforced."""
    known = {spec.name for spec in dataclasses.fields(schema)}
    for key in node:
        if key not in known and key != "_target_":
            raise UserError(f"{group} has no key '{key!s}'{did_you_mean(str(key), known)}")
    for name, hint in _hints(schema).items():  # type: ignore[arg-type]
        if name not in node:
            continue
        key, value = f"{group}.{name}", node[name]
        if _names_strategies(hint):
            node = node.copy()
            node[name] = value = _named_strategies(value, key)
        _require_type(key, value, hint)
    return node


@cache
def _hints(schema: type[Any]) -> Mapping[str, Any]:
    """The types of a dataclass's fields; those whose names mean nothing in its module are left out."""
    hints: dict[str, Any] = {}
    for spec in dataclasses.fields(schema):
        owner = next(kind for kind in schema.__mro__ if spec.name in vars(kind).get("__annotations__", {}))
        annotation = {spec.name: owner.__annotations__[spec.name]}
        alone = type(owner.__name__, (), {"__annotations__": annotation, "__module__": owner.__module__})
        with contextlib.suppress(NameError, AttributeError, TypeError):  # imported for a type checker only
            hints |= typing.get_type_hints(alone)
    return hints


def _names_strategies(hint: Any) -> bool:
    return Strategy in (hint, *typing.get_args(hint))


def _named_strategies(value: Any, key: str) -> Any:
    """The configurations of strategies that a field gives by name, alone or in a list."""
    if isinstance(value, ListConfig):
        return [_named_strategies(name, key) for name in value]
    return strategy_config(value, f"for {key}")["strategy"] if isinstance(value, str) else value


_KINDS: Mapping[Any, tuple[tuple[type[Any], ...], str]] = {
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "text"),
    bool: ((bool,), "true or false"),
    type(None): ((type(None),), "null"),
    Mapping: ((DictConfig, dict), "a mapping, as in {key: value}"),
    Sequence: ((ListConfig, list), "a list, as in [one, two]"),
    dict: ((DictConfig, dict), "a mapping, as in {key: value}"),
    list: ((ListConfig, list), "a list, as in [one, two]"),
}
"""What a configuration can hold: the type of a field, the classes of its values, and the words for it."""


def _require_type(key: str, value: Any, hint: Any) -> None:
    """A value of one of the types that a hint allows; true and false are no numbers, though Python has it so.

    A hint that names anything else than `_KINDS` is the class's own to check.
    """
    allowed = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    kinds = [typing.get_origin(kind) or kind for kind in allowed]
    if not all(kind in _KINDS for kind in kinds):
        return
    for kind in kinds:
        if isinstance(value, _KINDS[kind][0]) and (kind is bool or not isinstance(value, bool)):
            return
    words = " or ".join(_KINDS[kind][1] for kind in kinds)
    raise UserError(f"{key} must be {words} (got {shortened(value)})")


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]
