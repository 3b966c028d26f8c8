"""Small validators for the fields of specifications; each names object.field, the value, and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hypar_exp.errors import UserError, did_you_mean

LEAST_USABLE, MOST_USABLE = 1e-30, 1e30
"""Beyond these a number of ours has no meaning, and quotients of two such leave the range of floats."""


def require_number(owner: str, spec: object, *names: str, above: float | None = 0.0, most: float = MOST_USABLE) -> None:
    """Every named field is a number above `above` (None: at least 0) and at most `most`, and 0 or a usable one."""
    for name in names:
        _require(f"{owner}.{name}".removeprefix("."), getattr(spec, name), above, most)


def require_numbers(owner: str, spec: object, *names: str, above: float | None = 0.0) -> None:
    """Every named field is such a number, or a list of them, or None."""
    for name in names:
        value: Any = getattr(spec, name)
        for number in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
            if number is not None:
                _require(f"{owner}.{name}", number, above, MOST_USABLE)


def _require(key: str, value: Any, above: float | None, most: float) -> None:
    low = f"above {above:g}" if above is not None else "of at least 0"
    if not _is_finite(value) or value > most or (value < 0 if above is None else value <= above):
        limited = most != MOST_USABLE or (_is_finite(value) and value > most)
        high = f" and at most {most:g}" if limited else ""
        raise UserError(f"{key} must be a finite number {low}{high} (got {shortened(value)})")
    if 0 < value < LEAST_USABLE:
        raise UserError(f"{key} must be at least {LEAST_USABLE:g} (got {shortened(value)})")


MOST_WHOLE = 2**53
"""Larger whole numbers are not all different as floats, and no database holds them."""


def require_whole(owner: str, name: str, value: Any, *, least: int, most: int = MOST_WHOLE) -> None:
    """`value` is a whole number from `least` to `most`."""
    if not is_whole(value, least, most):
        limited = most != MOST_WHOLE or is_whole(value, least, math.inf)
        allowed = f"from {least} to {most}" if limited else f"of at least {least}"
        raise UserError(f"{owner}.{name} must be a whole number {allowed} (got {shortened(value)})".removeprefix("."))


def is_whole(value: Any, least: int, most: float = MOST_WHOLE) -> bool:
    """Whether it is a whole number from `least` to `most`; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


LONGEST_VALUE = 60


def shortened(value: Any) -> str:
    """A value as a sentence quotes it: a very long one by its beginning."""
    text = f"a number of {math.log10(abs(value)):.0f} digits" if _is_huge(value) else repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= 10**LONGEST_VALUE


def _is_finite(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def checked_coefficients(owner: str, coefficients: Mapping[str, float], known: Sequence[str]) -> list[float]:
    """The coefficients in the order of `known`, 0 for what is left out; each is finite and at least 0."""
    for key, value in coefficients.items():
        if key not in known:
            raise UserError(f"{owner} has no key '{key}'{did_you_mean(str(key), known)}")
        if not _is_finite(value) or not 0 <= value <= MOST_USABLE:
            raise UserError(f"{owner}.{key} must be a finite number of at least 0 (got {shortened(value)})")
    return [float(coefficients.get(key, 0.0)) for key in known]
