"""Networks as our YAML: every layer by its sizes, whatever it was read from."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from hypar_exp.networks.build import INPUT
from hypar_exp.networks.layers import Around, Layer
from hypar_exp.networks.network import Edge, Network

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What YAML takes in no text but as an escape (YAML 1.2, section 5.1)."""
_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
"""What YAML takes for something else than text."""


def network_yaml(network: Network) -> str:
    """A network as a YAML file that `load` reads back as the same network."""
    lines = [
        "# every layer by its sizes, for one sample; `reads` says how many elements it reads of whom",
        f"name: {_flow(network.name)}",
        f"input: {_flow(network.layers[0].input.sizes)}",
        "layers:",
    ]
    lines += [f"  {_flow(layer)}: {_flow(fields)}" for layer, fields in describe(network).items()]
    return "\n".join(lines) + "\n"


def describe(network: Network) -> dict[str, dict[str, Any]]:
    """The layers of a network as `build` takes them."""
    reads: list[list[Edge]] = [[] for _ in network.layers]
    for edge in network.edges:
        reads[edge.consumer].append(edge)
    return {layer.name: _fields(network, at, layer, reads[at]) for at, layer in enumerate(network.layers)}


def _fields(network: Network, at: int, layer: Layer, reads: list[Edge]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "layer": layer.kind,
        "input": layer.input.sizes,
        "output": layer.output.sizes,
        "weights": layer.weights,
        "positions": layer.output_positions,
    }
    more = {"extra_macs": layer.extra_macs, "extra_inputs": layer.extra_inputs}
    fields |= {key: value for key, value in more.items() if value}
    if layer.groups > 1:
        fields["groups"] = layer.groups
    if layer.around != Around():
        fields["around"] = {key: value for key, value in asdict(layer.around).items() if value}
    if not at:
        return fields  # the first layer reads what the network reads
    if not reads:
        return fields | {"reads": INPUT}
    previous = network.layers[at - 1].output.elements
    if [(edge.producer, edge.elements) for edge in reads] != [(at - 1, previous)]:
        fields["reads"] = {network.layers[edge.producer].name: edge.elements for edge in reads}
    return fields


def _flow(value: Any) -> str:
    """A value as YAML writes it on one line; a YAML library would take fifty times as long."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    plain = isinstance(value, int) or (_PLAIN.fullmatch(value) and value.lower() not in _WORDS)
    # a string of JSON is one of YAML, but for characters beyond 16 bits, which JSON writes as two
    return str(value) if plain else _UNPRINTABLE.sub(_escaped, json.dumps(value, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
