"""Which search scikit-learn would use on a training set, and how sure its order of neighbours is.

Trees and most metrics compute each pair of rows by itself, so a distance has the same bits whatever rows are computed
with it. The Euclidean distance by brute force is computed from matrix products of blocks (x·x − 2x·y + y·y), so its
last bits depend on the block. There an order is sure only where the gap is wider than the error of that formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.metrics._pairwise_distances_reduction import ArgKmin, ArgKminClassMode
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_array

from heldout.kernels.sums.rounding import EPS, Bools, Floats
from heldout.task.task import Task

EUCLIDEAN = ("euclidean", "sqeuclidean")
TIE = 1e-10  # relative: nearer than this, two distances count as tied
SINGLE_TIE = 1e-6  # where scikit-learn subtracts in single precision
TRIED_ROWS = 32  # rows on which a learner is tried out
LARGEST_VALUE = 1e100  # squares of larger values come near overflow
TINIEST = 1e-280  # below this, numbers lose digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """Describes how scikit-learn compares distances for one candidate."""

    tie: float  # relative width of a tie; 0 means equal bits
    expanded: bool  # distances come from matrix products, so an order is sure only beyond their error
    rowwise: bool  # a row's answer does not depend on the other rows of the query


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """The search that scikit-learn would make on the task's columns, where no preprocessing comes before it."""

    X: NDArray[Any]  # as scikit-learn reads it
    model: Any  # a learner, not fitted
    few: str  # the method for few neighbours: a tree, or brute force
    euclidean: bool
    fast: bool  # scikit-learn's compiled brute force (ArgKmin) supports this X and metric
    votes: bool | None  # so does its compiled vote (ArgKminClassMode); None where that depends on the number of rows

    def method(self, k: int, n: int) -> str:
        """Return the method that searches for k neighbours among n training rows."""
        return "brute" if self.model.algorithm == "auto" and k >= n // 2 else self.few


def setting_of(model: Any, task: Task) -> Setting | None:
    """Return the setting of a learner, or None where X cannot be read as a plain numeric matrix.

    Fits and predicts on a few rows, so that it raises or warns where scikit-learn does.
    """
    X = numeric_matrix(task.X)
    if X is None:
        return None
    some = task.all_rows[:TRIED_ROWS]
    fitted = clone(model).set_params(n_neighbors=1, weights="uniform", n_jobs=None)
    fitted.fit(task.take(some), task.y[some]).predict(task.take(some[:2]))
    votes = {_votes(model, task.take(some[:size]), X[:2]) for size in (1, 2)}
    return Setting(
        X=X,
        model=model,
        few=fitted._fit_method,
        euclidean=fitted.effective_metric_ in EUCLIDEAN and not fitted.effective_metric_params_,
        fast=bool(ArgKmin.is_usable_for(X[:2], X[:2], fitted.effective_metric_)),
        votes=votes.pop() if len(votes) == 1 else None,
    )


def _votes(knn: Any, X: Any, fit_X: Any) -> bool:
    if type(knn) is not KNeighborsClassifier:
        return False
    adjusted = "euclidean" if knn.metric == "minkowski" and knn.p == 2 else knn.metric
    return all(ArgKminClassMode.is_usable_for(X, fit_X, metric) for metric in (knn.metric, adjusted))


def shared_arithmetic(
    setting: Setting, method: str, weights: str | None, *, one_class_output: bool
) -> Arithmetic | None:
    """Return how scikit-learn compares, or None where only a search of each training set gives the same bits."""
    if method != "brute":
        return Arithmetic(tie=TIE, expanded=False, rowwise=True)
    if one_class_output and weights == "uniform":
        if setting.votes is None:
            return None
        if setting.votes:
            single = setting.X.dtype == np.float32
            return Arithmetic(tie=SINGLE_TIE if single else TIE, expanded=False, rowwise=True)
    if setting.euclidean:
        return None if weights == "distance" else Arithmetic(tie=TIE, expanded=True, rowwise=False)
    return Arithmetic(tie=TIE, expanded=False, rowwise=False) if setting.fast else None


def fitted_arithmetic(knn: Any, X: Any, weights: str | None) -> Arithmetic:
    """Return how a fitted learner compares the distances that its own search gave for these rows."""
    if knn._fit_method != "brute":
        return Arithmetic(tie=TIE, expanded=False, rowwise=True)
    single = getattr(knn, "outputs_2d_", True) is False
    if single and weights == "uniform" and _votes(knn, X, knn._fit_X):
        narrow = knn._fit_X.dtype == np.float32
        return Arithmetic(tie=SINGLE_TIE if narrow else TIE, expanded=knn.effective_metric_ in EUCLIDEAN, rowwise=True)
    return Arithmetic(tie=0.0, expanded=False, rowwise=False)


def expansion_error(norms: Floats, columns: int) -> Floats:
    """Return a bound on the rounding error of two squared distances together, given their query rows' squared norms.

    Each is off by at most (p + 4)·ε·(x·x + y·y), and y·y ≤ 2 x·x + 2 d². The part in d² is relative and not included.
    """
    return 24.0 * (columns + 8) * EPS * norms


def numeric_matrix(X: Any) -> NDArray[Any] | None:
    """Return X as scikit-learn reads it, or None where it is not a dense numeric matrix of moderate values."""
    if issparse(X) or len(X.shape) != 2:
        return None
    try:
        matrix: NDArray[Any] = check_array(X, dtype="numeric", order="C")
    except (ValueError, TypeError):
        return None
    kind = matrix.dtype
    plain = kind in (np.float64, np.float32) or (kind.kind in "iu" and np.abs(matrix).max() < 2**53)
    return matrix if plain and np.abs(matrix).max() < LARGEST_VALUE else None


# ---------------------------------------------------------------------- ties between neighbours


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Near:
    """The nearest training rows of each query row, one more than the largest k; where there are too few, inf."""

    rows: NDArray[np.int32]  # query rows × (largest k + 1), rows of the task
    far: Floats  # distances; squared for our own Euclidean search
    slack: Floats  # a gap up to this may be rounding alone


def ties(near: Near, arithmetic: Arithmetic) -> Bools:
    """Return whether each neighbour and the next might change places."""
    if arithmetic.tie == 0.0:
        return np.asarray((near.far[:, 1:] == near.far[:, :-1]) & np.isfinite(near.far[:, 1:]))
    with np.errstate(invalid="ignore"):
        gaps = near.far[:, 1:] - near.far[:, :-1]
        close = gaps <= near.slack[:, None] + (arithmetic.tie * near.far[:, 1:] + TINIEST)
    return np.asarray(close & np.isfinite(near.far[:, 1:]))


def doubtful(tied: Bools, alike: Bools, ks: NDArray[np.intp], *, order: bool) -> tuple[Bools, NDArray[np.int32]]:
    """Return whether ties leave an answer open, and how many of the first k they may replace (rows × values of k).

    Parameters
    ----------
    tied : array
        Whether each neighbour and the next are tied.
    alike : array
        Whether it makes no difference which of the two comes first.
    ks : array
        The numbers of neighbours, at most the number of columns.
    order : bool
        The answer depends on the order of the first k, not only on which they are.
    """
    open_ = np.zeros((len(tied), len(ks)), dtype=bool)
    loose = np.zeros((len(tied), len(ks)), dtype=np.int32)
    some = np.flatnonzero(tied.any(axis=1))
    if not len(some):
        return open_, loose
    tied = tied[some]
    unlike = tied & ~alike[some]
    unlike[:, -1] |= tied[:, -1]  # rows beyond the list may be tied with its last
    links = np.arange(tied.shape[1])
    before = np.concatenate([np.zeros((len(some), 1), dtype=np.intp), np.cumsum(unlike, axis=1)], axis=1)
    # The chain of ties around each link: where it starts, and where it ends.
    start = np.maximum.accumulate(np.where(tied, 0, links + 1), axis=1)
    end = np.minimum.accumulate(np.where(tied, tied.shape[1], links)[:, ::-1], axis=1)[:, ::-1]
    mixed = np.take_along_axis(before, end, axis=1) > np.take_along_axis(before, np.minimum(start, end), axis=1)
    found = (tied & mixed)[:, ks - 1]
    if order:
        found |= before[:, ks - 1] > 0
    open_[some] = found
    loose[some] = np.where(found, ks - start[:, ks - 1], 0)
    return open_, loose
