"""Naive Bayes beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import GaussianNB, MultinomialNB

import heldout as ho
from benchmarks.table import Row, classes, nested


def _gaussian() -> Row:
    learner = GaussianNB(), {"var_smoothing": ho.log_grid(-9, 0, 10).tolist()}
    words = "GaussianNB, 20,000 × 50, 10 var_smoothing, nested 5×5"
    return nested(words, 14, learner, classes(20_000, 50), folds=(5, 5), score="accuracy")


def _multinomial() -> Row:
    learner = MultinomialNB(), {"alpha": ho.log_grid(-3, 1, 10).tolist()}
    words = "MultinomialNB, sparse counts, 20,000 × 5,000, 10 alphas, nested 5×5"
    return nested(words, 5, learner, _texts(20_000, 5_000), folds=(5, 5), score="accuracy")


def _texts(n: int, p: int) -> tuple[Any, Any]:
    """Counts of words in texts of about sixty, of four classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n)
    common = 1.0 / np.arange(1, p + 1)
    words = [rng.permutation(common) * 0.2 + common for _ in range(4)]
    drawn = [rng.choice(p, size=60, p=words[label] / words[label].sum()) for label in y]
    rows = np.repeat(np.arange(n), 60)
    counts = sparse.csr_array((np.ones(60 * n), (rows, np.concatenate(drawn))), shape=(n, p))
    counts.sum_duplicates()
    return counts, y


ROWS: dict[str, Callable[[], Row]] = {"bayes": _gaussian, "counts": _multinomial}
