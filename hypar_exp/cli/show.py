"""`python -m hypar_exp.show NETWORK`: what a network is made of, as a table, as a picture, or as our YAML."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypar_exp.cli.endings import run_command
from hypar_exp.errors import UserError
from hypar_exp.networks import Network, load, network_yaml

DESCRIPTION = """Print the layers of a network: name, kind, what it reads, shapes, weights and multiply-accumulates.

NETWORK is a name of conf/network (resnet50), or a file: YAML of the same form, .onnx, .csv of SCALE-Sim, .json of
Calculon, .txt of AccPar or PipeDream. Options of a file's reader follow as KEY=VALUE, for example
  python -m hypar_exp.show model.onnx 'shapes={tokens: 128}'"""


def main() -> None:
    """The command `hypar-exp show`."""
    run_command(show)


def show(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks for.

    Raises:
        UserError: a network that cannot be loaded, or a picture that cannot be written.
    """
    asked = _parser().parse_args(arguments)
    network = load(asked.network, **_options(asked.options))
    if asked.picture is not None:
        _write_picture(network, Path(asked.picture))
    if asked.yaml:
        print(network_yaml(network), end="")
    elif asked.picture is None:
        from hypar_exp.reporting.network_table import show_network

        show_network(network)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hypar_exp.show", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", metavar="NETWORK", help="a name of conf/network, or a file")
    parser.add_argument("options", metavar="KEY=VALUE", nargs="*", help="options of the file's reader")
    parser.add_argument("--picture", metavar="FILE.svg", help="draw the graph into a file instead of printing a table")
    parser.add_argument(
        "--yaml", action="store_true", help="print the network as YAML for conf/network or network=file"
    )
    return parser


def _options(given: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE pairs, values as YAML; `network.` in front, as on the main command line, may be there."""
    import yaml

    options: dict[str, Any] = {}
    for option in given:
        key, equals, value = option.partition("=")
        if not equals:
            raise UserError(f"an option of a network's file is KEY=VALUE (got {option!r})")
        try:
            options[key.removeprefix("network.")] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise UserError(f"the value of {key} is not understood (got {value!r})") from None
    return options


def _write_picture(network: Network, file: Path) -> None:
    from hypar_exp.reporting.network_picture import network_svg

    if file.suffix.lower() != ".svg":
        raise UserError(f"--picture writes SVG; the file must end in .svg (got {str(file)!r})")
    file.write_text(network_svg(network), encoding="utf-8")
    print(f"Wrote {file}")
