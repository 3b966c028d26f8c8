"""What is installed only where it is wanted: the package's extras."""

from __future__ import annotations

import shlex
import sys


def install_command(extra: str) -> str:
    """The command that installs what an extra brings, into the environment that runs this, wherever the package is."""
    from importlib.metadata import requires

    ending = f'extra == "{extra}"'
    lines = (line.replace("'", '"').split(";") for line in requires("hypar_exp") or [])
    needed = [line[0].strip() for line in lines if len(line) == 2 and line[1].strip() == ending]
    return " ".join([shlex.quote(sys.executable), "-m", "pip", "install", *map(shlex.quote, needed)])
