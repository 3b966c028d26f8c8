"""An importer: Sequential models of Keras, as `model.to_json()` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypar_exp.errors import UserError
from hypar_exp.networks import Network, build

WITHOUT_WEIGHTS = {"InputLayer", "Flatten", "Dropout", "Activation", "ReLU"}
"""Nothing that is planned."""


def load(path: str, name: str | None = None) -> Network:
    """Read a model; convolutions, dense layers and maximum pooling are known.

    Raises:
        UserError: a file that cannot be read, or a layer that is not known.
    """
    try:
        model = json.loads(Path(path).read_text(encoding="utf-8"))["config"]
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{path} is not a model that Keras wrote: {error!r}") from None
    layers: dict[str, dict[str, Any]] = {}
    last = None
    for layer in model["layers"]:
        kind, fields = layer["class_name"], layer["config"]
        if kind == "MaxPooling2D" and last is not None:
            layers[last]["pool"] = {"kernel": fields["pool_size"][0], "stride": fields["strides"][0]}
        elif kind not in WITHOUT_WEIGHTS:
            last = fields["name"]
            layers[last] = _layer(kind, fields, f"{path}: the layer '{last}'")
    _, height, width, channels = model["layers"][0]["config"]["batch_shape"]
    return build(name or model["name"], [channels, height, width], layers)


def _layer(kind: str, fields: Mapping[str, Any], where: str) -> dict[str, Any]:
    if kind == "Dense":
        return {"fc": fields["units"]}
    if kind == "Conv2D":
        kernel = fields["kernel_size"][0]
        padding = kernel // 2 if fields["padding"] == "same" else 0
        return {"conv": fields["filters"], "kernel": kernel, "stride": fields["strides"][0], "padding": padding}
    raise UserError(f"{where} is a {kind}, which is not known")
