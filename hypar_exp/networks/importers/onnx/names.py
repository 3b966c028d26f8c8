"""Names for layers: short, readable, one of a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hypar_exp.networks.build import INPUT

_WEIGHT_SUFFIX = re.compile(r"([._/]?(weight|kernel|w_0|w|MatMul|Conv2D|ReadVariableOp|resource|quantized)(:0)?)+$")
_OPERATOR_SUFFIX = re.compile(r"/(Conv|ConvTranspose|Gemm|MatMul|Gather|Einsum|LSTM|GRU|RNN)(_\d+)?$")
_GENERIC = re.compile(
    r"([nrtvw]|node|op|val|onnx)?[:_]*\d+|(onnx::)?(Conv|ConvTranspose|Gemm|MatMul|Gather|Einsum|LSTM|GRU|RNN)[:_]+\d+"
)
"""Numbers, alone or after a word that says nothing: `12`, `n4`, `Conv_12`, `onnx::MatMul_301`."""
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_./-]+")


def layer_name(node: str, weights: str, kind: str, number: int) -> str:
    """A layer's name after its weights (`layer1.0.conv1.weight`), or else its node, or else kind and number."""
    of_weights = _WEIGHT_SUFFIX.sub("", weights)
    of_node = _OPERATOR_SUFFIX.sub("", node)
    for name in (of_weights, of_node):
        clean = _FORBIDDEN.sub("_", name).strip("_/.")
        if clean and not _GENERIC.fullmatch(name):
            return clean
    return f"{kind}{number}"


def readable(names: Sequence[str]) -> list[str]:
    """The names without what all of them start with, up to a `/` or `.`, each made unique."""
    first, last = min(names), max(names)
    alike = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    cut = max(first.rfind(mark, 0, alike) for mark in "/.") + 1
    return list(_unique(name[cut:] for name in names))


def _unique(names: Iterable[str]) -> Iterable[str]:
    seen = {INPUT}
    for name in names:
        fresh, number = name, 2
        while fresh in seen:
            fresh, number = f"{name}_{number}", number + 1
        seen.add(fresh)
        yield fresh
