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
        if file.stat().st_size > MOST_BYTES:
            raise UserError(f"{what} {file} is larger than {MOST_BYTES // 10**6} MB, which no description is")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{what} {file} cannot be read: {getattr(error, 'strerror', error)}") from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _require_bounded(root, file)
            _refuse_duplicates(root, file)
        description = yaml.safe_load(text)
    except (RecursionError, OverflowError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {_WORDS[type(error)]}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise UserError(f"{file}{line}: this is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{file}: this is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(description, Mapping):
        raise UserError(f"{file} must map the keys {', '.join(keys)} to values")
    return description


MOST_BYTES = 20_000_000
MOST_VALUES, MOST_DEPTH = 1_000_000, 40
"""Of a description, with every alias written out."""
_WORDS: Mapping[type[Exception], str] = {
    RecursionError: "its values are nested too deeply",
    OverflowError: "it has a number that is too large",
    ValueError: "it has a value that is none, as a date or a number of thousands of digits",
}


def _require_bounded(root: Any, file: Path) -> None:
    """Count the values with every alias written out, before anything is made of them.

    Raises:
        UserError: there are too many, or too deeply nested, or an alias contains itself.
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def measured(node: Any) -> int:
        """Values below a node, itself included; each node is looked at once."""
        if id(node) in sizes:
            return sizes[id(node)]
        line = node.start_mark.line + 1
        if id(node) in open_nodes:
            raise UserError(f"{file}, line {line}: an alias contains itself")
        if len(open_nodes) > MOST_DEPTH:
            raise UserError(f"{file}, line {line}: values are nested more than {MOST_DEPTH} deep")
        open_nodes.add(id(node))
        inner = node.value if isinstance(node.value, list) else []
        below = [measured(item) for pair in inner for item in (pair if isinstance(pair, tuple) else (pair,))]
        open_nodes.remove(id(node))
        count = 1 + sum(below)
        if count > MOST_VALUES:
            raise UserError(
                f"{file}, line {line}: with every alias written out there are more than {MOST_VALUES:,} values"
            )
        sizes[id(node)] = count
        return count

    measured(root)


def _refuse_duplicates(node: Any, file: Path) -> None:
    """YAML readers keep the last of two equal keys in silence; a layer would be lost."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, file)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise UserError(f"{file}, line {key.start_mark.line + 1}: the key '{key.value}' is there twice")
            seen.add(key.value)
            _refuse_duplicates(value, file)
