"""Checks that a predictor from a file can be called safely.

Checking types is not enough: scikit-learn follows the indices inside trees, neighbour searches and sparse matrices
without bounds checks, so wrong ones would read foreign memory. They are checked here, before the first prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.ensemble import (
    BaseEnsemble,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.svm._base import BaseLibSVM
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from heldout.base.errors import StoredError

_LEAF = -1
_PLAIN = (str, bytes, int, float, complex, bool, type(None), np.generic, np.random.RandomState)


def check_sound(predictor: Any) -> None:
    """Raise StoredError for a predictor with inconsistent parts; neighbour searches are rebuilt from their rows."""
    late: list[BaseGradientBoosting] = []
    for part, owner in _parts(predictor):
        if isinstance(part, Tree) and not isinstance(owner, BaseDecisionTree):
            _refuse("a tree that belongs to no estimator")
        if isinstance(part, KDTree | BallTree) and not isinstance(owner, NeighborsBase):
            _refuse("a neighbour search that belongs to no estimator")
        for kind, (fitted, check) in _CHECKS.items():
            if isinstance(part, kind) and hasattr(part, fitted):  # parts that wait to be cloned are not fitted
                check(part)
        if issparse(part):
            _check_sparse(part)
        if isinstance(part, BaseGradientBoosting) and hasattr(part, "estimators_"):
            late.append(part)
    for estimator in late:  # this calls their initial predictor, so all their parts must have been checked
        _check_stages(estimator)


def _parts(predictor: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every object inside a predictor once, with the object that holds it; numeric arrays are not entered."""
    seen: set[int] = set()
    waiting: list[tuple[Any, Any]] = [(predictor, None)]
    while waiting:
        part, owner = waiting.pop()
        if isinstance(part, _PLAIN) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part, owner
        waiting += [(child, part) for child in _children(part)]


def _children(part: Any) -> list[Any]:
    if isinstance(part, Mapping):
        return [*part.keys(), *part.values()]
    if isinstance(part, list | tuple | set | frozenset):
        return list(part)
    if isinstance(part, np.ndarray):
        return list(part.flat) if part.dtype == object else []
    return list(vars(part).values()) if hasattr(part, "__dict__") else []


def _check_tree(owner: BaseDecisionTree) -> None:
    tree = owner.tree_
    if not isinstance(tree, Tree) or not 0 < tree.node_count <= tree.capacity:
        _refuse("a tree whose nodes are not there")
    if tree.n_features != owner.n_features_in_:
        _refuse("a tree of other columns than its estimator")
    inner = tree.children_left != _LEAF
    below = np.stack([tree.children_left, tree.children_right])[:, inner]
    _check_nodes(below, np.flatnonzero(inner), tree.node_count)
    _check_indexes(tree.feature[inner], tree.n_features, "a tree that asks for a column that is not there")


def _check_members(owner: BaseEnsemble) -> None:
    """Check the width of all trees, since an ensemble passes rows to them without checking it."""
    for member in np.ravel(np.asarray(owner.estimators_, dtype=object)):
        if not isinstance(member, BaseDecisionTree) or member.n_features_in_ != owner.n_features_in_:
            _refuse("an ensemble whose trees are of other columns")


def _check_stages(owner: BaseGradientBoosting) -> None:
    start = owner._raw_predict_init(np.zeros((1, int(owner.n_features_in_)), dtype=np.float32))
    if np.ndim(start) != 2 or np.shape(owner.estimators_)[1:] != start.shape[1:]:
        _refuse("boosting of other classes than its trees")


def _check_isolation(owner: IsolationForest) -> None:
    for member, columns in zip(owner.estimators_, owner.estimators_features_, strict=True):
        if not isinstance(member, BaseDecisionTree) or member.n_features_in_ != len(columns):
            _refuse("an ensemble whose trees are of other columns")


def _check_vectors(owner: BaseLibSVM) -> None:
    """Check the shapes of the arrays, since libsvm derives them from one another."""
    classes, rows = len(owner._n_support), owner.support_vectors_.shape[0]
    pairs = classes * (classes - 1) // 2
    chances = {np.size(owner._probA), np.size(owner._probB)}
    right = (
        owner.support_vectors_.shape == (rows, owner.n_features_in_)
        and np.shape(owner.support_) == (rows,)
        and owner._dual_coef_.shape == (classes - 1, rows)
        and np.size(owner._intercept_) == pairs
        and chances <= {0, pairs, 1}
        and (int(np.sum(owner._n_support)) == rows or not hasattr(owner, "classes_"))
    )
    if not right:
        _refuse("support vectors that do not fit one another")


def _check_encoder(owner: OneHotEncoder) -> None:
    """Check the codes of categories, which become column indices without a bounds check."""
    groups = getattr(owner, "_default_to_infrequent_mappings", None) or [None] * len(owner.categories_)
    for values, width, group in zip(owner.categories_, owner._n_features_outs, groups, strict=True):
        if group is not None:
            _check_indexes(np.asarray(group), int(width), "categories whose columns are not there")
        elif len(values) - (owner.drop_idx_ is not None) > width:
            _refuse("categories whose columns are not there")


def _check_labels(owner: Any) -> None:
    several = isinstance(owner.classes_, list)
    classes = owner.classes_ if several else [owner.classes_]
    labels = np.asarray(owner._y).reshape(-1, len(classes))
    if len(labels) != np.shape(owner._fit_X)[0]:
        _refuse("neighbours without their classes")
    for column, known in zip(labels.T, classes, strict=True):
        _check_indexes(column, len(known), "neighbours of a class that is not there")


def _check_boosting(owner: Any) -> None:
    categorical = np.asarray(owner._bin_mapper.is_categorical_)
    width = int(owner.n_features_in_)
    if categorical.shape != (width,):
        _refuse("boosting of other columns than its trees")
    if owner._preprocessor is not None:
        steps = [(step, columns) for _, step, columns in owner._preprocessor.transformers_ if step != "drop"]
        known = all(isinstance(step, OrdinalEncoder | FunctionTransformer) for step, _ in steps)
        if not known or sum(int(np.count_nonzero(columns)) for _, columns in steps) != width:
            _refuse("boosting whose columns are prepared in an unknown way")
    for predictors in owner._predictors:
        for tree in predictors:
            _check_boosted_tree(tree, categorical)


def _check_boosted_tree(tree: Any, categorical: NDArray[np.bool_]) -> None:
    nodes = tree.nodes
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
        _refuse("a tree whose nodes are not there")
    inner = nodes["is_leaf"] == 0
    below = np.stack([nodes["left"], nodes["right"]])[:, inner].astype(np.int64)
    _check_nodes(below, np.flatnonzero(inner), len(nodes))
    feature = nodes["feature_idx"][inner].astype(np.int64)
    _check_indexes(feature, len(categorical), "a tree that asks for a column that is not there")
    split = (nodes["is_categorical"] != 0) & inner
    sets = np.asarray(tree.raw_left_cat_bitsets)
    if sets.ndim != 2 or sets.shape[1] != 8 or not categorical[nodes["feature_idx"][split]].all():
        _refuse("a tree whose categories are not there")
    _check_indexes(nodes["bitset_idx"][split].astype(np.int64), len(sets), "a tree whose categories are not there")


def _check_nodes(below: NDArray[Any], above: NDArray[Any], count: int) -> None:
    """Check that children exist and come after their parent, so that every traversal ends."""
    if (below <= above).any() or (below >= count).any():
        _refuse("a tree whose branches lead nowhere")


def _check_words(vectorizer: CountVectorizer) -> None:
    places = vectorizer.vocabulary_
    if not isinstance(places, dict) or sorted(places.values()) != list(range(len(places))):
        _refuse("words whose places are not one after another")


def _search_anew(owner: NeighborsBase) -> None:
    """Rebuild the search tree from its rows, which gives the same tree, instead of using the one in the file."""
    if owner._tree is not None:
        make = KDTree if isinstance(owner._tree, KDTree) else BallTree
        rows = np.asarray(owner._fit_X)
        if rows.ndim != 2 or rows.shape[1] != owner.n_features_in_:
            _refuse("neighbours of other columns than their estimator")
        owner._tree = make(rows, owner.leaf_size, metric=owner.effective_metric_, **owner.effective_metric_params_)


def _check_sparse(matrix: Any) -> None:
    try:
        matrix.check_format(full_check=True)
    except (AttributeError, ValueError) as error:
        _refuse(f"a sparse matrix that is not whole ({error})")


def _check_indexes(values: NDArray[Any], count: int, what: str) -> None:
    if (values < 0).any() or (values >= count).any():
        _refuse(what)


def _refuse(what: str) -> None:
    raise StoredError(f"it holds {what}")


# By kind of estimator: an attribute that it has once fitted, and its check.
_CHECKS: Mapping[type, tuple[str, Callable[[Any], None]]] = {
    BaseDecisionTree: ("tree_", _check_tree),
    BaseForest: ("estimators_", _check_members),
    BaseGradientBoosting: ("estimators_", _check_members),
    HistGradientBoostingClassifier: ("_predictors", _check_boosting),
    HistGradientBoostingRegressor: ("_predictors", _check_boosting),
    CountVectorizer: ("vocabulary_", _check_words),
    IsolationForest: ("estimators_", _check_isolation),
    BaseLibSVM: ("support_vectors_", _check_vectors),
    OneHotEncoder: ("categories_", _check_encoder),
    KNeighborsClassifier: ("_y", _check_labels),
    RadiusNeighborsClassifier: ("_y", _check_labels),
    NeighborsBase: ("_tree", _search_anew),
}
