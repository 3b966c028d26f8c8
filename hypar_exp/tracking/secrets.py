"""Names and passwords in addresses: given to MLflow by its own variables, and written and printed nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

USERNAME, PASSWORD = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"
"""MLflow's own environment variables."""
_USER_OF_ADDRESS = re.compile(r"(?<=://)([^/\s'\"]*)@")


def without_passwords(text: str) -> str:
    """A text without the `user:password@` of the addresses in it."""
    return _USER_OF_ADDRESS.sub("", text) if "@" in text else text


def hand_to_mlflow(address: str) -> str:
    """The address without its `user:password@`, which MLflow finds in its variables from now on."""
    match = _USER_OF_ADDRESS.search(address)
    if match is None:
        return address
    user, _, password = match[1].partition(":")
    os.environ[USERNAME], os.environ[PASSWORD] = unquote(user), unquote(password)
    return without_passwords(address)


def plain_without_passwords(value: Any) -> Any:
    """Plain data (mappings, lists, texts, numbers) without the passwords of the addresses in it."""
    if isinstance(value, str):
        return without_passwords(value)
    if isinstance(value, Mapping):
        return {key: plain_without_passwords(item) for key, item in value.items()}
    return [plain_without_passwords(item) for item in value] if isinstance(value, list) else value


def take_passwords_out(folder: Path) -> None:
    """Take the passwords out of the YAML files of a folder."""
    for file in folder.glob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        if text != without_passwords(text):
            file.write_text(without_passwords(text), encoding="utf-8")
