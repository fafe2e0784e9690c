"""Paths along subtrees: one large tree holds the smaller ones, whose leaves are nodes of it.

Nodes of a fitted tree keep their values, so a subtree answers a row with the value of the node where the row's path
through the large tree leaves the subtree. A forest does so tree by tree.

`max_leaf_nodes`: growing expands the best node of the frontier, and a node's split is searched when the node is made,
so that nothing depends on how far growing will go. Each expansion makes two nodes, numbered as they are made: the tree
of m leaves is the first 2m − 1 nodes, and a node whose children come later is a leaf of it. Ties need no special care.

`ccp_alpha`: pruning starts from the tree as grown, which does not depend on alpha, and cuts the weakest branch until
the weakest is stronger than alpha: a larger alpha continues where a smaller one stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from math import inf
from numbers import Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from heldout.kernels.paths.ensembles import FOREST_TYPES, add_tree, empty_sums, mean_member, refuse_ensemble
from heldout.kernels.paths.path import Answering, Methods, Path, exactly, is_count, stand_in

Leaves = NDArray[np.intp]
Cut = Callable[[Any, Sequence[Any], Leaves], Iterator[Leaves]]  # a tree, values, leaves to nodes, by falling size

is_tree = exactly(DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
is_forest = exactly(*FOREST_TYPES)


def _members(cut: Cut, fitted: Any, values: Sequence[Any], X: Any) -> list[Any]:
    if is_tree(type(fitted)):
        rows = fitted._validate_X_predict(X, check_input=True)
        checked = {"_validate_X_predict": lambda X, check_input: X}  # not checked again for every value
        return [stand_in(one, checked) for one in _subtrees(cut, fitted, values, rows)]
    rows = fitted._validate_X_predict(X)
    sums = [empty_sums(fitted, rows.shape[0]) for _ in values]
    for tree in fitted.estimators_:
        for total, subtree in zip(sums, _subtrees(cut, tree, values, rows), strict=True):
            add_tree(total, subtree, rows)
    return [mean_member(fitted, total, len(fitted.estimators_)) for total in sums]


def _subtrees(cut: Cut, estimator: Any, values: Sequence[Any], rows: Any) -> Iterator[Any]:
    """Yield the tree pruned to each value, by falling size, as a stand-in that answers these rows."""
    tree = estimator.tree_
    node_values = tree.value
    for nodes in cut(tree, values, tree.apply(rows)):
        answer = node_values.take(nodes, axis=0)
        if tree.n_outputs == 1:
            answer = answer.reshape(answer.shape[0], answer.shape[2])
        yield stand_in(estimator, {"tree_": SimpleNamespace(predict=Answering(answer))})


def _parents_of(tree: Any) -> Leaves:
    """Return each node's parent; -1 for the root."""
    left, right = tree.children_left, tree.children_right
    parents = np.full(len(left), -1, dtype=np.intp)
    inner = np.flatnonzero(left >= 0)
    parents[left[inner]] = inner
    parents[right[inner]] = inner
    return parents


# ---------------------------------------------------------------------- max_leaf_nodes


def _first_nodes(tree: Any, values: Sequence[Any], leaves: Leaves) -> Iterator[Leaves]:
    parents = _parents_of(tree)
    nodes = leaves.copy()
    for value in values:
        made = 2 * int(value) - 1
        while (late := nodes >= made).any():
            nodes[late] = parents[nodes[late]]
        yield nodes


def _refuse_pruning(estimator: Any) -> str | None:
    if estimator.ccp_alpha != 0.0:
        return "ccp_alpha above 0 prunes the larger tree, which then holds the smaller ones no more."
    return None


# ---------------------------------------------------------------------- ccp_alpha


def _unpruned(estimator: Any) -> Any:
    """Return an unpruned copy, even if every alpha prunes: sums over a pruned tree's leaves have other last bits."""
    own = copy(estimator)  # whoever fits it clones it
    own.ccp_alpha = 0.0
    return own


def _pruned_nodes(tree: Any, values: Sequence[Any], leaves: Leaves) -> Iterator[Leaves]:
    """Yield each row's node for each alpha, by minimal cost-complexity pruning, bit for bit as scikit-learn does."""
    left, right, above = tree.children_left.tolist(), tree.children_right.tolist(), _parents_of(tree)
    weight = tree.weighted_n_node_samples
    cost = weight * tree.impurity / weight[0]
    branch_cost, leaf_count = _branch_sums(above, np.flatnonzero(tree.children_left < 0), cost)
    inner = tree.children_left >= 0
    strength = np.full(len(left), inf)  # of a branch; infinite where there is none, or none any more
    strength[inner] = (cost[inner] - branch_cost[inner]) / (leaf_count[inner] - 1)
    # Lists, since single items are what is read and written.
    parents, costs, below, counts = above.tolist(), cost.tolist(), branch_cost.tolist(), leaf_count.tolist()
    open_ = inner.tolist()
    into, when = np.arange(len(left)), np.full(len(left), len(left))  # where a node went, and in which cut
    cuts, nodes = 0, leaves.copy()
    for alpha in map(float, values):
        # 0 prunes nothing, not even branches of strength 0. The first of equals is cut first.
        while alpha != 0.0 and strength[node := int(strength.argmin())] <= alpha:
            waiting = [node]
            while waiting:
                one = waiting.pop()
                if open_[one]:
                    open_[one] = False
                    strength[one] = inf
                    waiting += (left[one], right[one])
                else:  # a leaf by now, grown or cut
                    into[one], when[one] = node, cuts
            gone, more = counts[node] - 1, costs[node] - below[node]
            up = parents[node]
            while up >= 0:
                counts[up] -= gone
                below[up] += more
                strength[up] = (costs[up] - below[up]) / (counts[up] - 1)
                up = parents[up]
            cuts += 1
        while (cut := when[nodes] < cuts).any():
            nodes[cut] = into[nodes[cut]]
        yield nodes


def _branch_sums(parents: Leaves, leaves: Leaves, cost: NDArray[np.float64]) -> tuple[NDArray[np.float64], Leaves]:
    """Return the cost and number of each branch's leaves, added in the order of the leaves' numbers."""
    above: list[Leaves] = []
    below: list[Leaves] = []
    start, nodes = leaves, parents[leaves]
    while len(nodes):
        inside = nodes >= 0
        start, nodes = start[inside], nodes[inside]
        above.append(nodes)
        below.append(start)
        nodes = parents[nodes]
    branch, leaf = np.concatenate(above), np.concatenate(below)
    order = np.argsort(leaf, kind="stable")
    branch, leaf = branch[order], leaf[order]
    # bincount adds one after another, so that each sum has the last bits of a plain loop over the leaves.
    sums: NDArray[np.float64] = np.bincount(branch, weights=cost[leaf], minlength=len(parents)).astype(np.float64)
    return sums, np.bincount(branch, minlength=len(parents))


# ---------------------------------------------------------------------- the paths


def _path(name: str, takes: Callable[[type], bool], parameter: str) -> Path:
    leaves = parameter == "max_leaf_nodes"
    cut = _first_nodes if leaves else _pruned_nodes

    def members(fitted: Any, values: Sequence[Any], X: Any, methods: Methods) -> list[Any]:
        return _members(cut, fitted, values, X)

    def refuses(estimator: Any) -> str | None:
        forest = refuse_ensemble(estimator) if is_forest(type(estimator)) else None
        return forest or (_refuse_pruning(estimator) if leaves else None)

    return Path(
        name=name,
        parameter=parameter,
        takes_type=takes,
        shares=(lambda value: is_count(value) and value > 1) if leaves else _is_alpha,
        other_value="is not grown best first to a number of leaves" if leaves else "is no finite number from 0",
        rank=(lambda value: -value) if leaves else float,
        members=members,
        refuses=refuses,
        grow=(lambda estimator: estimator) if leaves else _unpruned,
    )


def _is_alpha(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < inf


TREE_PRUNING = _path("pruning path", is_tree, "ccp_alpha")
FOREST_PRUNING = _path("forest pruning path", is_forest, "ccp_alpha")
TREE_LEAVES = _path("best-first trees", is_tree, "max_leaf_nodes")
FOREST_LEAVES = _path("best-first forests", is_forest, "max_leaf_nodes")
