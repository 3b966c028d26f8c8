"""Configurations of many jobs: Hydra composes once for each combination of group choices, values are set in copies.

Hydra takes some 40 ms to compose a job, and setting a value in a copy of what it composed takes a fraction of one. What
a job comes to is exactly what Hydra would compose: the same functions of Hydra apply the same overrides in the same
order to the same composition, only once for all jobs that share them.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from hypar_exp.sweeps import hydra_private
from hypar_exp.sweeps.cache import Bounded

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

MOST_COMPOSITIONS = 64
"""Compositions that are kept, some 0.5 MB each."""
HYDRA_RESOLVER = "${hydra:"
MOST_NODES = 20_000
"""Values of top-level keys that are kept."""


@dataclass(frozen=True)
class Node:
    """What a job's configuration has under one top-level key: plain data, and a text that is equal where it is."""

    value: Any
    text: str

    @classmethod
    def of(cls, config: DictConfig, key: str) -> Node:
        """The node, resolved; as it is written where it cannot be, which the job's objects then complain of."""
        if OmegaConf.is_missing(config, key):
            return cls("???", '"???"')
        try:
            value = config[key]
            plain = OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
        except OmegaConfBaseException:
            plain = OmegaConf.to_container(config, resolve=False)[key]  # type: ignore[call-overload, index]
        return cls(plain, json.dumps(plain, default=repr))


@dataclass(frozen=True)
class Composition:
    """What Hydra composed for a choice of groups, and which of its keys are the same whatever values are set."""

    config: DictConfig
    """Without Hydra's own node."""
    preset: str | None
    """The choice of the group `experiment`."""

    @cached_property
    def _plain(self) -> dict[str, Any]:
        plain: Any = OmegaConf.to_container(self.config, resolve=False)
        return {str(key): value for key, value in plain.items()}

    @cached_property
    def fixed(self) -> Mapping[str, Node]:
        """The keys that refer to nothing else."""
        return {key: Node.of(self.config, key) for key, plain in self._plain.items() if not _contains(plain, "${")}

    @cached_property
    def asks_hydra(self) -> bool:
        """Whether something in it depends on what Hydra alone knows of the job."""
        return _contains(self._plain, HYDRA_RESOLVER)

    def node_with(self, overrides: Sequence[Override], key: str) -> Node:
        """One key's node after the overrides of it; they refer to nothing else."""
        with self.with_values([override for override in overrides if _top(override) == key]) as config:
            return Node.of(config, key)

    @contextlib.contextmanager
    def with_values(self, overrides: Sequence[Override]) -> Iterator[DictConfig]:
        """The configuration with values set; afterwards it is what it was.

        Raises:
            ConfigCompositionException: an unknown key, or a value of another type.
        """
        if not hydra_private.are_known():  # Hydra composed the job with its values
            yield copy.deepcopy(self.config)
            return
        set_here = {_top(override) for override in overrides}
        changing = [key for key in map(str, self.config) if key not in self.fixed or key in set_here]
        with hydra_private.with_values(self.config, overrides, changing):
            yield self.config


@dataclass(frozen=True)
class Composed:
    """One job's configuration."""

    composition: Composition
    values: Sequence[Override]
    nodes: Mapping[str, Node]

    def config(self) -> contextlib.AbstractContextManager[DictConfig]:
        """As Hydra would hand it to the job, for as long as it is open."""
        return self.composition.with_values(self.values)

    @property
    def preset(self) -> str | None:
        """The choice of the group `experiment`."""
        return self.composition.preset

    def text(self, key: str) -> str:
        """A text that is equal for jobs which have the same under a top-level key."""
        return self.nodes[key].text if key in self.nodes else ""

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The resolved configuration as plain data."""
        return {key: node.value for key, node in self.nodes.items()}


class Composer:
    """Composes the jobs of one sweep."""

    def __init__(self, loader: Any, master: DictConfig, varying: Collection[str]) -> None:
        """
        Args:
            loader: Hydra's configuration loader.
            master: the sweep's own configuration, with Hydra's node.
            varying: the keys that the jobs differ in, as they are written in overrides.
        """
        self._loader = hydra_private.reading_files_once(loader) if hydra_private.are_known() else loader
        self._master = master
        self._varying = {key.lstrip("+~").split(".")[0] for key in varying}
        self._overrides: dict[str, tuple[Override, bool]] = {}
        self._compositions: Bounded[tuple[str, ...], Composition] = Bounded(MOST_COMPOSITIONS)
        self._nodes: Bounded[tuple[str, tuple[str, ...], tuple[str, ...]], Node] = Bounded(MOST_NODES)

    def compose(self, job: Sequence[str], number: int) -> Composed:
        """The configuration of the job of which `job` are the overrides.

        Raises:
            HydraException, ConfigCompositionException: as Hydra does for these overrides.
        """
        if not hydra_private.are_known():
            return self._composed_by_hydra(job, number)
        structure, values = self._divided(job)
        composition = self._compositions.get(structure, lambda: self._composition(structure))
        if composition.asks_hydra or _contains(job, HYDRA_RESOLVER):
            return self._composed_by_hydra(job, number)
        by_key: dict[str, list[str]] = {}
        for override in values:
            by_key.setdefault(_top(override), []).append(str(override.input_line))
        nodes: dict[str, Node | None] = {}
        for key in dict.fromkeys([*map(str, composition.config), *by_key]):
            said = tuple(by_key.get(key, ()))
            alone = key in composition.fixed and not _contains(said, "${")
            nodes[key] = self._node(composition, key, structure, said, values) if alone else None
        if None in nodes.values():
            with composition.with_values(values) as config:
                for key in [key for key, node in nodes.items() if node is None]:
                    nodes[key] = Node.of(config, key) if key in config else None
        return Composed(composition, values, {key: node for key, node in nodes.items() if node is not None})

    def _divided(self, job: Sequence[str]) -> tuple[tuple[str, ...], list[Override]]:
        """The overrides that Hydra composes with, and those that set values of keys that differ between jobs."""
        structure, values = [], []
        for text in job:
            if text not in self._overrides:
                self._overrides[text] = self._read(text)
            override, sets_value = self._overrides[text]
            if sets_value and _top(override) in self._varying:
                values.append(override)
            else:
                structure.append(text)
        return tuple(structure), values

    def _read(self, text: str) -> tuple[Override, bool]:
        """An override, and whether it sets a value and chooses no option of a group."""
        from hydra.core.override_parser.overrides_parser import OverridesParser

        override = OverridesParser.create(config_loader=self._loader).parse_override(text)
        if override.is_hydra_override() or override.package is not None:
            return override, False
        return override, isinstance(override.value(), dict) or not hydra_private.is_group(
            self._loader, override.key_or_group
        )

    def _node(
        self,
        composition: Composition,
        key: str,
        structure: tuple[str, ...],
        said: tuple[str, ...],
        values: Sequence[Override],
    ) -> Node:
        """The node of a key that depends on nothing but the composition and what the overrides say of it."""
        if not said:
            return composition.fixed[key]
        return self._nodes.get((key, structure, said), lambda: composition.node_with(values, key))

    def _composition(self, structure: Sequence[str]) -> Composition:
        return _without_hydra(self._loader.load_sweep_config(self._master, list(structure)))

    def _composed_by_hydra(self, job: Sequence[str], number: int) -> Composed:
        """A job that Hydra composes whole, for one as it asks for what Hydra knows of it: its number or its folder."""
        from hydra.core.hydra_config import HydraConfig

        config = self._loader.load_sweep_config(self._master, list(job))
        with read_write(config.hydra), open_dict(config.hydra):
            config.hydra.job.num, config.hydra.job.id = number, str(number)
            config.hydra.runtime.output_dir = str(Path(config.hydra.sweep.dir, config.hydra.sweep.subdir).absolute())
        HydraConfig.instance().set_config(config)
        composition = _without_hydra(config)
        return Composed(
            composition, [], {str(key): Node.of(composition.config, str(key)) for key in composition.config}
        )


def _without_hydra(config: DictConfig) -> Composition:
    preset = config.hydra.runtime.choices.get("experiment")
    with read_write(config), open_dict(config):
        del config["hydra"]
    return Composition(config, preset)


def _top(override: Override) -> str:
    return str(override.key_or_group).split(".")[0]


def _contains(plain: Any, text: str) -> bool:
    """Whether a text is part of one of the texts in plain data."""
    if isinstance(plain, Mapping):
        return any(_contains(value, text) for value in plain.values())
    if isinstance(plain, list | tuple):
        return any(_contains(value, text) for value in plain)
    return isinstance(plain, str) and text in plain
