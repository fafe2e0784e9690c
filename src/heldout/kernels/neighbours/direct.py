"""One search of scikit-learn's own for each training set, which answers every k and weighting on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.extmath import row_norms

from heldout.kernels.driver.prepared import PreparedRows, as_asked, fit_steps
from heldout.kernels.neighbours.answers import Answers, fill
from heldout.kernels.neighbours.arithmetic import Arithmetic, expansion_error, fitted_arithmetic
from heldout.kernels.neighbours.doubt import Near
from heldout.kernels.neighbours.runs import Run
from heldout.kernels.sums.rounding import Bools


def answer_part(answers: Answers, which: Sequence[int], run: Run, part: int) -> None:
    """Answer these members on one part of a run."""
    n = int(run.trained_on[part])
    with as_asked(run.work):
        rows = _prepared(answers, run, part)
        # algorithm="auto" changes from a tree to brute force at half the training rows.
        for many in (False, True):
            alike = [number for number in which if (answers.members[number].k >= n // 2) is many]
            if alike:
                _answer_alike(answers, alike, rows, run, part)


def settle_part(answers: Answers, doubtful: Sequence[tuple[int, Bools]], run: Run, part: int) -> None:
    """Let fitted learners answer the rows of a part that are in doubt for each member."""
    with as_asked(run.work):
        rows = _prepared(answers, run, part)
        knn = _fit(answers, doubtful[0][0], rows)
        for number, lines in doubtful:
            if lines.any():
                _settle(answers, number, knn, rows.held[0], lines, start=int(run.cuts[part]))


def _prepared(answers: Answers, run: Run, part: int) -> PreparedRows:
    train = run.work.train_rows(run.ref(part))
    return fit_steps(answers.members[0].taken.before, run.work, train, [run.rows[run.rows_of(part)]])


def _fit(answers: Answers, number: int, rows: PreparedRows) -> Any:
    member = answers.members[number]
    return clone(member.model).set_params(n_jobs=None).fit(rows.train, rows.y)


def _answer_alike(answers: Answers, which: Sequence[int], rows: PreparedRows, run: Run, part: int) -> None:
    largest = max(which, key=lambda number: answers.members[number].k)
    k, X, cut = answers.members[largest].k, rows.held[0], run.rows_of(part)
    train = run.work.train_rows(run.ref(part))
    knn = _fit(answers, largest, rows)
    far, near = knn.kneighbors(X, n_neighbors=min(k + 1, len(train)))
    if far.shape[1] <= k:
        far = np.concatenate([far, np.full((len(far), 1), np.inf)], axis=1)
        near = np.concatenate([near, np.zeros((len(near), 1), dtype=near.dtype)], axis=1)
    for weights in ("uniform", "distance", None):
        alike = [number for number in which if answers.members[number].weights == weights]
        if alike:
            arithmetic = fitted_arithmetic(knn, X, weights)
            found = _near(train[near].astype(np.int32), far, knn, X, arithmetic)
            for number, lines in zip(alike, fill(answers, alike, found, cut, arithmetic), strict=True):
                if lines.any():
                    _settle(
                        answers, number, knn, X, lines if arithmetic.rowwise else np.ones_like(lines), start=cut.start
                    )


def _near(rows: Any, far: Any, knn: Any, X: Any, arithmetic: Arithmetic) -> Near:
    """The library's distances; where it votes by others, more exact ones, with the error that lies between."""
    if not arithmetic.expanded:
        return Near(rows=rows, far=far, slack=np.zeros(len(far)))
    squares = far if knn.effective_metric_ == "sqeuclidean" else far * far
    norms = row_norms(check_array(X, dtype=np.float64), squared=True)
    return Near(rows=rows, far=squares, slack=expansion_error(norms, knn._fit_X.shape[1]))


def _settle(answers: Answers, number: int, knn: Any, X: Any, lines: Bools, *, start: int) -> None:
    """Let the fitted learner itself answer rows that ties leave open: all of them where rows depend on each other."""
    member = answers.members[number]
    knn.n_neighbors, knn.weights = member.k, member.weights
    asked = np.flatnonzero(lines)
    answers.put(number, start + asked, knn, X if lines.all() else _safe_indexing(X, asked))
