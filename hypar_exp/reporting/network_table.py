"""A network's layers as a table on the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hypar_exp.networks import Network
from hypar_exp.reporting.console import console, print_uncut
from hypar_exp.units import quantity

MOST_NAMED = 2
"""More producers than this are counted, not named."""


def show_network(network: Network) -> None:
    """Print every layer, and totals: weights and multiply-accumulates of one sample and one phase, at the output."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_footer=True)
    weights = sum(layer.weights for layer in network.layers)
    macs = sum(layer.macs_at_output for layer in network.layers)
    table.add_column("layer", f"{len(network.layers)} layers", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("input", no_wrap=True)
    table.add_column("output", no_wrap=True)
    table.add_column("weights", f"{weights:,}", justify="right", no_wrap=True)
    table.add_column("MACs", f"{macs:,}", justify="right", no_wrap=True)
    if not network.is_chain:
        table.add_column("reads", f"{len(network.edges)} edges", no_wrap=True)
    for at, layer in enumerate(network.layers):
        reads = [] if network.is_chain else [_reads(network, at)]
        sizes = [str(layer.input), str(layer.output), f"{layer.weights:,}", f"{layer.macs_at_output:,}"]
        table.add_row(*(Text(cell) for cell in (layer.name, layer.kind, *sizes, *reads)))
    out = console()
    out.print(Text(f"{network.name}: {quantity(weights, '')} weights, {quantity(macs, 'MACs')} a sample", style="bold"))
    print_uncut(table)
    for note in network.notes:
        out.print(f"Note: {note}.")


def _reads(network: Network, at: int) -> str:
    """The producers of a layer's input; '' where that is the layer before it, as in a chain."""
    producers = [edge.producer for edge in network.edges if edge.consumer == at]
    if producers == [at - 1]:
        return ""
    if not producers:
        return "the input" if at else ""
    names = [network.layer_names[producer] for producer in producers]
    if len(names) > MOST_NAMED + 1:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return ", ".join(names)
