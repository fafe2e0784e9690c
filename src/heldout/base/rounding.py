"""Rounds numbers for people: two significant digits of the width of an interval decide."""

from __future__ import annotations

from math import floor, isfinite, log10
from typing import Any


def digits_of(low: Any, high: Any) -> int | None:
    """Return the decimals that show two digits of the width of an interval; negative for hundreds and more.

    >>> digits_of(0.964, 0.988), digits_of(27_900, 31_200), digits_of(None, None)
    (3, -2, None)
    """
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    width = abs(high - low)
    return 1 - floor(log10(width) + 1e-9) if width > 0 and isfinite(width) else None


def rounded(value: float, digits: int | None, *, sign: bool = False) -> str:
    """Return a number to these decimals, with commas; `sign` adds a plus. Without decimals: four significant digits.

    >>> rounded(29_437.2, -2), rounded(0.97934, 3), rounded(451.2, -2, sign=True), rounded(-0.0001, 2)
    ('29,400', '0.979', '+500', '0.00')
    >>> rounded(29_437.2, None), rounded(1e-12, None)
    ('29,437', '1e-12')
    """
    if digits is None or digits > 6 or abs(value) >= 1e15:
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
    near = round(float(value), digits) + 0.0
    return f"{near:{'+' * (sign and near != 0)},.{max(digits, 0)}f}"


def percent(value: float, digits: int | None = None) -> str:
    """Return a share in per cent, by default rounded to whole ones, near 0 % and 100 % to two digits of what is left.

    >>> percent(0.97934, 3), percent(0.6274), percent(0.0042), percent(0.9991)
    ('97.9 %', '63 %', '0.42 %', '99.910 %')
    """
    if digits is None:
        rest = min(abs(value), abs(1 - value))
        digits = 1 - floor(log10(rest) + 1e-9) if 1e-9 < rest < 0.01 else 2
    return f"{rounded(100 * round(value, max(digits, 2)), max(digits - 2, 0))} %"  # as the share itself is rounded
