"""What a network file says of a weighted layer, and how it is resolved for the tensor that arrives.

Every kind is a dataclass whose fields are the keys that the layer may have in YAML; the key of the kind's own name
comes first: `{conv: 64, kernel: 3}`, `{fc: 10}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol

from hypar_exp.checks import is_whole, require_whole, shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.layers import Around, Layer, Shape
from hypar_exp.networks.windows import Pair, pair, require_sizes, transposed_positions, window_positions


class LayerSpec(Protocol):
    """What a network file says of a layer; `infer` resolves it for the shape that arrives."""

    def infer(self, name: str, arriving: Shape) -> Layer:
        """The layer with its own output, before pooling."""
        ...


@dataclass(frozen=True)
class Pool:
    """Pooling after a layer; `round: up` takes a last, partial window, `down` drops it."""

    kernel: Pair
    stride: Pair | None = None
    padding: Pair = 0
    round: str = "down"

    def __post_init__(self) -> None:
        require_sizes(self, positive=("kernel", "stride"), zero_allowed=("padding",), optional=("stride",))
        if self.round not in ("down", "up"):
            raise UserError(f"pool.round must be down or up (got {self.round!r})")

    def apply(self, shape: Shape) -> Shape:
        stride = self.kernel if self.stride is None else self.stride
        height, width = window_positions(shape, self.kernel, stride, self.padding, self.round, what="pool")
        return Shape(shape.channels, height, width)


@dataclass(frozen=True)
class GlobalPool:
    """Pooling over all positions: one number a channel is left (`pool: global`)."""

    def apply(self, shape: Shape) -> Shape:
        return Shape(shape.channels)


@dataclass(frozen=True)
class Conv:
    """A convolution (`conv` output channels), its activation and, optionally, the pooling that follows.

    With as many `groups` as channels it is a depthwise convolution.
    """

    kind: ClassVar[str] = "conv"

    conv: int
    kernel: Pair
    stride: Pair = 1
    padding: Pair = 0
    groups: int = 1
    pool: Pool | GlobalPool | None = None

    def __post_init__(self) -> None:
        require_sizes(self, whole=("conv", "groups"), positive=("kernel", "stride"), zero_allowed=("padding",))

    def infer(self, name: str, arriving: Shape) -> Layer:
        weights = _grouped_weights(arriving.channels, self.conv, self.groups, self.kernel)
        height, width = window_positions(arriving, self.kernel, self.stride, self.padding, "down", what="kernel")
        convolved = Shape(self.conv, height, width)
        positions = convolved.positions
        return Layer(name, self.kind, arriving, convolved, weights, positions, groups=self.groups)


@dataclass(frozen=True)
class ConvTranspose:
    """A transposed convolution (`conv_transpose` output channels): every position that arrives spreads its kernel."""

    kind: ClassVar[str] = "conv_transpose"

    conv_transpose: int
    kernel: Pair
    stride: Pair = 1
    padding: Pair = 0
    output_padding: Pair = 0
    groups: int = 1
    pool: Pool | GlobalPool | None = None

    def __post_init__(self) -> None:
        require_sizes(
            self,
            whole=("conv_transpose", "groups"),
            positive=("kernel", "stride"),
            zero_allowed=("padding", "output_padding"),
        )

    def infer(self, name: str, arriving: Shape) -> Layer:
        weights = _grouped_weights(arriving.channels, self.conv_transpose, self.groups, self.kernel)
        spread = transposed_positions(arriving, self.kernel, self.stride, self.padding, self.output_padding)
        output = Shape(self.conv_transpose, *spread)
        return Layer(name, self.kind, arriving, output, weights, arriving.positions, groups=self.groups)


@dataclass(frozen=True)
class Fc:
    """A fully connected layer (`fc` output features); whatever arrives is flattened."""

    kind: ClassVar[str] = "fc"

    fc: int

    def __post_init__(self) -> None:
        require_sizes(self, whole=("fc",))

    def infer(self, name: str, arriving: Shape) -> Layer:
        flat = Shape(arriving.elements)
        return Layer(name, self.kind, flat, Shape(self.fc), weights=flat.elements * self.fc, output_positions=1)


@dataclass(frozen=True)
class Matmul:
    """One matrix for every position (`matmul` output channels): a transformer's layers over a sequence."""

    kind: ClassVar[str] = "matmul"

    matmul: int

    def __post_init__(self) -> None:
        require_sizes(self, whole=("matmul",))

    def infer(self, name: str, arriving: Shape) -> Layer:
        output = Shape(self.matmul, arriving.height, arriving.width)
        return Layer(name, self.kind, arriving, output, arriving.channels * self.matmul, arriving.positions)


@dataclass(frozen=True)
class Embedding:
    """A table of `vocabulary` rows of `embedding` channels, one of which is looked up for every number that arrives."""

    kind: ClassVar[str] = "embedding"

    embedding: int
    vocabulary: int

    def __post_init__(self) -> None:
        require_sizes(self, whole=("embedding", "vocabulary"))

    def infer(self, name: str, arriving: Shape) -> Layer:
        ids = Shape(1, arriving.elements)
        output = Shape(self.embedding, arriving.elements)
        return Layer(name, self.kind, ids, output, self.vocabulary * self.embedding, output_positions=0)


@dataclass(frozen=True)
class Sized:
    """A layer of any kind (`layer` says which) by its sizes: what a network without its origin's details comes to.

    `positions` says how often each weight is used for a sample, `extra_macs` what runs with the layer without weights,
    `extra_inputs` what that reads, and `around` what `Around` says of it.
    """

    kind: ClassVar[str] = "layer"

    layer: str
    input: Sequence[int]
    output: Sequence[int]
    weights: int
    positions: int = 1
    extra_macs: int = 0
    extra_inputs: int = 0
    groups: int = 1
    around: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, least in (("weights", 0), ("positions", 0), ("extra_macs", 0), ("extra_inputs", 0), ("groups", 1)):
            require_whole("", key, getattr(self, key), least=least)
        known = [spec.name for spec in fields(Around)]
        if not isinstance(self.around, Mapping):
            raise UserError(
                f"around must be a mapping, as in {{normalised_inputs: 768}} (got {shortened(self.around)})"
            )
        for key, value in self.around.items():
            if key not in known:
                raise UserError(f"around has no key '{key}'{did_you_mean(str(key), known)}")
            require_whole("around", key, value, least=0)

    def infer(self, name: str, arriving: Shape) -> Layer:
        read, written = shape_of(self.input, "input"), shape_of(self.output, "output")
        more = self.extra_macs, self.extra_inputs, self.groups, Around(**self.around)
        return Layer(name, str(self.layer), read, written, self.weights, self.positions, *more)


NORMS = ("input", "output")
SLOPE_OF_INPUT = ("gelu", "silu", "swish", "mish", "softplus")
"""Activation functions that keep what they read: what they write does not tell their slope."""
SLOPE_OF_OUTPUT = ("relu", "leaky_relu", "elu", "sigmoid", "tanh")
"""Those whose slope follows from what they write, which the next layer keeps as its input."""


@dataclass(frozen=True)
class Surroundings:
    """What stands around a layer and has no weights that count; any layer in YAML may say so besides its own keys.

    Attributes:
        norm: whether what the layer reads (`input`) or what it writes (`output`) is normalised.
        activation: the function behind it.
        dropout: whether what it writes is dropped out in part.

    Raises:
        UserError: another word.
    """

    norm: str | None = None
    activation: str | None = None
    dropout: bool = False

    def __post_init__(self) -> None:
        for key, known in (("norm", NORMS), ("activation", SLOPE_OF_INPUT + SLOPE_OF_OUTPUT)):
            value = getattr(self, key)
            if value is not None and value not in known:
                raise UserError(
                    f"{key} must be {', '.join(known[:-1])} or {known[-1]} (got {shortened(value)})"
                    f"{did_you_mean(str(value), known)}"
                )
        require_flag("dropout", self.dropout)

    def around(self, layer: Layer) -> Layer:
        """The layer, as it is before pooling, with what they keep."""
        read, written = layer.input.elements, layer.output.elements
        around = Around(
            normalised_inputs=read * (self.norm == "input"),
            normalised_outputs=written * (self.norm == "output"),
            activation_inputs=written * (self.activation in SLOPE_OF_INPUT),
            dropout_outputs=written * self.dropout,
        )
        return layer if around == Around() else replace(layer, around=around)


def require_flag(key: str, value: Any) -> None:
    """Whether it is true or false.

    Raises:
        UserError: it is something else.
    """
    if not isinstance(value, bool):
        raise UserError(f"{key} must be true or false (got {shortened(value)})")


def shape_of(sizes: Any, key: str) -> Shape:
    """The shape that a file writes as [channels, height, width], [channels, positions] or [features].

    Raises:
        UserError: other numbers; `key` names where.
    """
    given: list[Any] = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
    if not all(is_whole(size, 1) for size in given) or len(given) not in (1, 2, 3):
        raise UserError(
            f"{key} must be [channels, height, width], [channels, positions] or [features], "
            f"whole numbers above zero (got {shortened(sizes)})"
        )
    return Shape(*given)


def _grouped_weights(arriving: int, leaving: int, groups: int, kernel: Pair) -> int:
    if arriving % groups or leaving % groups:
        raise UserError(
            f"{groups} groups must divide the {arriving} channels that come in and the {leaving} that go out"
        )
    height, width = pair(kernel)
    return height * width * (arriving // groups) * leaving
