"""Some layers of a network as a network of their own, each with the shapes it has in the whole."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.load import load
from hypar_exp.networks.network import Network


def part(of: str, layers: Sequence[str], name: str | None = None) -> Network:
    """The named layers of a network and the edges between them; what else the network does is left out.

    Args:
        of: the whole network, as `load` takes it: a name of the zoo or the path of a file.
        layers: names of layers, or patterns such as `conv5_*`; the order is the network's own.
        name: the part's name; where it is not given, `of` and the first and last layer.

    Raises:
        UserError: no such network, a name or pattern that no layer has, or nothing named.
    """
    whole = load(of)
    patterns = [layers] if isinstance(layers, str) else list(layers)
    for pattern in patterns:
        if not any(fnmatchcase(layer, str(pattern)) for layer in whole.layer_names):
            raise UserError(
                f"network.layers: {whole.name} has no layer '{pattern}'{did_you_mean(str(pattern), whole.layer_names)}"
            )
    kept = [
        at
        for at, layer in enumerate(whole.layer_names)
        if any(fnmatchcase(layer, str(pattern)) for pattern in patterns)
    ]
    if not kept:
        raise UserError(f"network.layers must name at least one layer of {whole.name}, as in [{whole.layer_names[-1]}]")
    return whole.part(kept, name or f"{whole.name}[{whole.layer_names[kept[0]]}..{whole.layer_names[kept[-1]]}]")
