"""From an ONNX graph to a network: what every node does to the tensors between the layers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from hypar_exp.networks.graph import GraphBuilder, Tensor
from hypar_exp.networks.importers.onnx import operators
from hypar_exp.networks.importers.onnx.layers import LayerReader
from hypar_exp.networks.importers.onnx.model import Model, Node
from hypar_exp.networks.importers.onnx.names import readable
from hypar_exp.networks.layers import Layer
from hypar_exp.networks.network import Network


def translate(model: Model, name: str, mapped: Mapping[str, str]) -> Network:
    """The network of a model.

    Raises:
        UserError: an operator with weights that is not known, sizes that are needed and not known, or no layer at all.
    """
    translation = _Translation(model, mapped)
    for node in model.nodes:
        if not all(value in model.constants for value in node.outputs if value):
            translation.read(node)
    tensors = translation.tensors
    outputs = [tensors[value] for value in model.outputs if value in tensors]
    network = translation.graph.network(name, list(tensors.values()), outputs)
    names = readable(network.layer_names)
    layers = tuple(dataclasses.replace(layer, name=fresh) for layer, fresh in zip(network.layers, names, strict=True))
    notes = () if model.note is None else (model.note,)
    return dataclasses.replace(network, layers=layers, notes=notes)


class _Translation:
    """The graph as far as it has been read, and the tensor behind every value that depends on what is read."""

    def __init__(self, model: Model, mapped: Mapping[str, str]) -> None:
        self.graph = GraphBuilder()
        self.tensors = {value: Tensor(_elements(model, value, 1)) for value in model.inputs}
        self._model = model
        self._mapped = mapped
        self._layers = LayerReader(model)

    def read(self, node: Node) -> None:
        """Add a node to the graph."""
        operator = operators.operator_of(node, self._model, self._mapped)
        reads = [value for value in node.inputs if value and value not in self._model.constants]
        tensors = [self._tensor(node, value) for value in reads]
        if operator in operators.RECURRENT:
            self._recurrent(node, tensors)
        elif operator in operators.FUSED_ATTENTION and any(
            operators.is_matrix(v, self._model) for v in node.inputs[1:2]
        ):
            self._fused_attention(node, tensors)
        elif operator in operators.PRODUCTS_OF_ATTENTION:
            self._attention(node, tensors)
        elif operator in operators.SIDE_BY_SIDE and tensors:
            self._write(node, self.graph.concat(tensors))
        elif (layer := self._layers.layer(node, operator)) is not None:
            self._layer(node, layer, tensors)
        elif (operator in operators.MATRICES or operators.is_convolution(operator)) and len(tensors) > 1:
            self._product(node, tensors)
        else:
            self._weightless(node, operator, tensors)

    def _layer(self, node: Node, layer: Layer, tensors: Sequence[Tensor]) -> None:
        written = self.graph.layer(layer, _first(tensors))
        more = list(tensors[1:])  # a bias, or what Gemm adds, that another layer makes
        self._write(node, self.graph.add([written, *more]) if more else written)

    def _recurrent(self, node: Node, tensors: Sequence[Tensor]) -> None:
        """Two layers: the matrix that reads the sequence, and the one that reads the state at every step."""
        arriving, recurrent = self._layers.recurrent(node)
        gates = self.graph.layer(arriving, _first(tensors))
        state = self.graph.layer(recurrent, Tensor(recurrent.input.elements))
        self.graph.add([gates, dataclasses.replace(state, elements=gates.elements)])
        started = list(tensors[1:])  # the state to start from, where another layer makes it
        self._write(node, self.graph.add([state, *started]) if started else state)

    def _fused_attention(self, node: Node, tensors: Sequence[Tensor]) -> None:
        layer = self._layers.matrix(node, node.inputs[0], node.inputs[1])
        made = self.graph.layer(layer, _first(tensors))
        third = max(1, layer.output.channels // 3)
        positions = layer.output.positions
        probabilities = node.integer("num_heads", 1) * positions**2
        self._write(node, self.graph.product([made], third * positions, 2 * third * positions**2, probabilities))

    def _attention(self, node: Node, tensors: Sequence[Tensor]) -> None:
        dims = self._model.dims.get(next((value for value in node.inputs[1:] if value), ""), ())
        if len(dims) < 3 or not tensors:
            raise node.error("the sizes of its key are not known; give the inputs' sizes with network.shapes")
        positions = dims[-2] if len(dims) == 4 else dims[1]
        query = tensors[0].elements
        heads = dims[1] if len(dims) == 4 else node.integer("num_heads", node.integer("q_num_heads", 1))
        width = dims[1] * dims[3] if len(dims) == 4 else dims[2]
        probabilities = heads * positions * max(1, query // max(1, width))
        self._write(node, self.graph.product(tensors[:3], query, 2 * query * positions, probabilities))

    def _product(self, node: Node, tensors: Sequence[Tensor]) -> None:
        macs = self._layers.product_macs(node)
        elements = _elements(self._model, node.outputs[0], tensors[0].elements)
        self._write(node, self.graph.product(tensors, elements, macs))

    def _weightless(self, node: Node, operator: str, tensors: Sequence[Tensor]) -> None:
        """Whatever else there is: it makes of each tensor one of another size, or combines several."""
        if not tensors:
            self._write(node, Tensor(_elements(self._model, node.outputs[0], 1)))
            return
        combined = tensors[0] if len(tensors) == 1 else self.graph.add(tensors)
        for what, kept_by in operators.KEPT_BY.items():
            if operator in kept_by:
                self.graph.keep(combined, what)
        self._write(node, combined)

    def _write(self, node: Node, tensor: Tensor) -> None:
        """Bind a node's outputs."""
        for value in node.outputs:
            if value:
                self.tensors[value] = tensor.resized(_elements(self._model, value, tensor.elements))

    def _tensor(self, node: Node, value: str) -> Tensor:
        if value not in self.tensors:
            raise node.error(f"it reads '{value}', which nothing before it writes")
        return self.tensors[value]


def _first(tensors: Sequence[Tensor]) -> Tensor:
    """What a layer reads; a constant has no producer."""
    return tensors[0] if tensors else Tensor(1)


def _elements(model: Model, value: str, otherwise: int) -> int:
    found = model.elements(value)
    return otherwise if found is None else found
