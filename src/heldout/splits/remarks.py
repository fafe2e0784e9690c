"""Findings about drawn splits that are not errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.base.words import percent
from heldout.splits.drawn import Splits
from heldout.splits.groups import group_codes, loads_of
from heldout.splits.leave_one_out import LeaveOneOut
from heldout.splits.strata import LABEL, strata_to_keep
from heldout.splits.strategy import Distance, distance_words, is_positive, nanoseconds, plain_number
from heldout.splits.summary import counts_by_side
from heldout.task import Task

MOST_INNER = 100  # validation splits checked at most, one per test part


def rare_class_note(task: Task, rows: Rows, k: int) -> str | None:
    """Describe a stratum that is too rare for k folds, and name the K that would do; None if there is none.

    A stratum (or class, or label) is too rare if it has fewer rows than folds, or fewer groups if groups stay whole.
    """
    strata, groups = strata_to_keep(task, rows, at_least=k), group_codes(task, rows)
    counts = strata.counts if groups is None else loads_of(groups, strata).groups_with_each
    rarest, least = int(np.argmin(counts)), int(counts.min())
    if least >= k:
        return None
    name, others = strata.named(rarest), int(np.sum(counts < k)) - 1
    if groups is None:
        unit, has, have, gives = f"has {least} row", "has", "have", "gives each fold at least one"
    else:
        unit, has, have, gives = f"is in {least} group", "is", "are", "can give each fold one"
    also = "" if others == 0 else f" (so {f'{has} one' if others == 1 else f'{have} {others}'} more)"
    advice = f"KFold({least}) {gives}." if least > 1 else "No number of folds gives each fold one."
    return (
        f"{name[0].upper()}{name[1:]} {unit}{'s' * (least > 1)}, fewer than the {k} folds{also}, so some folds hold "
        f"out none of it. {advice}"
    )


def class_notes(task: Task, outer: Splits, inner: Sequence[Splits] = ()) -> list[str]:
    """Return the :func:`class_note` of the test splits, and the first one of the validation splits inside them."""
    notes = [class_note(task, outer)]
    inside = ((part, class_note(task, splits)) for part, splits in enumerate(inner[:MOST_INNER]))
    notes.append(next((f"Validation inside test part {part}: {note}" for part, note in inside if note), None))
    return [note for note in notes if note]


def class_note(task: Task, splits: Splits) -> str | None:
    """Describe parts that cannot have every class, stratum or label in its share; None if there are none.

    Nothing is said of parts that hold out single rows, groups or times, nor of splits that we did not draw.
    """
    recipe = splits.recipe
    if len(task.y) != task.size or recipe.kind not in ("kfold", "holdout", "resample", "forward"):  # or a stream
        return None
    note = None
    if recipe.stratified and recipe.kind == "kfold" and not recipe.timed:
        note = rare_class_note(task, splits.rows, len(splits) // recipe.repeats)
    elif recipe.stratified and not recipe.grouped:
        note = scarce_class_note(task, splits)
    return note or absent_class_note(task, splits)


def scarce_class_note(task: Task, splits: Splits) -> str | None:
    """Describe a stratum whose share of a hold-out rounds to zero rows, so that one row is held out; else None."""
    strata = strata_to_keep(task, splits.rows, at_least=2)
    if strata.word == LABEL:
        return None
    n, held = len(splits.rows), int(splits.held_sizes[0])
    rarest = int(np.argmin(strata.counts))
    count = int(strata.counts[rarest])
    if count * held >= n / 2:
        return None
    name = strata.named(rarest)
    return (
        f"{name[0].upper()}{name[1:]} has {count} of {n} rows, too few for a share of {held}: a part holds out one of "
        f"them, {percent(1 / held, 3)} of its rows for {percent(count / n, 3)} of all, so its errors count more "
        "than they should. Hold out more rows, or use KFold, or stratify=False."
    )


def absent_class_note(task: Task, splits: Splits) -> str | None:
    """Describe the parts that lack a class, stratum or label on one side; None if there are none.

    It applies if the draw is stratified, or if groups stay whole, which can remove a class unnoticed.
    """
    recipe = splits.recipe
    if not (recipe.stratified or (recipe.grouped and task.classes is not None)):
        return None
    strata = strata_to_keep(task, splits.rows, at_least=max(2, len(splits) // recipe.repeats))
    sides = zip(("train on", "hold out"), counts_by_side(splits, strata), strict=True)
    lacking = {side: np.count_nonzero(counts == 0, axis=0) for side, counts in sides}
    worst = int(np.argmax(lacking["train on"] * (len(splits) + 1) + lacking["hold out"]))
    parts_without = {side: int(parts[worst]) for side, parts in lacking.items()}
    lacks = [f"{count} of {len(splits)} parts {side} none of it" for side, count in parts_without.items() if count]
    if not lacks:
        return None
    name = strata.named(worst)
    ways = "Use fewer parts or a larger share"
    if recipe.grouped and not recipe.stratified and recipe.kind != "forward":
        ways += ", or stratify=True, which deals groups by their classes"
    return (
        f"{name[0].upper()}{name[1:]} is not in every part: {', '.join(lacks)}"
        f"{', and what is not trained on is not predicted' * bool(parts_without['train on'])}. {ways}."
    )


def mixed_time_note(task: Task, splits: Splits) -> str | None:
    """Warn if splits not drawn here train on rows from within the time range of their held-out rows; else None."""
    if task.time is None or splits.recipe.kind not in ("foreign", "given"):
        return None
    for part in range(len(splits)):
        held, train = task.time[splits.held_rows(part)], task.time[splits.train_rows(part)]
        amid = np.count_nonzero((train >= held.min()) & (train <= held.max()))
        if amid:
            return (
                f"Time is declared, but the splits given ({splits.recipe.words}) do not follow it: part {part} trains "
                f"on {amid} rows from the time of the rows it holds out. Where neighbours in time resemble each other "
                "the risk then looks too good. Use Forward or KFold of heldout, or leave time out."
            )
    return None


def near_validation_note(test: Any, validation: Any) -> str | None:
    """Warn if the test keeps training rows farther from held-out rows than the validation does; else None.

    `test` is a strategy, or the recipe of drawn splits. Splitters without known distances, and distances that cannot be
    compared (rows and time), are passed over.
    """
    if not hasattr(validation, "buffer"):
        asked = getattr(test, "buffer", None)
        if not isinstance(validation, LeaveOneOut) or not is_positive(asked):
            return None
        return _words("buffer", asked, None, fix=f"Use validation=KFold(5, buffer={asked!r}).")
    for name in ("buffer", "embargo"):
        asked, inside = getattr(test, name, None), getattr(validation, name, None)
        if hasattr(validation, name) and _farther(asked, inside):
            return _words(name, asked, inside, fix=f"Use validation={replace(validation, **{name: asked})!r}.")
    return None


def _farther(one: Distance | None, other: Distance | None) -> bool:
    """Return whether the first distance is known to be the larger."""
    if not is_positive(one):
        return False
    if not is_positive(other):
        return True
    if isinstance(one, int) or isinstance(other, int):
        return isinstance(one, int) and isinstance(other, int) and one > other
    lengths = plain_number(one), plain_number(other)
    if lengths[0] is not None and lengths[1] is not None:
        return lengths[0] > lengths[1]
    return lengths == (None, None) and nanoseconds(one) > nanoseconds(other)


def _words(name: str, asked: Any, inside: Any, *, fix: str) -> str:
    has = f"one of {distance_words(inside)}" if is_positive(inside) else "none"
    article = "an" if name == "embargo" else "a"
    return (
        f"The test has {article} {name} of {distance_words(asked)}, the validation has {has}. "
        "Candidates are then chosen on rows that lie near those they were trained on, which favours the ones that "
        f"memorise; the test tells the risk of that choice all the same. {fix}"
    )
