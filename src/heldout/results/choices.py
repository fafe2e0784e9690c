"""What was chosen, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    return choice_words(choice["family"], choice["params"])


def params_in(row: Mapping[str, Any], always: Collection[str]) -> dict[str, Any]:
    """The parameters in a row of columns ``param_…``. None is a value where a candidate always sets the parameter.

    Elsewhere it means that this candidate, of another family or of another part of the space, does not set it.
    """
    found = {name.removeprefix("param_"): value for name, value in row.items() if name.startswith("param_")}
    return {name: value for name, value in found.items() if value is not None or name in always}


def with_params(rows: Sequence[Mapping[str, Any]], parameters: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    """Rows of choices, each with its parameters by name; `parameters` are those that each family always sets."""
    return [{**row, "params": params_in(row, parameters.get(str(row["family"]), ()))} for row in rows]
