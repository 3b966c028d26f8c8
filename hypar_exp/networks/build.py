"""Networks from their readable description: a name, an input shape, and layers in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.graph import GraphBuilder, Tensor
from hypar_exp.networks.layers import Shape
from hypar_exp.networks.network import Network
from hypar_exp.networks.specs import (
    Conv,
    ConvTranspose,
    Embedding,
    Fc,
    GlobalPool,
    LayerSpec,
    Matmul,
    Pool,
    Sized,
    Surroundings,
    require_flag,
    shape_of,
)

LAYER_KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in (Conv, Fc, Matmul, ConvTranspose, Embedding, Sized)}
NODE_KINDS = ("add", "concat", "attention", "pool")
SURROUNDINGS = tuple(spec.name for spec in dataclasses.fields(Surroundings))
INPUT = "input"
"""What `reads` calls the network's own input."""


def build(name: str, input: Sequence[int], layers: Mapping[str, Mapping[str, Any]]) -> Network:
    """Infer every shape of a graph of layers.

    Args:
        name: the network's name.
        input: shape of one sample: [channels, height, width], [channels, positions] or [features].
        layers: layer name -> its specification, for example `{conv: 64, kernel: 3, padding: 1, pool: 2}` or
            `{fc: 10}`, in the order in which data flows. `pool` is a size, `global`, or
            `{kernel, stride, padding, round}`. A layer reads the one before it, or the one that `reads` names; `add`
            names others whose outputs are added to its own before it is pooled. Of several that `reads` lists it reads
            the concatenation. `norm: input` or `output`, `activation: gelu` and `dropout: true` say what stands around
            it, for a memory model that counts what that keeps. Without weights are `{concat: [a, b]}`,
            `{add: [a, b]}`, `{attention: [q, k, v], heads: 12, dropout: true}` and `{pool: 2}`. See docs/models.md.

    Raises:
        UserError: a layer that is not understood or whose shapes do not fit; the sentence names the layer.
    """
    arriving = shape_of(input, "network.input")
    if not isinstance(layers, Mapping):
        raise UserError(
            f"network.layers must map layer names to layers, as in 'conv1: {{conv: 20, kernel: 5}}' (got {layers!r})"
        )
    description = _Description(arriving, [str(layer) for layer in layers])
    for layer_name, fields in layers.items():
        try:
            description.read(str(layer_name), fields)
        except UserError as error:
            raise UserError(f"network.layers.{layer_name}: {error}") from None
    return description.graph.network(name, description.ends(), description.outputs())


class _Description:
    """The description as far as it has been read: every name's shape and tensor."""

    def __init__(self, arriving: Shape, names: Sequence[str]) -> None:
        self.graph = GraphBuilder()
        self._values: dict[str, tuple[Shape, Tensor]] = {INPUT: (arriving, Tensor(arriving.elements))}
        self._previous = INPUT
        self._names = names
        self._read: set[str] = set()

    def read(self, name: str, description: Mapping[str, Any]) -> None:
        """Add a layer, or a node without weights, to the graph.

        Raises:
            UserError: it is not understood, reads what is not there, or shapes do not fit.
        """
        if name == INPUT:
            raise UserError(f"'{INPUT}' is what the network itself reads; call the layer something else")
        fields = dict(description) if isinstance(description, Mapping) else {}
        kinds = [kind for kind in LAYER_KINDS if kind in fields]
        nodes = [kind for kind in NODE_KINDS if kind in fields]
        if len(kinds) == 1:
            value = self._layer(name, LAYER_KINDS[kinds[0]], fields)
        elif not kinds and nodes:
            value = self._node(nodes[0], fields)
        else:
            known = f"{', '.join(LAYER_KINDS)}, or, without weights, {', '.join(NODE_KINDS)}"
            raise UserError(f"a layer needs exactly one of the keys {known} (got {description!r})")
        self._values[name], self._previous = value, name

    def ends(self) -> list[Tensor]:
        """The tensors of all names."""
        return [tensor for _, tensor in self._values.values()]

    def outputs(self) -> list[Tensor]:
        """The tensors of the names that nothing reads."""
        return [tensor for name, (_, tensor) in self._values.items() if name not in self._read]

    def _layer(self, name: str, kind: type[Any], fields: dict[str, Any]) -> tuple[Shape, Tensor]:
        reads, added = fields.pop("reads", self._previous), _names(fields.pop("add", []))
        said = {} if kind is Sized else {key: fields.pop(key) for key in SURROUNDINGS if key in fields}
        spec: LayerSpec = _from_fields(kind, _with_pool(fields))
        if isinstance(reads, Mapping):
            arriving, tensor = Shape(1), self._measured(reads)
        else:
            arriving, tensor = self._side_by_side(_names(reads))
        layer = Surroundings(**said).around(spec.infer(name, arriving))
        own = layer.output
        shortcuts = [self._same(own, "it writes", other) for other in added]
        pool = getattr(spec, "pool", None)
        output = own if pool is None else pool.apply(own)
        if isinstance(spec, Sized):  # the file says all sizes itself
            tensor = dataclasses.replace(tensor, elements=layer.input.elements) if tensor.parts else tensor
        declared = isinstance(spec, Sized)
        written = self.graph.layer(dataclasses.replace(layer, output=output), tensor, declared=declared)
        if shortcuts:
            written = self.graph.add([written.resized(own.elements), *shortcuts]).resized(output.elements)
        return output, written

    def _node(self, kind: str, fields: dict[str, Any]) -> tuple[Shape, Tensor]:
        allowed = {"pool": ("pool", "reads"), "attention": (kind, "heads", "dropout", "pool")}.get(kind, (kind, "pool"))
        for key in fields:
            if key not in allowed:
                raise UserError(f"{kind} has no key '{key}'{did_you_mean(key, allowed)}")
        sources = _names(fields.get("reads", self._previous) if kind == "pool" else fields[kind])
        if kind in ("add", "concat") and len(sources) < 2:
            raise UserError(f"{kind} needs a list of at least two layers (got {fields[kind]!r})")
        if kind == "attention":
            require_whole("", "heads", fields.get("heads", 1), least=1)
            require_flag("dropout", fields.get("dropout", False))
            shape, tensor = self._attention(sources, fields.get("heads", 1), fields.get("dropout", False))
        elif kind == "add":
            shape = self._value(sources[0])[0]
            tensor = self.graph.add([self._same(shape, f"{sources[0]} writes", source) for source in sources])
        else:
            shape, tensor = self._side_by_side(sources)
        pool = _with_pool(fields).get("pool")
        output = shape if pool is None else pool.apply(shape)
        return output, tensor.resized(output.elements)

    def _side_by_side(self, sources: Sequence[str]) -> tuple[Shape, Tensor]:
        if not sources:
            raise UserError("it reads nothing; reads is the name of a layer, or a list of names")
        shapes = [self._value(source)[0] for source in sources]
        for source, shape in zip(sources, shapes, strict=True):
            if (shape.height, shape.width) != (shapes[0].height, shapes[0].width):
                raise UserError(
                    f"{sources[0]} writes {shapes[0]} and {source} writes {shape}; what is put side by side must have "
                    "the same height and width"
                )
        joined = Shape(sum(shape.channels for shape in shapes), shapes[0].height, shapes[0].width)
        return joined, self.graph.concat([self._value(source)[1] for source in sources])

    def _attention(self, sources: Sequence[str], heads: int, dropout: bool) -> tuple[Shape, Tensor]:
        """Scores of all positions of the query with all of the key, and with them a weighted sum of the values."""
        if len(sources) not in (1, 3):
            raise UserError(f"attention needs [query, key, value], or one layer that makes all three (got {sources})")
        query, key = self._value(sources[0])[0], self._value(sources[-1])[0]
        if len(sources) == 1:
            if query.channels % 3:
                raise UserError(f"{sources[0]} writes {query}, whose channels are not three times the same number")
            query = Shape(query.channels // 3, query.height, query.width)
        elif key.positions != self._value(sources[1])[0].positions:
            raise UserError(f"key and value must have the same positions (got {self._value(sources[1])[0]} and {key})")
        if query.channels % heads:
            raise UserError(f"{heads} heads must divide the {query.channels} channels of the query")
        macs = 2 * query.channels * query.positions * key.positions
        probabilities = heads * query.positions * key.positions
        operands = [self._value(source)[1] for source in sources]
        return query, self.graph.product(operands, query.elements, macs, probabilities, dropout=dropout)

    def _same(self, shape: Shape, whose: str, source: str) -> Tensor:
        other, tensor = self._value(source)
        if other != shape:
            raise UserError(f"{whose} {shape}, but {source}, which is added to it, is {other}")
        return tensor

    def _measured(self, reads: Mapping[Any, Any]) -> Tensor:
        """What a layer by its sizes reads: producer -> elements."""
        parts: dict[int, int] = {}
        for source, elements in reads.items():
            require_whole("", f"reads.{source}", elements, least=1)
            parts |= dict.fromkeys(self._value(source)[1].parts, elements)
        return Tensor(sum(parts.values()), parts)

    def _value(self, source: Any) -> tuple[Shape, Tensor]:
        if source in self._values:
            self._read.add(str(source))
            return self._values[source]
        if source in self._names:
            raise UserError(
                f"it reads '{source}', which does not come before it; layers stand in the order in which data flows"
            )
        raise UserError(f"it reads '{source}', which is no layer{did_you_mean(str(source), self._names)}")


def _names(value: Any) -> list[str]:
    names = value if isinstance(value, list | tuple) else [value]
    return [str(name) for name in names]


def _with_pool(fields: dict[str, Any]) -> dict[str, Any]:
    pool = fields.get("pool")
    if isinstance(pool, Mapping):
        return fields | {"pool": _from_fields(Pool, pool)}
    if pool == "global":
        return fields | {"pool": GlobalPool()}
    return fields if pool is None else fields | {"pool": Pool(kernel=_tuple(pool))}


def _from_fields(cls: type[Any], values: Mapping[str, Any]) -> Any:
    known = {field.name: field for field in dataclasses.fields(cls)}
    for key in values:
        if key not in known:
            raise UserError(f"{cls.__name__.lower()} has no key '{key}'{did_you_mean(str(key), known)}")
    for key, field in known.items():
        if field.default is field.default_factory is dataclasses.MISSING and key not in values:
            raise UserError(f"{cls.__name__.lower()} needs the key '{key}'")
    return cls(**{key: _tuple(value) for key, value in values.items()})


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
