"""Distances as users write them: a whole number of rows, or a length of time.

A whole number is rows. Everything else is time: a text with units ("7d", "1d 12h"), a timedelta of any library, or,
where the task's time is plain numbers, a number in quotes ("3": three units of that time). A distance in time is kept
as a text, so that a strategy stays a plain value that prints, hashes and compares as it was asked.
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from heldout.base.errors import SplitError

Distance = int | str

_DAY = 86_400 * 10**9
_NAMES_AND_SIZES = (
    ("w week weeks", 7 * _DAY),
    ("d day days", _DAY),
    ("h hour hours", 3_600 * 10**9),
    ("min minute minutes", 60 * 10**9),
    ("s sec second seconds", 10**9),
    ("ms", 10**6),
    ("us", 10**3),
    ("ns", 1),
)
NANOSECONDS = {name: size for names, size in _NAMES_AND_SIZES for name in names.split()}
_WRITTEN = ("d", "h", "min", "s", "ms", "us", "ns")  # the units of a distance in its one form
OF_NUMPY = {"W": "w", "D": "d", "m": "min", "M": "month", "Y": "year"}  # units that numpy calls otherwise
_NO_FIXED_LENGTH = ("m", "mo", "month", "months", "q", "quarter", "quarters", "y", "year", "years")
_NUMBER = r"\d+(?:\.\d+)?"
_WAYS = "Write rows as a whole number (7), and time as '7d', '12h', '30min' or a timedelta"


def as_distance(value: Any, *, what: str) -> Distance | None:
    """A distance in its one form: rows as an int, time as a text such as "36h"; None where none was asked.

    >>> as_distance(7, what="buffer"), as_distance("1 week", what="buffer"), as_distance("1d 12h", what="buffer")
    (7, '7d', '36h')
    >>> as_distance(timedelta(minutes=90), what="buffer"), as_distance("3", what="buffer")
    ('90min', '3')
    """
    if value is None:
        return None
    if hasattr(value, "to_timedelta64"):  # pandas keeps nanoseconds, which its parent timedelta has no place for
        value = value.to_timedelta64()
    if isinstance(value, np.timedelta64):
        value = _written(value, what)
    if isinstance(value, timedelta):
        value = f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, str):
        return _from_text(value, what)
    if isinstance(value, Integral) and not isinstance(value, bool):
        if value < 0:
            raise SplitError(f"{what} must not be negative, but is {value}. {_WAYS}.")
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool) and isfinite(value):
        raise SplitError(
            f"{what} is {value!r}, which could be rows or time. Write {float(value):.0f} for rows, '{float(value):g}d' "
            f"for days, or '{float(value):g}' in the units of a time that is numbers."
        )
    raise SplitError(f"{what} cannot be {value!r}. {_WAYS}.")


def is_positive(distance: Distance | None) -> TypeGuard[Distance]:
    """Whether a distance was asked for that is not zero.

    >>> is_positive(None), is_positive(0), is_positive("0"), is_positive("0d"), is_positive("1d")
    (False, False, False, False, True)
    """
    return distance not in (None, 0, "0", "0d")


def plain_number(distance: str) -> Fraction | None:
    """The number that a text without a unit says; None where it has one."""
    return Fraction(distance) if re.fullmatch(_NUMBER, distance) else None


def nanoseconds(distance: str) -> int:
    """A length with units, as :func:`as_distance` writes it, in nanoseconds."""
    matched = re.fullmatch(rf"({_NUMBER})([a-z]+)", distance)
    assert matched is not None, "as_distance wrote it"
    return int(matched[1]) * NANOSECONDS[matched[2]]


def distance_words(distance: Distance) -> str:
    """A distance in words.

    >>> distance_words(1), distance_words(7), distance_words("36h"), distance_words("2.5")
    ('1 row', '7 rows', '36h', '2.5 units of time')
    """
    if isinstance(distance, str):
        return distance if plain_number(distance) is None else f"{distance} units of time"
    return "1 row" if distance == 1 else f"{distance} rows"


def _from_text(text: str, what: str) -> str:
    trimmed = text.strip().lower()
    if trimmed.startswith("-"):
        raise SplitError(f"{what} must not be negative, but is {text!r}. {_WAYS}.")
    if re.fullmatch(_NUMBER, trimmed):
        number = Fraction(trimmed)
        return str(number.numerator) if number.denominator == 1 else trimmed
    pieces = re.findall(rf"({_NUMBER})\s*([a-zµ]+)", trimmed)
    if not pieces or re.sub(rf"({_NUMBER})\s*([a-zµ]+)[\s,]*", "", trimmed):
        raise SplitError(f"{what} cannot be read: {text!r}. {_WAYS}.")
    total = sum(Fraction(number) * _size_of(unit, text, what) for number, unit in pieces)
    if total % 1:
        raise SplitError(f"{what} is finer than a nanosecond. {_WAYS}.")
    unit = next(unit for unit in _WRITTEN if total % NANOSECONDS[unit] == 0)
    return f"{total // NANOSECONDS[unit]}{unit}"


def _size_of(unit: str, text: str, what: str) -> int:
    if unit in _NO_FIXED_LENGTH:
        raise SplitError(
            f"{what} is {text!r}, but months and years have no fixed length, and minutes are written 'min'. "
            "Write days: '30d', '365d'."
        )
    if unit not in NANOSECONDS:
        raise SplitError(f"{what} has an unknown unit in {text!r}. {_WAYS}.")
    return NANOSECONDS[unit]


def _written(value: np.timedelta64, what: str) -> str:
    """A numpy length of time as a text with its unit."""
    unit, step = np.datetime_data(value.dtype)
    if np.isnat(value):
        raise SplitError(f"{what} is missing (NaT). {_WAYS}.")
    if unit == "generic":
        raise SplitError(f"{what} is {value!r}, which has no unit. {_WAYS}.")
    return f"{int(value.astype(np.int64)) * step}{OF_NUMPY.get(unit, unit)}"
