"""max_leaf_nodes: a tree grown best first to m leaves is the beginning of the same tree grown further.

Law: growing expands the best node of the frontier, and a node's split is searched when the node is made, so that
nothing depends on how far growing will go. Each expansion makes two nodes, numbered as they are made: the tree of m
leaves is the first 2m − 1 nodes, and a node whose children come later is a leaf of it. Ties need no thought.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from numbers import Integral
from typing import Any

from heldout.kernels.paths.subtrees import Leaves, SubtreePath, is_forest, is_tree, parents_of


def _lane(value: Any) -> Hashable:
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 2:
        return "subtrees"
    return ("other", repr(value))


def _refuses(estimator: Any) -> str | None:
    if estimator.ccp_alpha != 0.0:
        return "ccp_alpha above 0 prunes the larger tree, which then holds the smaller ones no more."
    return None


def _grow(estimator: Any) -> Any:
    return estimator


def _first_nodes(tree: Any, values: Sequence[Any], leaves: Leaves) -> Iterator[Leaves]:
    parents = parents_of(tree)
    nodes = leaves.copy()
    for value in values:
        made = 2 * int(value) - 1
        while (late := nodes >= made).any():
            nodes[late] = parents[nodes[late]]
        yield nodes


TREE_LEAVES, FOREST_LEAVES = (
    SubtreePath(
        name=name,
        parameter="max_leaf_nodes",
        takes_type=takes,
        lane_of=_lane,
        wrong_value="is not grown best first to a number of leaves",
        refuses=_refuses,
        rank=lambda value: -value,
        grow=_grow,
        cut=_first_nodes,
    )
    for name, takes in (("best-first trees", is_tree), ("best-first forests", is_forest))
)
