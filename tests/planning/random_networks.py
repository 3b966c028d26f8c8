"""Random small networks for property tests: graphs of layers whose sizes are drawn freely."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from hypar_exp.networks import Edge, Layer, Network, Shape

sizes = st.integers(1, 40)


@st.composite
def graphs(draw: st.DrawFn, most_layers: int = 5) -> Network:
    """Chains as often as other graphs; an edge may carry less than the consumer reads, as into a concatenation."""
    count = draw(st.integers(1, most_layers))
    layers = tuple(
        Layer(
            name=f"l{at}",
            kind="conv",
            input=Shape(draw(sizes), draw(st.integers(1, 9))),
            output=Shape(draw(sizes), draw(st.integers(1, 9))),
            weights=draw(st.integers(1, 4000)),
            output_positions=draw(st.integers(1, 90)),
        )
        for at in range(count)
    )
    if draw(st.booleans()):
        return Network.chain("chain", layers)
    pairs = list(itertools.combinations(range(count), 2))
    ends = sorted(draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    return Network("graph", layers, tuple(Edge(*pair, elements=draw(st.integers(1, 400))) for pair in ends))
