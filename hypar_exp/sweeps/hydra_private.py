"""The private parts of Hydra and OmegaConf that sweeps are fast with; everything private that we use is here.

They are used with the versions that they were tried with. With any other the public way serves: Hydra composes every
job whole, which takes some ten times as long and comes to the same.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

TRIED = {"hydra": ("1.3.8",), "omegaconf": ("2.3.1",)}
"""Package -> the versions whose private parts are those that are used here."""


@cache
def are_known() -> bool:
    """Whether Hydra and OmegaConf are of versions that were tried."""
    import hydra
    import omegaconf

    return hydra.__version__ in TRIED["hydra"] and omegaconf.__version__ in TRIED["omegaconf"]


def reading_files_once(loader: Any) -> Any:
    """A copy of Hydra's configuration loader that reads a file once: reading takes half the time of a composition."""
    from hydra._internal.config_repository import CachingConfigRepository

    class ReadFiles(CachingConfigRepository):  # type: ignore[misc]
        def __init__(self, files: Any) -> None:
            super().__init__(files)
            self._pickled: dict[str, bytes] = {}

        def __deepcopy__(self, memo: object) -> ReadFiles:
            return self  # a composition copies its repository only to add to its search path, which is always the same

        def load_config(self, config_path: str) -> Any:
            if config_path not in self._pickled:
                self._pickled[config_path] = pickle.dumps(super().load_config(config_path))
            return pickle.loads(self._pickled[config_path])  # a composition may change what it was given

    reading = copy.copy(loader)
    reading.repository = ReadFiles(loader.repository)
    return reading


def is_group(loader: Any, key: str) -> bool:
    """Whether a key is a configuration group."""
    return bool(loader.repository.group_exists(key))


@contextlib.contextmanager
def with_values(config: DictConfig, overrides: Sequence[Override], changing: Collection[str]) -> Iterator[None]:
    """A configuration with values set; afterwards it is what it was.

    Args:
        config: changed in place.
        overrides: what is set.
        changing: the top-level keys that change with them; a copy of the whole takes ten times as long.

    Raises:
        ConfigCompositionException: an unknown key, or a value of another type.
    """
    from hydra._internal.config_loader_impl import ConfigLoaderImpl

    content = config.__dict__["_content"]
    before = dict(content)
    try:
        for key in content.keys() & set(changing):
            content[key] = copy.deepcopy(content[key])
        ConfigLoaderImpl._apply_overrides_to_config(list(overrides), config)
        yield
    finally:
        content.clear()
        content.update(before)
