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
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from hydra.conf import HydraConf
from hydra.core.config_store import ConfigStore
from hydra.errors import InstantiationException
from omegaconf import MISSING, DictConfig, ListConfig, OmegaConf, open_dict
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from hypar_exp.checks import require_whole, shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.experiments.targets import ANY, require_trusted, target_of
from hypar_exp.networks import Network
from hypar_exp.paths import CONF_DIR
from hypar_exp.planning import Strategy
from hypar_exp.simulation import AcceleratorArray, Accounting, Hardware, Interconnect, MemoryModel, Objective
from hypar_exp.simulation.halving import NoPipeline, Pipeline
from hypar_exp.simulation.operations import Schedule
from hypar_exp.systems import Setting, Step, Workload
from hypar_exp.systems.convergence import Convergence
from hypar_exp.tracking.store import Recorder

PAPER_MEMORY = "hypar_exp.simulation.MemoryModel"
TARGETS = {
    "network": "hypar_exp.networks.build",
    "hardware": "hypar_exp.simulation.Hardware",
    "accounting": "hypar_exp.simulation.Accounting",
    "memory_model": PAPER_MEMORY,
}
"""What makes the groups of which there is one form: their files need not name it."""
STEP = "hypar_exp.systems.Step"
"""What a run does unless it is told otherwise."""
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
PASS = "pass"
"""The knob that says what a step is; a keyword of Python, so it is no field of a class."""
PASSES = ("training", "inference")
MEMORY = ("report", "enforce")
OVERLAPS = ("none", "gradients")


@dataclass
class RunConfig:
    """The schema of the primary configuration, `conf/config.yaml`."""

    network: dict[str, Any] = MISSING
    strategy: dict[str, Any] = MISSING
    objective: dict[str, Any] = MISSING
    array: dict[str, Any] = MISSING
    interconnect: dict[str, Any] = MISSING
    pipeline: dict[str, Any] = MISSING
    schedule: dict[str, Any] = MISSING
    hardware: dict[str, Any] = MISSING
    accounting: dict[str, Any] = MISSING
    memory_model: dict[str, Any] = field(default_factory=lambda: {"_target_": PAPER_MEMORY})
    """What training keeps and in how many bytes; records of before there was a choice have none."""
    workload: dict[str, Any] = field(default_factory=lambda: {"_target_": STEP})
    """What is run; records of before there was a choice have none."""
    convergence: Any = None
    """How many epochs a training takes, which makes its time and energy of a step's; None where nobody asks."""
    tracking: dict[str, Any] = MISSING
    batch_size: int = 256
    """Samples a training step."""
    baseline: str | None = "dp"
    """The name of the strategy to compare with; it plans for the least communication, whatever the objective."""
    overlap: str = "none"
    """What is exchanged while accelerators compute: nothing, or the weights' gradients."""
    memory: str = "report"
    """Whether a run reports that its plan does not fit in the accelerators' DRAM, or enforces that it does."""
    gap: bool = False
    """Whether a run says how far its plan is from the best one."""
    resume: bool = False
    """A sweep leaves out what is recorded already."""
    dry_run: bool = False
    page: bool = False
    """Whether a run leaves a page to look at among its artifacts."""
    """A sweep lists its runs and makes none."""
    trust: Any = ANY
    """Whose classes the configuration may call; see `targets.require_trusted`."""


@dataclass(frozen=True)
class Job:
    """One run's objects, all checked."""

    network: Network
    strategy: Strategy
    baseline: Strategy | None
    objective: Objective
    array: AcceleratorArray
    interconnect: Interconnect
    pipeline: Pipeline
    schedule: Schedule
    hardware: Hardware
    accounting: Accounting
    recorder: Recorder
    batch_size: int
    gap: bool
    memory_model: MemoryModel = field(default_factory=MemoryModel)
    workload: Step | Workload = field(default_factory=Step)
    overlap_gradients: bool = False
    """Whether weight gradients are exchanged while earlier layers still go backward."""
    convergence: Convergence | None = None
    must_fit: bool = False
    """Whether a plan that does not fit in memory is none."""
    page: bool = False
    notes: tuple[str, ...] = ()
    """What the user should know and need not change."""

    @property
    def planned_by(self) -> str:
        """The strategy's name, and the pipeline's where there is one."""
        return f"{self.strategy.name}{'' if isinstance(self.pipeline, NoPipeline) else f', {self.pipeline.name}'}"

    @property
    def setting(self) -> Setting:
        """What a workload may use."""
        return Setting(
            self.network,
            self.array,
            self.interconnect,
            self.hardware,
            self.accounting,
            self.batch_size,
            self.schedule,
            self.overlap_gradients,
        )


def register() -> None:
    """Make the schema and the resolvers known to Hydra; must precede the composition."""
    schema = OmegaConf.structured(RunConfig)
    with open_dict(schema):
        schema[PASS] = PASSES[0]
    store = ConfigStore.instance()
    store.store(name="run", node=schema)
    # the default sweeper is set where Hydra sets its own: a preset cannot override what the primary configuration does
    hydra = HydraConf()
    hydra.defaults = [{"sweeper": "grid"} if "sweeper" in default else default for default in hydra.defaults]
    store.store(group="hydra", name="config", node=hydra, provider="hypar_exp")
    OmegaConf.register_new_resolver("file_stem", lambda path: Path(str(path)).stem, replace=True)


class Builder:
    """Makes the objects that one configuration describes."""

    def __init__(self, config: DictConfig) -> None:
        self._config = config

    def group(self, name: str) -> object:
        """The object of a group; see `build_object`."""
        return build_object(self._config, name)

    def baseline(self, name: str) -> object:
        """The strategy that is compared with."""
        return build_object(_strategy(name, "to be the baseline"), "strategy")


def compose_recorder(overrides: Sequence[str]) -> Recorder:
    """The recorder that a command line chooses, as `tracking=server`.

    Raises:
        HydraException: an override that cannot be composed.
        UserError: a value of the wrong type or out of range.
    """
    from hydra import compose, initialize_config_dir

    register()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        return cast(Recorder, build_object(compose("config", list(overrides)), "tracking"))


def build_job(config: Mapping[str, Any], builder: Builder | None = None) -> Job:
    """Make the objects that a configuration describes.

    Args:
        config: a composed configuration, or a resolved one as plain data if there is a builder.
        builder: what makes the objects, where many jobs share them.

    Raises:
        UserError: a value of the wrong type or out of range; the sentence names the key.
    """
    known = {PASS, *(spec.name for spec in dataclasses.fields(RunConfig))}
    for key in config:
        if key not in known:
            raise UserError(f"there is no key '{key!s}'{did_you_mean(str(key), known)}")
    builder = builder or Builder(cast(DictConfig, config))
    require_whole("", "batch_size", config["batch_size"], least=1)
    baseline = None if config["baseline"] is None else builder.baseline(config["baseline"])
    network, array = cast(Network, builder.group("network")), cast(AcceleratorArray, builder.group("array"))
    return Job(
        network=network,
        strategy=cast(Strategy, builder.group("strategy")),
        baseline=cast("Strategy | None", baseline),
        objective=cast(Objective, builder.group("objective")),
        array=array,
        interconnect=cast(Interconnect, builder.group("interconnect")),
        pipeline=cast(Pipeline, builder.group("pipeline")),
        schedule=cast(Schedule, builder.group("schedule")),
        hardware=cast(Hardware, builder.group("hardware")),
        accounting=_accounting(cast(Accounting, builder.group("accounting")), config.get(PASS, PASSES[0])),
        recorder=cast(Recorder, builder.group("tracking")),
        batch_size=config["batch_size"],
        gap=config["gap"],
        memory_model=cast(MemoryModel, builder.group("memory_model")),
        workload=cast("Step | Workload", builder.group("workload")),
        overlap_gradients=_chosen(config, "overlap", OVERLAPS) == "gradients",
        must_fit=_chosen(config, "memory", MEMORY) == "enforce",
        convergence=None if not config.get("convergence") else cast(Convergence, builder.group("convergence")),
        page=bool(config.get("page", False)),
        notes=(*network.notes, *_fractions_of_samples(config["batch_size"], 2**array.levels)),
    )


def _fractions_of_samples(batch_size: int, accelerators: int) -> list[str]:
    if batch_size % accelerators == 0:
        return []
    return [
        f"a batch of {batch_size} is not a multiple of {accelerators} accelerators: shares are fractions of a sample"
    ]


def is_step(config: Mapping[str, Any]) -> bool:
    """Whether a configuration describes a step, and not a workload of another kind."""
    return bool(config["workload"].get("_target_") == STEP)


def require_used(job: Job, overrides: Sequence[str]) -> None:
    """Every key that a user set decides what comes out.

    Args:
        job: the run's objects.
        overrides: what was set, as `network=vgg_a`.

    Raises:
        UserError: a key that the workload does not use.
    """
    if isinstance(job.workload, Step):
        return
    uses = job.workload.uses
    of_every_run = {"workload", "tracking", "resume", "dry_run", "trust"}
    keys = {spec.name for spec in dataclasses.fields(RunConfig)} | {PASS}
    for override in overrides:
        key = override.lstrip("+~").partition("=")[0].partition(".")[0]
        if key in keys - of_every_run and key not in uses:
            used = f"{', '.join(uses)} and its own keys" if uses else "its own keys alone"
            raise UserError(f"workload={job.workload.name} does not use {key}; it uses {used}; leave out {override}")


def _chosen(config: Mapping[str, Any], knob: str, words: Sequence[str]) -> str:
    """The word that a knob has, one of some."""
    if config[knob] not in words:
        raise UserError(f"{knob} must be {' or '.join(words)} (got {shortened(config[knob])})")
    return str(config[knob])


def _accounting(accounting: Accounting, chosen: str) -> Accounting:
    """The accounting of the pass that a step is."""
    if chosen not in PASSES:
        raise UserError(f"pass must be {' or '.join(PASSES)} (got {chosen!r})")
    return accounting.inference() if chosen == "inference" else accounting


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


def _strategy(name: str, what_for: str) -> DictConfig:
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
    return _strategy(value, f"for {key}")["strategy"] if isinstance(value, str) else value


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
