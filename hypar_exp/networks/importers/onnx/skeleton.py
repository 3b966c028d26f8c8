"""An ONNX file without its weights: the bytes of large constants are stepped over, and never read from the disk.

A protobuf message is a sequence of fields, each a tag (number and wire type) and a value (protobuf.dev, "Encoding").
Weights are the fields below of a TensorProto; only what can hold one is looked into, and only where it is large.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

MOST_KEPT_BYTES = 4096
"""A larger constant is no shape, and nobody needs to see what is in it."""
DATA = "data"
SCHEMA: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph"},
    "tensor": {4: DATA, 5: DATA, 7: DATA, 9: DATA, 10: DATA, 11: DATA},
}
"""Message -> number of a field -> the message in it (onnx.proto)."""
MOST_VARINT_BYTES = 10
MOST_NESTED = 100
"""Messages within messages, as protobuf itself has it."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_skeleton(file: Path) -> bytes:
    """The file's ModelProto without large constants' data.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no sequence of protobuf fields, or is cut off.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        return _copied(opened, 0, size, "model", MOST_NESTED)


def _copied(file: BinaryIO, start: int, end: int, message: str, nested: int) -> bytes:
    if not nested:
        raise ValueError("nested too deeply")
    kept: list[bytes] = []
    at = start
    while at < end:
        number, begin, past = _field(file, at, end)
        inside = SCHEMA[message].get(number)
        if inside is None or past - begin <= MOST_KEPT_BYTES:
            file.seek(at)
            kept.append(file.read(past - at))
        elif inside is not DATA:
            content = _copied(file, begin, past, inside, nested - 1)
            kept += [_varint(number << 3 | _BYTES), _varint(len(content)), content]
        at = past
    return b"".join(kept)


def _field(file: BinaryIO, at: int, end: int) -> tuple[int, int, int]:
    """The field that begins at `at`: its number, and where its value begins and ends."""
    file.seek(at)
    tag, begin = _read_varint(file, at)
    kind = tag & 7
    if kind == _VARINT:
        _, past = _read_varint(file, begin)
    elif kind == _BYTES:
        length, begin = _read_varint(file, begin)
        past = begin + length
    elif kind in (_FIXED32, _FIXED64):
        past = begin + (4 if kind == _FIXED32 else 8)
    else:
        raise ValueError(f"wire type {kind}")
    if past > end:
        raise ValueError("cut off")
    return tag >> 3, begin, past


def _read_varint(file: BinaryIO, at: int) -> tuple[int, int]:
    """The number that the file reads next, from `at` on, and where it ends."""
    value = 0
    for place in range(MOST_VARINT_BYTES):
        byte = file.read(1)
        if not byte:
            raise ValueError("cut off")
        value |= (byte[0] & 0x7F) << 7 * place
        if byte[0] < 0x80:
            return value, at + place + 1
    raise ValueError("no number")


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
