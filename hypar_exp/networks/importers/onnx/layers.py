"""Layers with weights out of ONNX nodes: their sizes, per sample."""

from __future__ import annotations

import math

from hypar_exp.networks.importers.onnx import operators
from hypar_exp.networks.importers.onnx.model import Dims, Model, Node
from hypar_exp.networks.importers.onnx.names import layer_name
from hypar_exp.networks.layers import Layer, Shape

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class LayerReader:
    """Makes layers of nodes; numbers them where a file gives no names."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._layers = 0

    def layer(self, node: Node, operator: str) -> Layer | None:
        """The layer that a node is; None where it has no weights.

        Raises:
            UserError: sizes that are not known, or that do not fit each other.
        """
        if operator in (*operators.CONVOLUTIONS, *operators.TRANSPOSED_CONVOLUTIONS):
            reads, weights = operators.operands(node, self._model)
            if weights not in self._model.constants:
                return None
            return self._convolution(node, reads, weights, operator in operators.TRANSPOSED_CONVOLUTIONS)
        if operator in operators.MATRICES:
            if operator == "Einsum" and len(node.inputs) != 2:
                return None
            left, right = operators.operands(node, self._model)
            if right in self._model.constants:
                return self.matrix(node, left, right, node.outputs[0])
            return self.matrix(node, right, left, node.outputs[0]) if left in self._model.constants else None
        if operator in operators.TABLES:
            table, numbers = operators.operands(node, self._model)
            return self._table(node, table, numbers) if operators.is_matrix(table, self._model) else None
        return None

    def matrix(self, node: Node, reads: str, weights: str, writes: str = "") -> Layer:
        """A matrix product with constant weights: one matrix for every position of what it `writes`, or else reads."""
        sizes = self._known(node, weights)
        count = math.prod(sizes)
        depth = self._depth(node, weights, sizes)
        elements = self._elements(node, reads)
        if not count or elements % depth:
            raise node.error(f"it reads {elements} elements a sample, which rows of {depth} do not make up")
        features = count // depth
        written = self._model.elements(writes)
        positions = elements // depth if written is None else max(1, written // features)
        kind = "fc" if positions == 1 else "matmul"
        stacked = elements // depth > positions  # several matrices, each with its own share of what is read
        read = Shape(elements // positions, positions) if stacked else Shape(depth, elements // depth)
        return Layer(self._name(node, weights, kind), kind, read, Shape(features, positions), count, positions)

    def recurrent(self, node: Node) -> tuple[Layer, Layer]:
        """The two matrices of a recurrent layer: for what arrives, and for the state of the step before."""
        if len(node.inputs) < 3 or not all(node.inputs[:3]):
            raise node.error("it needs what it reads, its weights and its recurrent weights")
        arriving, recurring = self._known(node, node.inputs[1]), self._known(node, node.inputs[2])
        if len(arriving) != 3 or len(recurring) != 3 or not math.prod(arriving) or not math.prod(recurring):
            raise node.error(f"its weights must be [directions, gates, features] (got {list(arriving)})")
        directions, gated, features = arriving
        state = recurring[2]
        positions = max(1, self._elements(node, node.inputs[0]) // features)
        name = self._name(node, node.inputs[1], node.operator.lower())
        kind = node.operator.lower()
        gates, states = Shape(directions * gated, positions), Shape(directions * state, positions)
        return (
            Layer(f"{name}.input", kind, Shape(features, positions), gates, math.prod(arriving), positions),
            Layer(f"{name}.state", kind, states, states, math.prod(recurring), positions),
        )

    def product_macs(self, node: Node) -> int:
        """Multiply-accumulates of one sample in a product of two tensors without weights.

        Raises:
            UserError: sizes that are not known.
        """
        if node.operator == "Einsum":
            return self._einsum_macs(node)
        if operators.is_convolution(node.operator):
            kernel = self._known(node, node.inputs[1])
            taps = math.prod(kernel[1:]) if node.operator not in operators.TRANSPOSED_CONVOLUTIONS else kernel[0]
            return self._elements(node, node.outputs[0]) * taps
        left, _ = operators.operands(node, self._model)
        sizes = self._known(node, left)
        depth = sizes[-2 if node.integer("transA", 0) and len(sizes) > 1 else -1] if sizes else 1
        return self._elements(node, node.outputs[0]) * depth

    def _convolution(self, node: Node, reads: str, weights: str, transposed: bool) -> Layer:
        kernel, arriving = self._known(node, weights), self._known(node, reads)
        leaving = self._known(node, node.outputs[0])
        groups = node.integer("group", 1)
        if len(kernel) < 3 or len(arriving) != len(kernel) or len(leaving) != len(kernel) or not math.prod(kernel):
            raise node.error(f"it reads {list(arriving)} with the kernel {list(kernel)} and writes {list(leaving)}")
        wanted = kernel[0] if transposed else kernel[1] * groups
        if arriving[1] != wanted:
            raise node.error(f"its kernel wants {wanted} channels, but {arriving[1]} come in")
        read, written = self._image(arriving), self._image(leaving)
        kind = "conv_transpose" if transposed else "conv"
        uses = read.positions if transposed else written.positions
        return Layer(self._name(node, weights, kind), kind, read, written, math.prod(kernel), uses)

    def _table(self, node: Node, table: str, numbers: str) -> Layer:
        sizes = self._known(node, table)
        ids = self._elements(node, numbers)
        row = max(1, math.prod(sizes[1:]))
        name = self._name(node, table, "embedding")
        return Layer(name, "embedding", Shape(1, ids), Shape(row, ids), math.prod(sizes), output_positions=0)

    def _depth(self, node: Node, weights: str, sizes: Dims) -> int:
        """How many products a matrix sums up for each number that it makes."""
        if node.operator == "Einsum":
            return math.prod(sizes) // max(1, math.prod(self._einsum_sizes(node, weights, in_output=True)))
        if len(sizes) < 2:
            return math.prod(sizes)
        is_right = weights == operators.operands(node, self._model)[1]
        across = node.integer("transB" if is_right else "transA", 0)
        return sizes[-1] if is_right == bool(across) else sizes[-2]

    def _einsum_macs(self, node: Node) -> int:
        sizes: dict[str, int] = {}
        for value, letters in zip(node.inputs, self._einsum_letters(node)[0], strict=False):
            sizes |= dict(zip(letters, self._known(node, value), strict=False))
        return -(-math.prod(sizes.values()) // self._model.batch)

    def _einsum_sizes(self, node: Node, value: str, *, in_output: bool) -> list[int]:
        inputs, output = self._einsum_letters(node)
        letters = inputs[node.inputs.index(value)]
        sizes = zip(letters, self._known(node, value), strict=False)
        return [size for letter, size in sizes if (letter in output) == in_output]

    def _einsum_letters(self, node: Node) -> tuple[list[str], str]:
        """A letter for each axis of each operand, and of the result."""
        equation = str(node.attributes.get("equation", "")).replace(" ", "")
        inputs, arrow, output = equation.partition("->")
        terms = inputs.split(",")
        ranks = [len(self._known(node, value)) for value in node.inputs]
        if len(terms) != len(ranks) or any(not set(term.replace("...", "")) <= _LETTERS for term in [*terms, output]):
            raise node.error(
                f"its equation {equation!r} is not understood; it is one as 'bij,jk->bik' or '...i,ij->...j'"
            )
        free = sorted(_LETTERS - set(equation))
        widths = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True) if "..." in term]
        dots = "".join(free[: max(widths, default=0)])
        spread = [
            term.replace("...", dots[len(dots) - (rank - len(term.replace("...", ""))) :])
            for term, rank in zip(terms, ranks, strict=True)
        ]
        if any(len(term) != rank for term, rank in zip(spread, ranks, strict=True)):
            raise node.error(f"its equation {equation!r} does not have the axes of its operands, {ranks}")
        if not arrow:  # the axes of the dots, then the letters that stand once, in the order of the alphabet
            named = "".join(terms).replace("...", "")
            output = "..." * ("..." in inputs) + "".join(
                sorted(letter for letter in set(named) if named.count(letter) == 1)
            )
        return spread, output.replace("...", dots)

    def _image(self, dims: Dims) -> Shape:
        """The shape of [batch, channels, ...]; where the batch axis holds more than the samples, as frames, so many
        images lie on top of each other.
        """
        height, width = (dims[2], dims[3]) if len(dims) == 4 else (math.prod(dims[2:]), 1)
        images = max(1, dims[0] // self._model.batch)
        return Shape(dims[1], images * height, width)

    def _elements(self, node: Node, value: str) -> int:
        found = self._model.elements(value)
        if found is None or found < 1:
            raise self._unknown(node, value)
        return found

    def _known(self, node: Node, value: str) -> Dims:
        if value not in self._model.dims:
            raise self._unknown(node, value)
        return self._model.dims[value]

    def _unknown(self, node: Node, value: str) -> Exception:
        return node.error(
            f"the sizes of '{value}' are not known; give those of the model's inputs as network.shapes={{INPUT: [...]}}"
        )

    def _name(self, node: Node, weights: str, kind: str) -> str:
        self._layers += 1
        return layer_name(node.name, self._model.constants.get(weights, weights), kind, self._layers)
