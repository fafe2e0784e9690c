"""Choosing a candidate from a validation table."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, OptionError, Sentence, SpaceError
from heldout.search.search import Search
from heldout.search.simplicity import simplicity
from heldout.study.answers import PanelTable, mean_over_parts
from heldout.study.cv_results import as_cv_results
from heldout.study.race import SEVERAL_PARTS
from heldout.study.study import Chosen


def choose(search: Search, table: PanelTable) -> Chosen:
    """The candidate that the search's rule picks; the first of the best where means tie exactly.

    A candidate with a failed validation cell, or one that a race dropped, has a NaN mean and cannot be chosen. Where
    rows have weights a validation part counts as much as its rows weigh.
    """
    means = mean_over_parts(table.losses[:, :, 0], table.weights)
    usable = np.isfinite(means)
    failed = int(np.count_nonzero((np.isnan(table.losses[:, :, 0]) & table.answered).any(axis=1)))
    if not usable.any():
        return Chosen(candidate=None, inside=None, tied=0, failed=failed)
    best = int(np.nanargmin(np.where(usable, means, np.nan)))
    tied = int(np.count_nonzero(means == means[best]))
    index = _pick(search, table, means, best)
    return Chosen(candidate=table.candidates[index], inside=float(means[index]), tied=tied, failed=failed)


def check_parts(search: Search, parts: int) -> None:
    """Refuse a rule that cannot choose on this many validation parts."""
    if search.choose == "one_se" and parts < 2:
        raise OptionError(
            Sentence(
                "{} needs at least two validation parts to know a standard error, but there is one.",
                Argument("choose", "one_se"),
            ),
            Sentence("Use {} or {}, or {}.", *SEVERAL_PARTS, Argument("choose", "best")),
        )


def _pick(search: Search, table: PanelTable, means: Any, best: int) -> int:
    if search.choose == "best":
        return best
    if search.choose == "one_se":
        return _simplest_within_one_se(search, table, means, best)
    if callable(search.choose):
        return _own_choice(search, table)
    raise OptionError(f'choose= is "best", "one_se" or a function, not {search.choose!r}.')


def _simplest_within_one_se(search: Search, table: PanelTable, means: Any, best: int) -> int:
    error = _standard_error(table.losses[best, :, 0], table.weights)
    key = simplicity(search)
    near = [c for c in range(len(means)) if means[c] <= means[best] + error]
    return min(near, key=lambda c: (key(table.candidates[c]), means[c], c))


def _standard_error(folds: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Of the mean over parts. With weights each part's squared distance counts by the square of its share."""
    if weights is None:
        return float(folds.std(ddof=1) / np.sqrt(len(folds)))
    shares = weights / weights.sum()
    spread = np.sum(shares**2 * (folds - np.average(folds, weights=weights)) ** 2)
    return float(np.sqrt(spread * len(folds) / (len(folds) - 1)))


def by_one_se(search: Search, table: PanelTable) -> int | None:
    """The candidate that the one-standard-error rule takes, whatever rule chose; None where it cannot tell."""
    means = mean_over_parts(table.losses[:, :, 0], table.weights)
    if table.losses.shape[1] < 2 or not np.isfinite(means).any():
        return None
    try:
        index = _simplest_within_one_se(search, table, means, int(np.nanargmin(means)))
    except SpaceError:  # nobody said what simple means here
        return None
    return table.candidates[index]


def _own_choice(search: Search, table: PanelTable) -> int:
    assert callable(search.choose)
    answer = search.choose(as_cv_results(search, table))
    try:
        index = operator.index(answer)
    except TypeError:
        raise OptionError(f"choose= must return the number of a candidate, not {answer!r}.") from None
    if not 0 <= index < len(table.candidates):
        raise OptionError(f"choose= returned candidate {index}, but there are {len(table.candidates)}.")
    if not np.isfinite(table.losses[index, :, 0]).all():
        raise OptionError(f"choose= returned candidate {index}, but a fit of it failed.")
    return index
