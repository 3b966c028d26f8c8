"""A network made by a function, so that its sizes are keys that can be swept."""

from __future__ import annotations

from hypar_exp.checks import require_whole
from hypar_exp.networks import Network, build


def perceptron(name: str, inputs: int = 784, width: int = 4096, depth: int = 3, classes: int = 10) -> Network:
    """A perceptron of `depth` hidden layers.

    Raises:
        UserError: a size that is not a whole number above zero.
    """
    for key, value in {"inputs": inputs, "width": width, "depth": depth, "classes": classes}.items():
        require_whole("network", key, value, least=1)
    hidden = {f"hidden{layer}": {"fc": width} for layer in range(1, depth + 1)}
    return build(name, [inputs], {**hidden, "classes": {"fc": classes}})
