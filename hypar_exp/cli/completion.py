"""Names of files after `network.path=` at a shell's TAB; everything else is Hydra's own completion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def completed_file_names(arguments: Sequence[str], line: str) -> str | None:
    """What is printed for a shell that asks how to go on with a path; None where Hydra is to answer.

    Args:
        arguments: of the command: shells ask with `-sc query=bash` (or fish, zsh).
        line: what is typed so far.
    """
    shell = next((word.partition("=")[2] for word in arguments if word.startswith("query=")), None)
    key, equals, begun = line.rpartition(" ")[2].partition("=")
    if shell is None or not equals or not key.endswith(".path"):
        return None
    folder, beginning = os.path.split(begun)
    try:
        entries = sorted(Path(folder or ".").iterdir())
    except OSError:
        return ""
    names = [
        f"{key}={Path(folder, entry.name)}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if entry.name.startswith(beginning) and (beginning or not entry.name.startswith("."))
    ]
    return ("\n" if shell == "fish" else " ").join(name for name in names if " " not in name)
