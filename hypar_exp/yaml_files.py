"""Reading YAML without Hydra, for the library: every fault of a file is one sentence with its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypar_exp.errors import UserError


def read_mapping(file: Path, what: str, keys: Sequence[str]) -> Mapping[str, Any]:
    """Read a YAML file that maps keys to values.

    Args:
        file: its path.
        what: what it should be, for the sentence of an error: "the network file".
        keys: what it may map, for the same.

    Raises:
        UserError: it cannot be read, is not YAML (with its line), has a key twice, or is no mapping.
    """
    import yaml  # here, so that the rest of the library needs no more than numpy

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{what} {file} cannot be read: {getattr(error, 'strerror', error)}") from None
    try:
        _refuse_duplicates(yaml.compose(text, Loader=yaml.SafeLoader), file)
        description = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise UserError(f"{file}{line}: this is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{file}: this is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(description, Mapping):
        raise UserError(f"{file} must map the keys {', '.join(keys)} to values")
    return description


def _refuse_duplicates(node: Any, file: Path) -> None:
    """YAML readers keep the last of two equal keys in silence; a layer would be lost."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise UserError(f"{file}, line {key.start_mark.line + 1}: the key '{key.value}' is there twice")
            seen.add(key.value)
            _refuse_duplicates(value, file)
