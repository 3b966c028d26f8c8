"""Artifacts that live on this machine: written in place, which saves MLflow's copy of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse


def is_local(location: str) -> bool:
    """Whether an artifact location (a URI, or a path) is a folder of this machine."""
    return urlparse(location).scheme in ("", "file")


def local_folder(location: str) -> Path:
    """The folder of a local artifact location."""
    return Path(unquote(urlparse(location).path)) if location.startswith("file:") else Path(location)


def write_files(folder: Path, artifacts: Mapping[str, str | bytes]) -> None:
    """Write contents by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in artifacts.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
