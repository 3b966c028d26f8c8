"""Small validators for the fields of specifications; each names object.field, the value, and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hypar_exp.errors import UserError, did_you_mean


def require_number(owner: str, spec: object, *names: str, above: float | None = 0.0, most: float = math.inf) -> None:
    """Every named field is a finite number above `above` (None: at least 0) and at most `most`."""
    for name in names:
        value: Any = getattr(spec, name)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        low = f"above {above:g}" if above is not None else "of at least 0"
        if not number or value > most or (value < 0 if above is None else value <= above):
            high = "" if math.isinf(most) else f" and at most {most:g}"
            raise UserError(f"{owner}.{name} must be a finite number {low}{high} (got {value!r})")


def require_whole(owner: str, name: str, value: Any, *, least: int, most: int | None = None) -> None:
    """`value` is a whole number from `least` to `most`."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise UserError(f"{owner}.{name} must be a whole number {allowed} (got {value!r})".removeprefix("."))


def checked_coefficients(owner: str, coefficients: Mapping[str, float], known: Sequence[str]) -> list[float]:
    """The coefficients in the order of `known`, 0 for what is left out; each is finite and at least 0."""
    for key, value in coefficients.items():
        if key not in known:
            raise UserError(f"{owner} has no key '{key}'{did_you_mean(str(key), known)}")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            raise UserError(f"{owner}.{key} must be a finite number of at least 0 (got {value!r})")
    return [float(coefficients.get(key, 0.0)) for key in known]
