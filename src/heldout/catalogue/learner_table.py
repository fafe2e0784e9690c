"""The catalogue as a table for people: what docs/learners.md shows, made from the entries themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from heldout.catalogue.entries import CATALOGUE, Entry
from heldout.catalogue.preparation import CODED, MEASURED, NOTHING, SCALED, UNSCALED, Table
from heldout.task.column_kinds import KINDS, NUMBERS

BEGIN, END = "<!-- made from the catalogue: begin -->", "<!-- made from the catalogue: end -->"
_PREPARED = {
    SCALED: "scaled",
    MEASURED: "scaled, texts in few columns",
    UNSCALED: "filled in",
    CODED: "as they are, categories coded",
    NOTHING: "–",
}


def learner_table() -> str:
    """A row a learner: what it is for, its columns, and the space that is searched on a table of 500 rows.

    >>> learner_table().splitlines()[2]
    '| `linear` | least squares, nothing to tune | numbers | scaled | – |'
    """
    head = ["| name | what it is | for | columns | searched |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *map(_row, CATALOGUE.values())])


def renewed(page: str) -> str:
    """The page with the table between its two marks made anew."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"The page has no {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{learner_table()}\n{END}{after}"


def _row(entry: Entry) -> str:
    kinds = [word for word, there in (("classes", entry.classifier), ("numbers", entry.regressor)) if there]
    words = [f"`{entry.name}`", entry.words, " and ".join(kinds), _PREPARED[entry.preparation], _searched(entry)]
    return f"| {' | '.join(words)} |"


def _searched(entry: Entry) -> str:
    """The values of each parameter; where they depend on the target, those for classes and those for numbers."""
    spaces = {
        word: "; ".join(_parameters(entry.space(_example(classes=classes))))
        for word, classes, make in (("classes", 2, entry.classifier), ("numbers", 0, entry.regressor))
        if make is not None
    }
    if len(set(spaces.values())) == 1:
        return next(iter(spaces.values())) or "–"
    return "<br>".join(f"{word}: {space}" for word, space in spaces.items())


def _example(*, classes: int) -> Table:
    names = [f"x{number}" for number in range(10)]
    kinds = {kind: names if kind == NUMBERS else [] for kind in KINDS}
    return Table(rows=500, kinds=kinds, plain=True, classes=classes)


def _parameters(space: dict[str, Any]) -> Iterator[str]:
    for name, values in space.items():
        if isinstance(values, np.ndarray):
            yield f"`{name}` {values[0]:.0e} … {values[-1]:.0e}, {len(values)} values, even on the log scale"
        else:
            yield f"`{name}` {', '.join(f'{v:.4g}' if isinstance(v, float) else str(v) for v in values)}"
