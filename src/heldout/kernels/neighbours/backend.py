"""Which search scikit-learn would use on a training set, and how sure its order of neighbours is.

Trees and most metrics work out each pair of rows by itself, so a distance has the same bits in whatever company. The
Euclidean distance by brute force is taken from matrix products of blocks instead (x·x − 2x·y + y·y), so its last bits
depend on the block: there an order is only sure where the gap is wider than the error of that formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics._pairwise_distances_reduction import ArgKmin, ArgKminClassMode
from sklearn.neighbors import VALID_METRICS, KNeighborsClassifier
from sklearn.utils import check_array

EUCLIDEAN = ("euclidean", "sqeuclidean")
TIE = 1e-10  # relative: nearer than this, two distances count as tied
SINGLE_TIE = 1e-6  # where scikit-learn subtracts in single precision
MOST_TREE_COLUMNS = 15  # algorithm="auto" takes a tree up to this
LARGEST_VALUE = 1e100  # squares of larger values come near overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """How scikit-learn compares distances for one candidate."""

    tie: float  # relative width of a tie; 0 means equal bits
    expanded: bool  # taken from matrix products, so sure only beyond their error
    rowwise: bool  # a row's answer does not depend on the rows that are asked with it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """A search on unprepared columns: the matrix as scikit-learn sees it, and the metric it would use."""

    X: NDArray[Any]
    metric: str
    params: dict[str, Any]
    algorithm: str
    leaf_size: int
    fast: bool  # scikit-learn's compiled brute force takes these columns and this metric
    votes: bool | None  # its compiled vote does; None where that depends on the number of rows
    measured: bool  # our direct distances have its bits

    @property
    def euclidean(self) -> bool:
        return self.metric in EUCLIDEAN and not self.params


def effective_metric(knn: Any) -> tuple[str, dict[str, Any]]:
    """The metric that scikit-learn makes of `metric`, `p` and `metric_params`."""
    params = dict(knn.metric_params or {})
    if knn.metric != "minkowski":
        return knn.metric, params
    weight = params.pop("w", None)
    plain = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
    if weight is None and knn.p in plain:
        return plain[knn.p], params
    return "minkowski", {**params, "p": knn.p, "w": weight}


def setting_of(knn: Any, task_take: Any, X: NDArray[Any], *, measured: bool) -> Setting:
    """The setting of a learner on these columns; `task_take` gives rows in the user's own container."""
    metric, params = effective_metric(knn)
    few = X[:2]
    votes = [_votes(knn, task_take(np.arange(size)), few) for size in (1, 2)]
    return Setting(
        X=X,
        metric=metric,
        params=params,
        algorithm=knn.algorithm,
        leaf_size=knn.leaf_size,
        fast=bool(ArgKmin.is_usable_for(few, few, metric)),
        votes=votes[0] if votes[0] == votes[1] else None,
        measured=measured,
    )


def _votes(knn: Any, X: Any, fit_X: Any) -> bool:
    if type(knn) is not KNeighborsClassifier:
        return False
    adjusted = "euclidean" if knn.metric == "minkowski" and knn.p == 2 else knn.metric
    return all(ArgKminClassMode.is_usable_for(X, fit_X, metric) for metric in (knn.metric, adjusted))


def fit_method(setting: Setting, k: int, n: int) -> str:
    """What ``algorithm="auto"`` becomes for k neighbours among n training rows."""
    if setting.algorithm != "auto":
        return setting.algorithm
    if setting.X.shape[1] > MOST_TREE_COLUMNS or k >= n // 2:
        return "brute"
    if setting.metric == "minkowski":
        if setting.params["p"] < 1:
            return "brute"
        if setting.params.get("w") is not None:
            return "ball_tree"
    for tree in ("kd_tree", "ball_tree"):
        if setting.metric in VALID_METRICS[tree]:
            return tree
    return "brute"


def shared_arithmetic(
    setting: Setting, method: str, weights: str | None, *, one_class_output: bool
) -> Arithmetic | None:
    """How scikit-learn compares, or None where only its own search of each training set gives the same bits."""
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
    """How a fitted learner compares the distances that its own search gave for these rows."""
    if knn._fit_method != "brute":
        return Arithmetic(tie=TIE, expanded=False, rowwise=True)
    single = getattr(knn, "outputs_2d_", True) is False
    if single and weights == "uniform" and _votes(knn, X, knn._fit_X):
        narrow = knn._fit_X.dtype == np.float32
        return Arithmetic(tie=SINGLE_TIE if narrow else TIE, expanded=knn.effective_metric_ in EUCLIDEAN, rowwise=True)
    return Arithmetic(tie=0.0, expanded=False, rowwise=False)


def expansion_error(norms: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
    """How far two squared distances from rows of these squared norms may be off together, besides a relative part.

    Each is off by at most (p + 4)·ε·(x·x + y·y), and y·y ≤ 2 x·x + 2 d².
    """
    return 24.0 * (columns + 8) * float(np.finfo(np.float64).eps) * norms


def numeric_matrix(X: Any) -> NDArray[Any] | None:
    """Dense columns as scikit-learn reads them, or None where its own reading must be left to it."""
    if issparse(X) or len(X.shape) != 2:
        return None
    try:
        matrix: NDArray[Any] = check_array(X, dtype="numeric", order="C")
    except (ValueError, TypeError):
        return None
    kind = matrix.dtype
    plain = kind in (np.float64, np.float32) or (kind.kind in "iu" and np.abs(matrix).max() < 2**53)
    return matrix if plain and np.abs(matrix).max() < LARGEST_VALUE else None
