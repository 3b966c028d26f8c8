"""Networks: weighted layers, their tensor shapes, and the graph they form."""

from hypar_exp.networks.build import build
from hypar_exp.networks.describe import network_yaml
from hypar_exp.networks.layers import Layer, Shape
from hypar_exp.networks.load import load
from hypar_exp.networks.network import Edge, Network
from hypar_exp.networks.part import part

__all__ = ["Edge", "Layer", "Network", "Shape", "build", "load", "network_yaml", "part"]
