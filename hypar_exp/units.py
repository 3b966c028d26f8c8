"""Numbers as a person reads them: three significant digits and an SI prefix."""

from __future__ import annotations

import math

_PREFIXES = {12: "T", 9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "u", -9: "n", -12: "p"}


def quantity(value: float, unit: str) -> str:
    """`quantity(0.00123, "s")` is "1.23 ms"; nobody reads kiloseconds, or parts of bytes and counts (unit "")."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}".rstrip()
    rounded = float(f"{value:.3g}")
    power = min(max(3 * math.floor(math.log10(abs(rounded)) / 3), -12), 12)
    if unit in ("B", ""):
        power = max(power, 0)
    if unit == "s":
        power = min(power, 0)
    return f"{significant(rounded / 10.0**power)} {_PREFIXES[power]}{unit}".rstrip()


def percent(share: float) -> str:
    """`percent(0.0191)` is "1.91 %"; two decimals are enough where they show something."""
    value = 100 * share
    return f"{value:.2f} %" if 0.01 <= value < 10 else f"{significant(value)} %"


def percent_at_most(share: float) -> str:
    """A bound in percent, two significant digits or whole, rounded up: `percent_at_most(0.001506)` is "0.16 %"."""
    if share <= 0 or not math.isfinite(share):
        return f"{100 * share:g} %"
    digits = max(0, 1 - math.floor(math.log10(100 * share)))
    scaled = 100 * share * 10.0**digits
    up = round(scaled) if math.isclose(scaled, round(scaled), rel_tol=1e-12) else math.ceil(scaled)
    return f"{up / 10.0**digits:.{digits}f} %"


def significant(value: float) -> str:
    """Three significant digits without an exponent: 2.73, 16.0, 0.0121, 1,230."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
    return f"{value:,.{decimals}f}"


def without_zeros(words: str) -> str:
    """`3.20 GB` as `3.2 GB`."""
    number, space, unit = words.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit
