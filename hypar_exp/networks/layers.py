"""Weighted layers and their tensors' shapes, as the planner and the simulator see them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A feature map of one sample: channels x height x width.

    Features of an fc layer have height = width = 1; a sequence has its positions as the height and width = 1.
    """

    channels: int
    height: int = 1
    width: int = 1

    @property
    def elements(self) -> int:
        return self.channels * self.positions

    @property
    def positions(self) -> int:
        return self.height * self.width

    def resized(self, elements: int) -> Shape:
        """The shape that pooling or stretching leaves: the channels stay where they divide the elements."""
        if elements == self.elements:
            return self
        if elements % self.channels:
            return Shape(elements)
        positions = elements // self.channels
        side = math.isqrt(positions)
        is_square = self.height == self.width and side * side == positions
        return Shape(self.channels, side, side) if is_square else Shape(self.channels, positions)

    @property
    def sizes(self) -> list[int]:
        """The numbers that are needed to write it: [channels, height, width], or fewer where the last are 1."""
        sizes = [self.channels, self.height, self.width]
        while len(sizes) > 1 and sizes[-1] == 1:
            sizes.pop()
        return sizes

    def __str__(self) -> str:
        return "x".join(map(str, self.sizes))


@dataclass(frozen=True)
class Around:
    """What operations without weights around a layer need in the backward pass, in elements of one sample.

    Attributes:
        normalised_inputs: read by normalisations on the way to the layer.
        normalised_outputs: read by normalisations behind it.
        activation_inputs: read by activation functions behind it whose slope their output does not tell, as GELU's.
        dropout_outputs: dropped out behind it.
        probabilities: of the layer's `extra_inputs`, those that attention makes on the way, and can make again.
        dropout_probabilities: of these, those that are dropped out.
    """

    normalised_inputs: int = 0
    normalised_outputs: int = 0
    activation_inputs: int = 0
    dropout_outputs: int = 0
    probabilities: int = 0
    dropout_probabilities: int = 0


@dataclass(frozen=True)
class Layer:
    """One weighted layer with every size the planner and the simulator need; amounts are of one sample.

    `input` is the tensor F_l that the kernel reads, `output` the tensor F_{l+1} that the next layer reads, after
    activation and pooling. `weights` counts the kernel's elements A(W_l), without bias. Where several layers read what
    a layer writes, `output` is what they all read: what happens to it on the way to only some of them is theirs.
    """

    name: str
    kind: str
    input: Shape
    output: Shape
    weights: int
    output_positions: int
    """How often each weight is used: height x width of the layer's own output, before pooling; of a transposed
    convolution's input; 0 for a table that is only looked up."""
    extra_macs: int = 0
    """Multiply-accumulates of one sample and one phase without weights that run with the layer (attention's)."""
    extra_inputs: int = 0
    """Elements of one sample that these read, and that the backward pass needs: query, key, value, probabilities."""
    groups: int = 1
    """Of a convolution: its input channels, and with them its output channels, are in so many parts that do not mix."""
    around: Around = Around()

    @property
    def before_pooling(self) -> int:
        """Elements of one sample that the layer writes before they are pooled; 0 where they are not."""
        own = self.output.channels * self.output_positions
        return own if own > self.output.elements else 0

    @property
    def macs_at_input(self) -> int:
        """Multiply-accumulates of one sample and one phase, counted at the input resolution (as evaluated)."""
        return self.weights * (self.input.positions if self.output_positions else 0) + self.extra_macs

    @property
    def macs_at_output(self) -> int:
        """Multiply-accumulates of one sample and one phase, counted exactly, at the output resolution."""
        return self.weights * self.output_positions + self.extra_macs
