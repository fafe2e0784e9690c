"""Decides whether a column to predict holds classes or numbers, and says why; Python and the command use this."""

from __future__ import annotations

from typing import Any

import pandas as pd

from heldout.base.errors import Argument, Sentence, TargetError
from heldout.data.amounts import plain_numbers
from heldout.task.source import some_rows
from heldout.task.target import few_enough_for_classes, looks_like_classes


def target_kind(target: pd.Series[Any], *, wanted: bool | None, command: bool = False) -> tuple[bool, Sentence]:
    """Return whether a column to predict is classes, as requested or inferred, and the reason in words.

    Where nothing was requested, numbers with a text among them and texts that never repeat are refused: each value
    would become a class. `command` says that the user can name options.
    """
    is_bool = pd.api.types.is_bool_dtype(target.dtype)
    numeric = pd.api.types.is_numeric_dtype(target.dtype) and not is_bool
    if target.dtype.kind in "mM":
        raise TargetError(f"The target {target.name!r} holds dates. Turn it into a number, such as days from a date.")
    if wanted is False and not numeric:
        raise TargetError(
            Sentence(
                "{} needs numbers, but the target {!r} holds {}. Leave {} out for classification.",
                regression := Argument("classification", False, of="learner"),
                target.name,
                first_text(target),
                regression,
            )
        )
    values = target.dropna()
    count = int(values.nunique())
    if not numeric:
        _refuse_mixed(values, count, wanted=wanted, command=command)
    if wanted is not None:
        return wanted, Sentence(f"{count} classes, as asked" if wanted else "numbers, as asked")
    if not numeric:
        return True, Sentence(f"{count} classes")
    if looks_like_classes(values.to_numpy(dtype=float)):
        amounts = Argument("classification", False, of="learner")
        return True, Sentence("{0} classes, being {0} whole numbers ({1} if they are amounts)", count, amounts)
    return False, Sentence("numbers")


def _refuse_mixed(values: pd.Series[Any], count: int, *, wanted: bool | None, command: bool) -> None:
    """Refuse numbers with a text among them, which would each become a class, and texts that never repeat."""
    if few_enough_for_classes(count, len(values)):
        return
    texts = values.astype(str)
    amounts = texts.isin(list(plain_numbers(texts.unique())[0]))
    if wanted is None and len(values) / 2 < amounts.sum() < len(values):
        row, text = values.index[~amounts][0], str(values[~amounts].iloc[0])
        raise TargetError(
            Sentence(
                "The target {!r} holds numbers and, in {}, the text {!r}. Correct it, {}or add {} if the numbers are "
                "classes.",
                values.name,
                some_rows([row]),
                text[:40],
                "name it by --missing if it stands for a missing value, " * command,
                Argument("classification", True, of="learner"),
            )
        )
    if count == len(values):
        way = f"--type {values.name}=number says which is no number" if command else "make them numbers"
        raise TargetError(
            f"The target {values.name!r} is {first_text(values)}, and no two rows have the same, so that there "
            f"are no classes to learn. If these are amounts, {way}."
        )


def first_text(values: pd.Series[Any]) -> str:
    """Return what a column holds instead of numbers, for an error."""
    present = values.dropna()
    return f"text ({str(present.iloc[0])!r})" if len(present) else "nothing but missing values"
