"""One search of scikit-learn's own for each training set, which answers every k and weighting on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.extmath import row_norms

from heldout.kernels.fitting import fit_on_rows, make_candidate
from heldout.kernels.neighbours.answers import Outbox, fill
from heldout.kernels.neighbours.backend import Arithmetic, expansion_error, fitted_arithmetic
from heldout.kernels.neighbours.doubt import Near
from heldout.kernels.neighbours.family import last_step, prepare_rows
from heldout.kernels.neighbours.runs import Run
from heldout.kernels.step import Work


def answer_part(out: Outbox, which: Sequence[int], run: Run, part: int, work: Work) -> None:
    """Answer these members on one part of a run."""
    n = int(run.trained_on[part])
    # algorithm="auto" changes from a tree to brute force at half the training rows.
    for many in (False, True):
        own = [number for number in which if (out.members[number].k >= n // 2) is many]
        if own:
            _answer_alike(out, own, run, part, work)


def _answer_alike(out: Outbox, which: Sequence[int], run: Run, part: int, work: Work) -> None:
    train = work.train_rows(run.ref(part))
    largest = max(which, key=lambda number: out.members[number].k)
    fitted = fit_member(out, largest, train, work)
    knn = last_step(fitted)
    X = prepare_rows(fitted, work.task.take(run.part_rows(part)))
    k = out.members[largest].k
    far, near = knn.kneighbors(X, n_neighbors=min(k + 1, len(train)))
    if far.shape[1] <= k:
        far = np.concatenate([far, np.full((len(far), 1), np.inf)], axis=1)
        near = np.concatenate([near, np.zeros((len(near), 1), dtype=near.dtype)], axis=1)
    rows = train[near].astype(np.int32)
    for weights in ("uniform", "distance", None):
        own = [number for number in which if out.members[number].weights == weights]
        if not own:
            continue
        arithmetic = fitted_arithmetic(knn, X, weights)
        found = _near(rows, far, knn, X, arithmetic)
        cut = slice(int(run.cuts[part]), int(run.cuts[part + 1]))
        open_ = fill(out, own, found, cut, arithmetic)
        for number, lines in zip(own, open_, strict=True):
            if lines.any():
                settle(out, number, (knn, X), np.flatnonzero(lines), cut.start, rowwise=arithmetic.rowwise)


def _near(rows: Any, far: NDArray[np.float64], knn: Any, X: Any, arithmetic: Arithmetic) -> Near:
    """The library's distances; where it votes by others, more exact ones, with the error that lies between."""
    if not arithmetic.expanded:
        return Near(rows=rows, far=far, slack=np.zeros(len(far)), squared=False)
    squares = far if knn.effective_metric_ == "sqeuclidean" else far * far
    norms = row_norms(check_array(X, dtype=np.float64), squared=True)
    return Near(rows=rows, far=squares, slack=expansion_error(norms, knn._fit_X.shape[1]), squared=True)


def fit_member(out: Outbox, number: int, train: Any, work: Work) -> Any:
    """The member fitted on these rows."""
    estimator = make_candidate(work.search, out.members[number].candidate)
    last_step(estimator).set_params(n_jobs=None)
    return fit_on_rows(estimator, work.task, train, seed=work.search.seed, fit_params=work.fit_params)


def settle(out: Outbox, number: int, asked: tuple[Any, Any], lines: Any, start: int, *, rowwise: bool) -> None:
    """Let the fitted learner itself answer rows that ties leave open, or the whole part where rows depend on others."""
    knn, X = asked
    member = out.members[number]
    knn.n_neighbors, knn.weights = member.k, member.weights
    if rowwise:
        out.put(number, start + lines, knn, _safe_indexing(X, lines))
    else:
        out.put(number, start + np.arange(X.shape[0]), knn, X)
