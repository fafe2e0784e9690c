"""What was chosen, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.words import line, number

NOTHING = "nothing: every candidate failed"


def choice_words(family: Any, params: Mapping[str, Any]) -> str:
    """A family and its parameters on one line, each by the last part of its name where that tells them apart.

    >>> choice_words("Pipeline", {"ridge__alpha": 0.1, "select__k": 5})
    'Pipeline alpha=0.1, k=5'
    """
    short = [name.rpartition("__")[2] for name in params]
    names = short if len(set(short)) == len(short) else list(params)
    words = ", ".join(
        f"{name}={number(value) if isinstance(value, float) else value}"
        for name, value in zip(names, params.values(), strict=True)
    )
    return line(f"{family} {words}")


def words_of_choice(choice: Mapping[str, Any]) -> str:
    """A row of a summary's choices in words."""
    if choice["candidate"] < 0:
        return NOTHING
    params = {
        name.removeprefix("param_"): value
        for name, value in choice.items()
        if name.startswith("param_") and value is not None
    }
    return choice_words(choice["family"], params)
