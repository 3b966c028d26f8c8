"""What one run is made of: the schema of its configuration, and its objects, all checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from hydra.conf import HydraConf
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf, open_dict

from hypar_exp.checks import require_whole, shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.experiments.objects import PAPER_MEMORY, build_object, strategy_config
from hypar_exp.experiments.targets import ANY
from hypar_exp.networks import Network
from hypar_exp.paths import CONF_DIR
from hypar_exp.planning import Strategy
from hypar_exp.simulation import AcceleratorArray, Accounting, Hardware, Interconnect, MemoryModel, Objective
from hypar_exp.simulation.halving import NoPipeline, Pipeline
from hypar_exp.simulation.operations import Schedule
from hypar_exp.systems import Setting, Step, Workload
from hypar_exp.systems.convergence import Convergence
from hypar_exp.tracking.store import Recorder

STEP = "hypar_exp.systems.Step"
"""What a run does unless it is told otherwise."""
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
    """A sweep lists its runs and makes none."""
    page: bool = False
    """Whether a run leaves a page to look at among its artifacts."""
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
        return build_object(strategy_config(name, "to be the baseline"), "strategy")


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
