"""What else than its own text decides what a configuration comes to: files, strategies by name, and the code."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import hypar_exp
from hypar_exp.paths import CONF_DIR

PACKAGE = "hypar_exp"
SOURCES = (".py", ".csv", ".json", ".yaml", ".yml", ".toml")
"""Endings of code, and of the data that it reads."""
MOST_SOURCES, MOST_BYTES = 2000, 1_000_000
"""Files of a user's package that are read, and of what size; the others are known by their names and sizes."""


def dependencies(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a configuration refers to, as plain data that changes when any of it does.

    Args:
        config: the resolved configuration.

    Returns:
        The digests of the files that it names under any key, the configurations of the strategies that it names
        (the baseline, those of a strategy that compares others), and the state of the code: of this package, and of
        each package that a `_target_` is in.
    """
    leaves = list(_texts(config))
    packages = {text.partition(".")[0] for key, text in leaves if key == "_target_"} | {PACKAGE}
    files = sorted({digest for key, text in leaves for digest in _digests(key, text)})
    named = {text for _, text in _texts({"strategy": config.get("strategy"), "baseline": config.get("baseline")})}
    strategies = {name: text for name in sorted(named) if (text := _strategy_text(name)) is not None}
    return {"code": {name: code_state(name) for name in sorted(packages)}, "files": files, "strategies": strategies}


@cache
def code_state(package: str = PACKAGE) -> str:
    """A digest of the code and data files of a top-level package or module; '' where it is not to be found."""
    origin = hypar_exp.__file__ if package == PACKAGE else _origin(package)
    if origin is None:
        return ""
    folder, name = os.path.split(origin)
    files = sorted(_sources(folder)) if name == "__init__.py" else [origin]
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb") as source:  # noqa: PTH123  pathlib takes half as long again, at every start
            size = os.fstat(source.fileno()).st_size
            content = source.read() if len(files) <= MOST_SOURCES and size <= MOST_BYTES else str(size).encode()
        digest.update(f"{file.removeprefix(folder)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _sources(folder: str) -> Iterator[str]:
    """The files of code and data below a folder."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.path.join(place, name) for name in names if name.endswith(SOURCES))  # noqa: PTH118


def _origin(package: str) -> str | None:
    """The file that a top-level package or module begins with."""
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    return None if spec is None or spec.origin is None or not Path(spec.origin).is_file() else spec.origin


def _texts(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in plain data with the key that it is under."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _texts(value, str(name))
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value, key)
    elif isinstance(node, str):
        yield key, node


def _digests(key: str, text: str) -> Iterator[str]:
    """The digest of the file that a text names, if it names one; `of` may name one of the shipped networks."""
    if key == "_target_" or len(text) > 1000 or "\n" in text or "\0" in text:
        return
    candidates = [Path(text)] if "." in text or "/" in text or key == "path" else []
    candidates += [CONF_DIR / "network" / f"{text}.yaml"] if key == "of" else []
    for file in candidates:
        if file.is_file():
            yield _digest(file.absolute(), file.stat().st_mtime_ns)


@cache
def _digest(path: Path, changed_ns: int) -> str:
    """The digest of a file as it is since `changed_ns`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _strategy_text(name: str) -> str | None:
    """The configuration of the option `name` of the strategy group, wherever Hydra finds its groups."""
    from hydra.core.global_hydra import GlobalHydra

    if not name.isidentifier() or not GlobalHydra.instance().is_initialized():
        return None
    sources = GlobalHydra.instance().config_loader().get_sources()
    return option_text(tuple(str(source.path) for source in sources if source.scheme() == "file"), name)


@cache
def option_text(folders: tuple[str, ...], name: str) -> str | None:
    """The option's file, and those of the options that it builds on."""
    files = [Path(folder) / "strategy" / f"{name}.yaml" for folder in folders]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return None
    text = file.read_text(encoding="utf-8")
    bases = [str(base) for base in re.findall(r"^\s*-\s+(\w+)\s*(?:#.*)?$", text, re.MULTILINE)]
    return json.dumps([text, *(option_text(folders, base) for base in bases if base not in ("_self_", name))])
