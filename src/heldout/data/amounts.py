"""Reads columns of text as numbers: thousands separators, other decimal marks, currencies and per cent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from heldout.base.words import clipped, listed
from heldout.task.column_kinds import NUMBERS, kind_named

if TYPE_CHECKING:
    import pandas as pd

_UNITS = r"([$€£¥₹₽₩₺₪฿%]|EUR|USD|GBP|CHF|JPY|CAD|AUD|CNY|INR|SEK|NOK|DKK|PLN|CZK|BRL)"
_AMOUNT = re.compile(rf"([-+]?) ?{_UNITS}? ?([-+]?) ?([0-9][0-9., ']*?|[.,][0-9]+) ?{_UNITS}?")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "\u2212": "-"})
_GROUPS = ("", ",", ".", "'", " ")
_HEAD = 20  # values that tell whether a column may hold amounts


def read_amounts(
    frame: pd.DataFrame, types: Mapping[str, str], *, decimal: str | None, usual: str = "."
) -> tuple[pd.DataFrame, str]:
    """Return the frame with columns of amounts as numbers, and how these were read, in words.

    Text columns of which every value is an amount are converted. Those in `types` are converted only if they are to be
    numbers, and then their other values stay as they are, to be refused later. `decimal` and `usual` are those of
    `plain_numbers`.
    """
    import pandas as pd

    changed: dict[str, Any] = {}
    words: list[str] = []
    for name, dtype in frame.dtypes.items():
        asked = types.get(str(name))
        if not pd.api.types.is_string_dtype(dtype) or (asked is not None and kind_named(asked) != NUMBERS):
            continue
        values = frame[name]
        present = values.dropna()
        if asked is None and not all(map(_amount, present.head(_HEAD))):
            continue
        texts = present.unique().tolist()
        plain, example = plain_numbers(texts, decimal=decimal, usual=usual)
        if asked is not None:
            changed[str(name)] = values.astype(object).map(lambda text, of=plain: of.get(text, text))
        elif len(plain) == len(texts) > 0:
            changed[str(name)] = pd.to_numeric(values.astype(object).map(plain))
        if str(name) in changed and example:
            words.append(f"{name} ({example})")
    return (frame.assign(**changed) if changed else frame), listed(words)


def plain_numbers(texts: Iterable[Any], *, decimal: str | None = None, usual: str = ".") -> tuple[dict[str, str], str]:
    """Return the texts that are amounts, each with its number as Python writes it, and an example of that in words.

    Amounts have one and the same unit, or none, and are written in the one way that fits most of them; if several do,
    in the one with the decimal mark `usual`. With `decimal` no other mark is tried.

    >>> plain_numbers(["€ 1.234,50", "-3 €", "n/a"])
    ({'€ 1.234,50': '1234.50', '-3 €': '-3'}, "'€ 1.234,50' is 1234.50")
    >>> plain_numbers(["1,234", "56"])[1]
    "'1,234' is 1234; --decimal , makes it 1.234"
    """
    found = {text: match for text in texts if (match := _amount(text)) is not None}
    counts = Counter(unit for match in found.values() for unit in match.group(2, 5) if unit)
    units = {None, *(unit for unit, _ in counts.most_common(1))}
    signed = {
        text: (match[1] or match[3]) + match[4]
        for text, match in found.items()
        if {match[2], match[5]} <= units and not (match[1] and match[3]) and not (match[2] and match[5])
    }
    marks = (decimal,) if decimal else (usual, "," if usual == "." else ".")
    ways = [(mark, group) for mark in marks for group in _GROUPS if group != mark]
    readings = {way: _read(signed, *way) for way in ways}
    best = max(readings, key=lambda way: len(readings[way]))
    plain = readings[best]
    for (mark, _), other in readings.items():
        for text in plain if len(other) == len(plain) else ():
            if other.get(text, plain[text]) != plain[text]:
                return plain, f"{clipped(text, 30)!r} is {plain[text]}; --decimal {mark} makes it {other[text]}"
    changed = next((text for text in plain if plain[text] != text), None)
    return plain, "" if changed is None else f"{clipped(changed, 30)!r} is {plain[changed]}"


@cache
def number_form(mark: str, group: str) -> re.Pattern[str]:
    """Return the pattern of numbers with this decimal mark and this separator of thousands."""
    grouped = rf"[1-9][0-9]{{0,2}}(?:{re.escape(group)}[0-9]{{3}})+(?:{re.escape(mark)}[0-9]+)?|" if group else ""
    return re.compile(rf"[-+]?(?:{grouped}[0-9]*(?:{re.escape(mark)}[0-9]+)?)(?:[eE][-+]?[0-9]+)?")


def _read(signed: Mapping[str, str], mark: str, group: str) -> dict[str, str]:
    """Return the numbers that are written in this way, as Python writes them."""
    form = number_form(mark, group)
    return {text: body.replace(group, "").replace(mark, ".") for text, body in signed.items() if form.fullmatch(body)}


def _amount(value: Any) -> re.Match[str] | None:
    return _AMOUNT.fullmatch(value.translate(_SPACES).strip()) if isinstance(value, str) else None
