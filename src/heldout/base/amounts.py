"""Parses and shows amounts as people write them: bytes and seconds."""

from __future__ import annotations

import math
import re
from typing import Any

from heldout.base.errors import Argument, OptionError, Sentence

_UNITS = {"": 1, "b": 1} | {
    name: base**power
    for power, letter in enumerate("kmgt", 1)
    for name, base in ((letter, 1000), (f"{letter}b", 1000), (f"{letter}ib", 1024))
}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_bytes(amount: Any, option: str) -> int | None:
    """Parse a number of bytes from a count or a text with a unit; None stays None.

    >>> parse_bytes("2GB", "fit_memory"), parse_bytes("512 MiB", "fit_memory"), parse_bytes(1e6, "fit_memory")
    (2000000000, 536870912, 1000000)
    """
    if amount is None:
        return None
    count = math.nan
    if isinstance(amount, str):
        match = _AMOUNT.fullmatch(amount)
        if match and match[2].lower() in _UNITS:
            count = float(match[1]) * _UNITS[match[2].lower()]
    elif isinstance(amount, int | float) and not isinstance(amount, bool):
        count = float(amount)
    if not 1 <= count < math.inf:
        raise OptionError(
            Sentence('{} is not a number of bytes, nor a text such as "2GB" or "512MiB".', Argument(option, amount))
        )
    return int(count)


def parse_seconds(amount: Any, option: str) -> float | None:
    """Check a number of seconds above 0; None stays None.

    >>> parse_seconds(90, "timeout")
    90.0
    """
    if amount is None:
        return None
    number = isinstance(amount, int | float) and not isinstance(amount, bool)
    if not number or not 0 < amount < math.inf:
        raise OptionError(Sentence("{} is not a number of seconds above 0.", Argument(option, amount)))
    return float(amount)


def show_bytes(count: float) -> str:
    """Show a number of bytes for people.

    >>> show_bytes(1_234_567_890), show_bytes(45_600), show_bytes(12)
    ('1.23 GB', '45.6 kB', '12 B')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def show_seconds(seconds: float) -> str:
    """Show a span of time for people.

    >>> show_seconds(0.25), show_seconds(75), show_seconds(8000)
    ('0.25 s', '1 min 15 s', '2 h 13 min')
    """
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
