"""Weighted layers: what a user specifies (`Conv`, `Fc`) and what inference makes of it (`Layer`)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import ClassVar, Protocol

from hypar_exp.errors import UserError

Pair = int | tuple[int, int]
"""One number for height and width, or (height, width)."""


@dataclass(frozen=True)
class Shape:
    """A feature map of one sample: channels x height x width (features of an fc layer: height = width = 1)."""

    channels: int
    height: int = 1
    width: int = 1

    @property
    def elements(self) -> int:
        return self.channels * self.positions

    @property
    def positions(self) -> int:
        return self.height * self.width

    def __str__(self) -> str:
        return f"{self.channels}x{self.height}x{self.width}" if self.positions > 1 else str(self.channels)


@dataclass(frozen=True)
class Layer:
    """One weighted layer with every size the planner and the simulator need; amounts are of one sample.

    `input` is the tensor F_l that the kernel reads, `output` the tensor F_{l+1} that the next layer reads, after
    activation and pooling. `weights` counts the kernel's elements A(W_l), without bias.
    """

    name: str
    kind: str
    input: Shape
    output: Shape
    weights: int
    output_positions: int
    """Height x width of the layer's own output, before pooling."""

    @property
    def macs_at_input(self) -> int:
        """Multiply-accumulates of one sample and one phase, counted at the input resolution (as evaluated)."""
        return self.weights * self.input.positions

    @property
    def macs_at_output(self) -> int:
        """Multiply-accumulates of one sample and one phase, counted exactly, at the output resolution."""
        return self.weights * self.output_positions


class LayerSpec(Protocol):
    """What a network file says of a layer; `infer` resolves it for the shape that arrives."""

    def infer(self, name: str, arriving: Shape) -> Layer: ...


@dataclass(frozen=True)
class Pool:
    """Pooling after a layer; `round: up` takes a last, partial window, `down` drops it."""

    kernel: Pair
    stride: Pair | None = None
    padding: Pair = 0
    round: str = "down"

    def __post_init__(self) -> None:
        _require_sizes(self, positive=("kernel", "stride"), zero_allowed=("padding",))
        if self.round not in ("down", "up"):
            raise UserError(f"pool.round must be down or up (got {self.round!r})")

    def apply(self, shape: Shape) -> Shape:
        stride = self.kernel if self.stride is None else self.stride
        height, width = _window_positions(shape, self.kernel, stride, self.padding, self.round, what="pool")
        return Shape(shape.channels, height, width)


@dataclass(frozen=True)
class Conv:
    """A convolution (`conv` output channels), its activation and, optionally, the pooling that follows."""

    kind: ClassVar[str] = "conv"

    conv: int
    kernel: Pair
    stride: Pair = 1
    padding: Pair = 0
    groups: int = 1
    pool: Pool | None = None

    def __post_init__(self) -> None:
        _require_sizes(self, positive=("conv", "kernel", "stride", "groups"), zero_allowed=("padding",))

    def infer(self, name: str, arriving: Shape) -> Layer:
        if arriving.channels % self.groups or self.conv % self.groups:
            raise UserError(
                f"{self.groups} groups must divide the {arriving.channels} channels that come in "
                f"and the {self.conv} that go out"
            )
        height, width = _window_positions(arriving, self.kernel, self.stride, self.padding, "down", what="kernel")
        convolved = Shape(self.conv, height, width)
        kernel_height, kernel_width = _pair(self.kernel)
        return Layer(
            name=name,
            kind=self.kind,
            input=arriving,
            output=convolved if self.pool is None else self.pool.apply(convolved),
            weights=kernel_height * kernel_width * (arriving.channels // self.groups) * self.conv,
            output_positions=convolved.positions,
        )


@dataclass(frozen=True)
class Fc:
    """A fully connected layer (`fc` output features); whatever arrives is flattened."""

    kind: ClassVar[str] = "fc"

    fc: int

    def __post_init__(self) -> None:
        _require_sizes(self, positive=("fc",))

    def infer(self, name: str, arriving: Shape) -> Layer:
        flat = Shape(arriving.elements)
        return Layer(name, self.kind, flat, Shape(self.fc), weights=flat.elements * self.fc, output_positions=1)


def _pair(size: Pair) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def _window_positions(
    shape: Shape, kernel: Pair, stride: Pair, padding: Pair, rounding: str, *, what: str
) -> tuple[int, int]:
    """Height and width after sliding a window over `shape`.

    Raises:
        UserError: the window is larger than the padded input.
    """
    round_ = ceil if rounding == "up" else floor
    positions = []
    for size, window, step, pad in zip(
        (shape.height, shape.width), _pair(kernel), _pair(stride), _pair(padding), strict=True
    ):
        if size + 2 * pad < window:
            raise UserError(
                f"its {what} of {window} does not fit the {shape} that comes in with padding {pad}; "
                f"it needs at least {window - 2 * pad} in height and width"
            )
        count = round_((size + 2 * pad - window) / step) + 1
        # a window that would start in the padding beyond the input is not taken (Caffe's and PyTorch's rule)
        if rounding == "up" and (count - 1) * step >= size + pad:
            count -= 1
        positions.append(count)
    return positions[0], positions[1]


def _require_sizes(spec: object, *, positive: tuple[str, ...], zero_allowed: tuple[str, ...] = ()) -> None:
    for least, fields in ((1, positive), (0, zero_allowed)):
        for field in fields:
            value = getattr(spec, field)
            if value is None:
                continue
            sizes = value if isinstance(value, tuple) else (value,)
            whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= least for size in sizes)
            if not whole or len(sizes) not in (1, 2):
                given = list(value) if isinstance(value, tuple) else value
                raise UserError(f"{field} must be a whole number of at least {least}, or two of them (got {given!r})")
