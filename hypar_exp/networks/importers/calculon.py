"""Calculon's language models (github.com/calculon-ai/calculon, `models/*.json`; Isaev et al., SC 2023).

    {"hidden": 5140, "feedforward": 20560, "seq_size": 2048, "attn_heads": 40, "attn_size": 128, "num_blocks": 40}

A stack of transformer blocks; the embedding and the output head are not in the file, and not in the network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypar_exp.checks import require_whole, shortened
from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.networks.build import build
from hypar_exp.networks.network import Network
from hypar_exp.text_files import Line, read_text

OTHER_FILES = {"an execution": "num_procs", "a system": "networks"}
"""Its files that describe no network, and a key that each of them has."""
FIELDS = ("hidden", "feedforward", "seq_size", "attn_heads", "attn_size", "num_blocks")
MOST_BLOCKS = 10_000
MOST_SIZE = 2**40


def load(path: str, name: str | None = None, blocks: int | None = None) -> Network:
    """Load a stack of transformer blocks from one of Calculon's model files.

    Args:
        path: the file.
        name: the network's name; the file's where it is None.
        blocks: how many blocks to take; the file's number where it is None.

    Raises:
        UserError: a file that cannot be read, is no JSON, or lacks a field; the sentence names it.
    """
    sizes = _sizes(path)
    count = sizes["num_blocks"]
    if blocks is not None:
        require_whole("network", "blocks", blocks, least=1, most=count)
        count = blocks
    wide = sizes["attn_heads"] * sizes["attn_size"]
    layers: dict[str, dict[str, Any]] = {}
    read = "input"
    for block in range(1, count + 1):
        layers[f"block{block}_qkv"] = {"matmul": 3 * wide, "norm": "input"}
        layers[f"block{block}_attention"] = {
            "attention": f"block{block}_qkv",
            "heads": sizes["attn_heads"],
            "dropout": True,
        }
        layers[f"block{block}_output"] = {"matmul": sizes["hidden"], "add": read, "dropout": True}
        layers[f"block{block}_up"] = {"matmul": sizes["feedforward"], "norm": "input", "activation": "gelu"}
        layers[f"block{block}_down"] = {"matmul": sizes["hidden"], "add": f"block{block}_output", "dropout": True}
        read = f"block{block}_down"
    return build(name or Path(path).stem, [sizes["hidden"], sizes["seq_size"]], layers)


def _sizes(path: str) -> dict[str, int]:
    try:
        found = json.loads(read_text(path, "model file of Calculon"))
    except json.JSONDecodeError as error:
        raise Line(Path(path), error.lineno, "").error(f"this is not JSON: {error.msg}") from None
    except RecursionError:
        raise UserError(f"{path}: this is no model file of Calculon") from None
    if not isinstance(found, Mapping):
        raise UserError(f"{path} must map the keys {', '.join(FIELDS)} to whole numbers")
    for what, key in OTHER_FILES.items():
        if key in found:
            raise UserError(
                f"{path} is {what} file of Calculon; a network is in its model file, with {', '.join(FIELDS)}"
            )
    for key in found:
        if key not in FIELDS:
            raise UserError(f"{path} has an unknown key {shortened(key)}{did_you_mean(str(key), FIELDS)}")
    for key in FIELDS:
        if key not in found:
            raise UserError(f"{path} needs the key '{key}'")
        require_whole(path, key, found[key], least=1, most=MOST_BLOCKS if key == "num_blocks" else MOST_SIZE)
    return dict(found)
