"""Networks by name or by path: the ones that come with the package, a user's own YAML, and other tools' files."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.build import build
from hypar_exp.networks.network import Network
from hypar_exp.paths import CONF_DIR
from hypar_exp.yaml_files import read_mapping

_KEYS = ("name", "input", "layers")
IMPORTERS = {".onnx": "onnx", ".csv": "scalesim", ".json": "calculon", ".txt": "accpar"}
SNIFFED_CHARACTERS = 2000


def load(path: str, name: str | None = None, **options: Any) -> Network:
    """Load a network of the zoo (`vgg_e`), a YAML file of the same form (`mine.yaml`), or another tool's file.

    Args:
        path: a name from `conf/network`, or the path of a file; anything with a suffix or a folder is a path, and the
            suffix says what it is: .onnx an ONNX model, .csv a topology of SCALE-Sim, .json a model of Calculon, .txt
            a network of AccPar or a profile of PipeDream, anything else YAML.
        name: the network's name, where it shall not be the file's own.
        options: what else the reader of such a file takes; see `hypar_exp.networks.importers`.

    Raises:
        UserError: no such name or file, YAML that does not parse (with file and line), layers that do not fit, or an
            option that the reader does not have.
    """
    file = Path(path)
    reader = _reader(file)
    if reader is not None:
        known = [key for key in inspect.signature(reader).parameters if key not in ("path", "name")]
        for key in options:
            if key not in known:
                raise UserError(f"reading {file} takes no option '{key}'{did_you_mean(key, known)}")
        return reader(path, name, **options)
    if options:
        raise UserError(f"reading {file} takes no option '{next(iter(options))}'")
    if not file.suffix and file.name == str(path):
        zoo = {entry.stem: entry for entry in (CONF_DIR / "network").glob("*.yaml")}
        if path not in zoo:
            raise UserError(f"there is no network '{path}'{did_you_mean(path, zoo)}")
        file = zoo[path]
    description = read_mapping(file, "the network file", _KEYS)
    unknown = [key for key in description if key not in (*_KEYS, "_target_")]
    if unknown:
        raise UserError(f"{file} has an unknown key '{unknown[0]}'{did_you_mean(str(unknown[0]), _KEYS)}")
    for key in ("input", "layers"):
        if key not in description:
            raise UserError(f"{file} needs the key '{key}', as the files in conf/network have it")
    return build(name or description.get("name", file.stem), description["input"], description["layers"])


def _reader(file: Path) -> Callable[..., Network] | None:
    """The reader of another tool's files; None where the file is ours."""
    importer = IMPORTERS.get(file.suffix.lower())
    if importer == "accpar":
        try:
            with file.open(encoding="utf-8", errors="replace") as text:
                start = text.read(SNIFFED_CHARACTERS)
        except OSError:
            start = ""
        importer = "pipedream" if " -- " in start else "accpar"
    if importer is None:
        return None
    reader: Callable[..., Network] = importlib.import_module(f"hypar_exp.networks.importers.{importer}").load
    return reader
