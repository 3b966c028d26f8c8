"""AccPar's network files (github.com/linghaosong/AccPar, `networks/*.txt`; Song et al., HPCA 2020).

num_layers 2
conv1 CONV        a layer: its name and CONV or FC, then its fields, a line each
in_ch 3
in_fmap_h 224     F_l, what the layer reads
in_fmap_w 224
kernel 3
out_ch 64
out_fmap_h 112    F_{l+1}, what the next layer reads: after pooling
out_fmap_w 112
pool 2            how often smaller pooling made it in height and width
fc1 FC
in_ch 802816
out_ch 10
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypar_exp.errors import did_you_mean
from hypar_exp.networks.layers import Layer, Shape
from hypar_exp.networks.network import Network
from hypar_exp.text_files import Line, read_lines

FIELDS = {
    "CONV": ("in_ch", "in_fmap_h", "in_fmap_w", "kernel", "out_ch", "out_fmap_h", "out_fmap_w", "pool"),
    "FC": ("in_ch", "out_ch"),
}


def load(path: str, name: str | None = None) -> Network:
    """Load a chain of layers from a file in AccPar's form.

    Args:
        path: the file.
        name: the network's name; the file's where it is None.

    Raises:
        UserError: a file that cannot be read or does not have this form, or layers that do not fit each other; the
            sentence names file and line.
    """
    head, *rest = read_lines(path, "network file of AccPar")
    key, _, count = head.text.partition(" ")
    if key != "num_layers":
        raise head.error(f"an AccPar file starts with 'num_layers N' (got {head.text[:40]!r})")
    blocks = _blocks(rest)
    if len(blocks) != head.whole(count.strip(), "num_layers"):
        raise head.error(f"num_layers is {count.strip()}, but the file has {len(blocks)} layers")
    layers: list[Layer] = []
    for block in blocks:
        layers.append(block.layer(layers[-1] if layers else None))
    return Network.chain(name or Path(path).stem, tuple(layers))


@dataclass
class _Block:
    """One layer as the file has it."""

    head: Line
    name: str
    kind: str
    values: dict[str, int] = field(default_factory=dict)

    def layer(self, previous: Layer | None) -> Layer:
        for key in FIELDS[self.kind]:
            if key not in self.values:
                raise self.head.error(f"layer {self.name} ({self.kind}) needs the field '{key}'")
        value = self.values
        if self.kind == "FC":
            arriving, output, own, taps = Shape(value["in_ch"]), Shape(value["out_ch"]), Shape(value["out_ch"]), 1
        else:
            arriving = Shape(value["in_ch"], value["in_fmap_h"], value["in_fmap_w"])
            output = Shape(value["out_ch"], value["out_fmap_h"], value["out_fmap_w"])
            own = Shape(output.channels, output.height * value["pool"], output.width * value["pool"])
            taps = value["kernel"] ** 2
        fits = previous is None or (
            arriving == previous.output if self.kind == "CONV" else arriving.elements == previous.output.elements
        )
        if previous is not None and not fits:
            raise self.head.error(
                f"layer {self.name} reads {arriving}, but {previous.name} before it writes {previous.output}"
            )
        weights = taps * arriving.channels * output.channels
        return Layer(self.name, self.kind.lower(), arriving, output, weights, output_positions=own.positions)


def _blocks(lines: Sequence[Line]) -> list[_Block]:
    blocks: list[_Block] = []
    for line in lines:
        words = line.text.split()
        if len(words) != 2:
            raise line.error(f"a line is 'NAME CONV', 'NAME FC' or 'FIELD NUMBER' (got {line.text[:40]!r})")
        key, value = line.name(words[0]), words[1]
        if value in FIELDS:
            if any(block.name == key for block in blocks):
                raise line.error(f"the layer '{key}' is there twice")
            blocks.append(_Block(line, key, value))
        elif not blocks:
            raise line.error(f"a layer, 'NAME CONV' or 'NAME FC', must come before the field '{key}'")
        elif key not in FIELDS[blocks[-1].kind]:
            known = FIELDS[blocks[-1].kind]
            raise line.error(f"a {blocks[-1].kind} layer has no field '{key}'{did_you_mean(key, known)}")
        elif key in blocks[-1].values:
            raise line.error(f"layer {blocks[-1].name} has the field '{key}' twice")
        else:
            blocks[-1].values[key] = line.whole(value, key)
    return blocks
