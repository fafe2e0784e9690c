"""Paths along subtrees: one large tree holds the smaller ones, whose leaves are nodes of it.

Nodes of a fitted tree keep their values, so that a subtree answers a row with the value of the node where the row's
way through the large tree leaves the subtree. A forest does so tree by tree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from heldout.base.responses import Responses
from heldout.kernels.paths.asking import Answering, Methods, ask_member, stand_in
from heldout.kernels.paths.counting import exactly, seed_refusal
from heldout.kernels.paths.forests import FOREST_TYPES, add_tree, empty_sums, forest_refusal, mean_member

TREE_TYPES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)

Leaves = NDArray[np.intp]

is_tree = exactly(*TREE_TYPES)
is_forest = exactly(*FOREST_TYPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtreePath:
    """A path whose values are subtrees of one tree, or of each tree of one forest."""

    name: str
    parameter: str
    takes_type: Callable[[type], bool]
    lane_of: Callable[[Any], Hashable]  # "subtrees" for the values that this path reads off one fit
    wrong_value: str  # what a value in another lane is
    refuses: Callable[[Any], str | None]
    rank: Callable[[Any], float]  # the value of lowest rank has the largest tree
    grow: Callable[[Any], Any]  # the estimator whose tree holds all the others, from the first in order
    cut: Callable[[Any, Sequence[Any], Leaves], Iterator[Leaves]]  # leaves of a tree to nodes, by falling size

    def takes(self, estimator: Any) -> bool:
        return self.takes_type(type(estimator))

    def value_of(self, estimator: Any) -> Any:
        return getattr(estimator, self.parameter)

    def lane(self, value: Any) -> Hashable:
        return self.lane_of(value)

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        for estimator in estimators:
            value = self.value_of(estimator)
            if self.lane_of(value) != "subtrees":
                return f"{self.parameter}={value!r} {self.wrong_value}."
        first = estimators[0]
        forest = forest_refusal(first) if is_forest(type(first)) else None
        return seed_refusal(first) or forest or self.refuses(first)

    def order(self, values: Sequence[Any]) -> list[int]:
        return sorted(range(len(values)), key=lambda place: self.rank(values[place]))

    def start(self, estimator: Any) -> Any:
        return self.grow(estimator)

    def responses(self, fitted: Any, values: Sequence[Any], X: Any, methods: Methods) -> Iterator[Responses]:
        grown = self.value_of(self.grow(fitted))
        ordered = sorted(set(values), key=self.rank)
        if self.value_of(fitted) != grown or self.rank(grown) > self.rank(ordered[0]):
            raise ValueError(f"{self.name}: fitted with {self.parameter}={self.value_of(fitted)!r}, not as start says.")
        members = self._tree_members if is_tree(type(fitted)) else self._forest_members
        found = dict(zip(ordered, members(fitted, ordered, X), strict=True))
        for value in values:
            yield ask_member(found[value], X, methods)

    def _tree_members(self, fitted: Any, values: Sequence[Any], X: Any) -> list[Any]:
        rows = fitted._validate_X_predict(X, check_input=True)
        # Not checked again for every value.
        known = {"_validate_X_predict": _passed_on}
        return [stand_in(one, known) for one in self._subtrees(fitted, values, rows)]

    def _forest_members(self, fitted: Any, values: Sequence[Any], X: Any) -> list[Any]:
        rows = fitted._validate_X_predict(X)
        sums = [empty_sums(fitted, rows.shape[0]) for _ in values]
        for tree in fitted.estimators_:
            for total, subtree in zip(sums, self._subtrees(tree, values, rows), strict=True):
                add_tree(total, subtree, rows)
        return [mean_member(fitted, total, len(fitted.estimators_)) for total in sums]

    def _subtrees(self, estimator: Any, values: Sequence[Any], rows: Any) -> Iterator[Any]:
        """The tree cut back to each value, as it answers these rows, in the order of rank."""
        tree = estimator.tree_
        node_values = tree.value
        for nodes in self.cut(tree, values, tree.apply(rows)):
            answer = node_values.take(nodes, axis=0)
            if tree.n_outputs == 1:
                answer = answer.reshape(answer.shape[0], answer.shape[2])
            yield stand_in(estimator, {"tree_": _Answered(answer)})


class _Answered:
    """What a fitted tree's inside answers on the rows it was asked for."""

    def __init__(self, answer: NDArray[np.float64]) -> None:
        self.predict = Answering(answer)


def _passed_on(X: Any, check_input: bool) -> Any:
    return X


def parents_of(tree: Any) -> Leaves:
    """Each node's parent; -1 for the root."""
    left, right = tree.children_left, tree.children_right
    parents = np.full(len(left), -1, dtype=np.intp)
    inner = np.flatnonzero(left >= 0)
    parents[left[inner]] = inner
    parents[right[inner]] = inner
    return parents
