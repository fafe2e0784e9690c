"""Rows of several labels dealt by iterative stratification, which the package iterative-stratification does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.splits.strata import Labels

Places = NDArray[np.intp]


def label_folds(labels: Labels, k: int, *, seed: int, who: str) -> list[Places]:
    """K blocks of places, each with about its share of the rows of every label."""
    splitter = _stratifiers(who).MultilabelStratifiedKFold(k, shuffle=True, random_state=seed)
    return _held(splitter, labels)


def label_holdouts(labels: Labels, times: int, count: int, *, seed: int, who: str) -> list[Places]:
    """Held-out places, about `count` each time, with their share of the rows of every label."""
    stratifiers = _stratifiers(who)
    return _held(stratifiers.MultilabelStratifiedShuffleSplit(times, test_size=count, random_state=seed), labels)


def _held(splitter: Any, labels: Labels) -> list[Places]:
    # It takes tables of two labels or more; a column that marks all rows changes no share.
    marks = labels.marks if labels.marks.shape[1] > 1 else np.column_stack([labels.marks, np.ones_like(labels.marks)])
    return [np.asarray(held, dtype=np.intp) for _, held in splitter.split(marks, marks)]


def _stratifiers(who: str) -> Any:
    try:
        from iterstrat import ml_stratifiers
    except ImportError as error:
        raise SplitError(
            f"{who} was asked to stratify several labels, which needs the package iterative-stratification. Install it "
            "with pip install 'heldout[multilabel]', declare groups= (which need no package), or pass stratify=False."
        ) from error
    return ml_stratifiers
