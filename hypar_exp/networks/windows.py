"""Sliding windows: the sizes that kernels and pools may have, and how many positions they come to."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from hypar_exp.checks import is_whole, require_whole, shortened
from hypar_exp.errors import UserError
from hypar_exp.networks.layers import Shape

Pair = int | tuple[int, int]
"""One number for height and width, or (height, width)."""


def pair(size: Pair) -> tuple[int, int]:
    """(height, width)."""
    return (size, size) if isinstance(size, int) else size


def window_positions(
    shape: Shape, kernel: Pair, stride: Pair, padding: Pair, rounding: str, *, what: str
) -> tuple[int, int]:
    """Height and width after sliding a window over `shape`.

    Raises:
        UserError: the window is larger than the padded input.
    """
    round_ = ceil if rounding == "up" else floor
    positions = []
    for size, window, step, pad in zip(
        (shape.height, shape.width), pair(kernel), pair(stride), pair(padding), strict=True
    ):
        if size + 2 * pad < window:
            raise UserError(
                f"its {what} of {window} does not fit the {shape} that comes in with padding {pad}; "
                f"it needs at least {window - 2 * pad} in height and width"
            )
        count = round_((size + 2 * pad - window) / step) + 1
        # a window that would start in the padding beyond the input is not taken (Caffe's and PyTorch's rule)
        if rounding == "up" and (count - 1) * step >= size + pad:
            count -= 1
        positions.append(count)
    return positions[0], positions[1]


def transposed_positions(
    shape: Shape, kernel: Pair, stride: Pair, padding: Pair, output_padding: Pair
) -> tuple[int, int]:
    """Height and width that a transposed convolution makes of `shape`: what the convolution would have read.

    Raises:
        UserError: nothing is left of them.
    """
    height, width = (
        (size - 1) * step - 2 * pad + window + more
        for size, window, step, pad, more in zip(
            (shape.height, shape.width), pair(kernel), pair(stride), pair(padding), pair(output_padding), strict=True
        )
    )
    if height < 1 or width < 1:
        raise UserError(f"its padding leaves nothing of the {shape} that comes in")
    return height, width


def require_sizes(
    spec: object,
    *,
    whole: Sequence[str] = (),
    positive: Sequence[str] = (),
    zero_allowed: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> None:
    """Check a specification's sizes.

    Args:
        spec: what has them.
        whole: fields that are a whole number of at least 1.
        positive: fields that are that, or two of them.
        zero_allowed: the same of at least 0.
        optional: fields of these that may be None.

    Raises:
        UserError: one is something else; the sentence names it.
    """
    for field in whole:
        require_whole("", field, getattr(spec, field), least=1)
    for least, fields in ((1, positive), (0, zero_allowed)):
        for field in fields:
            value = getattr(spec, field)
            if value is None and field in optional:
                continue
            sizes = value if isinstance(value, tuple) else (value,)
            numbers = all(is_whole(size, least) for size in sizes)
            if not numbers or (isinstance(value, tuple) and len(value) != 2):
                given = list(value) if isinstance(value, tuple) else value
                raise UserError(
                    f"{field} must be a whole number of at least {least}, or two of them (got {shortened(given)})"
                )
