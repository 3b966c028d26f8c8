"""A network's layers as a table on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hypar_exp.networks import Network
from hypar_exp.reporting.console import console, print_first_that_fits
from hypar_exp.units import quantity


@dataclass(frozen=True)
class _Layout:
    """What a table of layers has, and how long it is about it."""

    exact: bool = False
    """Whether numbers are exact, and not of three digits."""
    inputs: bool = True
    most_named: int = 1
    """More producers than this are counted, not named."""
    most_characters: int | None = None
    """Of a layer's name; None for all."""


LAYOUTS = (
    _Layout(exact=True, most_named=2),
    _Layout(most_named=2),
    _Layout(),
    _Layout(inputs=False),
    _Layout(inputs=False, most_named=0),
    _Layout(inputs=False, most_named=0, most_characters=28),
)
"""From the widest to the narrowest."""


def show_network(network: Network) -> None:
    """Print every layer, and totals: weights and multiply-accumulates of one sample and one phase, at the output.

    Numbers are rounded, and columns shortened, where the terminal is not wide enough.
    """
    weights = sum(layer.weights for layer in network.layers)
    macs = sum(layer.macs_at_output for layer in network.layers)
    out = console()
    out.print(Text(f"{network.name}: {quantity(weights, '')} weights, {quantity(macs, 'MACs')} a sample", style="bold"))
    print_first_that_fits(_tables(network, weights, macs))
    for note in network.notes:
        out.print(f"Note: {note}.")


def _tables(network: Network, weights: int, macs: int) -> Iterator[Table]:
    for layout in LAYOUTS:
        yield _table(network, layout, weights, macs)


def _table(network: Network, layout: _Layout, weights: int, macs: int) -> Table:
    def number(value: int) -> str:
        return f"{value:,}" if layout.exact else quantity(value, "")

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_footer=True)
    table.add_column("layer", f"{len(network.layers)} layers", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    if layout.inputs:
        table.add_column("input", no_wrap=True)
    table.add_column("output", no_wrap=True)
    table.add_column("weights", number(weights), justify="right", no_wrap=True)
    table.add_column("MACs", number(macs), justify="right", no_wrap=True)
    if not network.is_chain:
        table.add_column("reads", f"{len(network.edges)} edges", no_wrap=True)
    for at, layer in enumerate(network.layers):
        cells = [_cut(layer.name, layout.most_characters), layer.kind, *([str(layer.input)] if layout.inputs else [])]
        cells += [str(layer.output), number(layer.weights), number(layer.macs_at_output)]
        cells += [] if network.is_chain else [_reads(network, at, layout.most_named)]
        table.add_row(*map(Text, cells))
    return table


def _cut(name: str, most: int | None) -> str:
    """A name without its middle where it is too long; its end tells layers apart."""
    if most is None or len(name) <= most:
        return name
    return f"{name[: most // 3]}...{name[len(name) - (most - most // 3 - 3) :]}"


def _reads(network: Network, at: int, most_named: int) -> str:
    """The producers of a layer's input; '' where that is the layer before it, as in a chain."""
    producers = [edge.producer for edge in network.edges if edge.consumer == at]
    if producers == [at - 1]:
        return ""
    if not producers:
        return "the input" if at else ""
    if not most_named:
        return f"{len(producers)} layer{'s' * (len(producers) > 1)}"
    names = [network.layer_names[producer] for producer in producers]
    if len(names) > most_named + 1:
        return f"{', '.join(names[:most_named])} and {len(names) - most_named} more"
    return ", ".join(names)
