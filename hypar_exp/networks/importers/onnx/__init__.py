"""ONNX models (onnx.ai), opsets 7 to the newest: their layers with weights and the tensors between them.

Only shapes matter: weights are not looked at, external data is never opened, and nothing in a file is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.networks.importers.onnx.model import read_model
from hypar_exp.networks.importers.onnx.rewriting import checked_map
from hypar_exp.networks.importers.onnx.translation import translate
from hypar_exp.networks.network import Network

__all__ = ["load"]


def load(
    path: str,
    name: str | None = None,
    batch: int | None = None,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    map: Mapping[str, str] | None = None,
) -> Network:
    """Load a network from an ONNX file.

    Args:
        path: the file.
        name: the network's name; the file's where it is None.
        batch: samples that the model's inputs hold, by which every size is divided; where it is None, the first axis
            of the first input, and 1 where that is dynamic.
        shapes: sizes of what the file leaves open: dynamic axis -> its size, or input -> all its sizes.
        map: type of operator -> the known one that it works like, or `weightless`.

    Raises:
        UserError: the onnx package is missing; a file that cannot be read, is no model, or leaves a size open that is
            needed; an operator with weights that is not known.
    """
    for key, given in (("shapes", shapes), ("map", map)):
        if not isinstance(given, Mapping | None):
            raise UserError(f"network.{key} must be of the form {{NAME: VALUE}} (got {given!r})")
    operators = checked_map(map or {})
    model = read_model(path, batch, shapes or {}, operators)
    try:
        return translate(model, name or Path(path).stem, operators)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
