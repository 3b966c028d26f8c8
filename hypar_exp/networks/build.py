"""Networks from their readable description: a name, an input shape, and layers in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.layers import Conv, Fc, Layer, LayerSpec, Pool, Shape
from hypar_exp.networks.network import Network

LAYER_KINDS: dict[str, type[Conv] | type[Fc]] = {kind.kind: kind for kind in (Conv, Fc)}


def build(name: str, input: Sequence[int], layers: Mapping[str, Mapping[str, Any]]) -> Network:
    """Infer every shape of a chain of layers.

    Args:
        name: the network's name.
        input: shape of one sample: [channels, height, width] or [features].
        layers: layer name -> its specification, for example `{conv: 64, kernel: 3, padding: 1, pool: 2}` or
            `{fc: 10}`, in the order in which data flows. `pool` is a size, or `{kernel, stride, padding, round}`.

    Raises:
        UserError: a layer that is not understood or whose shapes do not fit; the sentence names the layer.
    """
    shape = _input_shape(input)
    if not isinstance(layers, Mapping):
        raise UserError(
            f"network.layers must map layer names to layers, as in 'conv1: {{conv: 20, kernel: 5}}' (got {layers!r})"
        )
    inferred: list[Layer] = []
    for layer_name, description in layers.items():
        try:
            layer = _layer_spec(description).infer(str(layer_name), shape)
        except UserError as error:
            raise UserError(f"network.layers.{layer_name}: {error}") from None
        inferred.append(layer)
        shape = layer.output
    return Network.chain(name, tuple(inferred))


def _input_shape(input: Sequence[int]) -> Shape:
    sizes: list[Any] = list(input) if isinstance(input, list | tuple) else [input]
    whole = all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes)
    if not whole or len(sizes) not in (1, 3):
        raise UserError(
            f"network.input must be [channels, height, width] or [features], whole numbers above zero (got {input!r})"
        )
    return Shape(*sizes)


def _layer_spec(description: Mapping[str, Any]) -> LayerSpec:
    kinds = [kind for kind in LAYER_KINDS if isinstance(description, Mapping) and kind in description]
    if len(kinds) != 1:
        raise UserError(f"a layer needs exactly one of the keys {' or '.join(LAYER_KINDS)} (got {description!r})")
    fields: dict[str, Any] = dict(description)
    if isinstance(fields.get("pool"), Mapping):
        fields["pool"] = _from_fields(Pool, fields["pool"])
    elif fields.get("pool") is not None:
        fields["pool"] = Pool(kernel=_tuple(fields["pool"]))
    spec: LayerSpec = _from_fields(LAYER_KINDS[kinds[0]], fields)
    return spec


def _from_fields(cls: type[Any], values: Mapping[str, Any]) -> Any:
    known = {field.name: field for field in dataclasses.fields(cls)}
    for key in values:
        if key not in known:
            raise UserError(f"{cls.__name__.lower()} has no key '{key}'{did_you_mean(str(key), known)}")
    for key, field in known.items():
        if field.default is dataclasses.MISSING and key not in values:
            raise UserError(f"{cls.__name__.lower()} needs the key '{key}'")
    return cls(**{key: _tuple(value) for key, value in values.items()})


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
