"""ccp_alpha: one unpruned tree, pruned to every alpha.

Law: pruning starts from the tree as grown, which knows nothing of alpha, and cuts the weakest branch until the weakest
is stronger than alpha: a larger alpha goes on where a smaller one stopped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from copy import copy
from math import inf
from numbers import Real
from typing import Any

from heldout.kernels.paths.subtrees import Leaves, SubtreePath, is_forest, is_tree
from heldout.kernels.paths.weakest_links import cut_weakest


def _lane(value: Any) -> Hashable:
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < inf:
        return "subtrees"
    return ("other", repr(value))


def _refuses(estimator: Any) -> str | None:
    return None


def _grow(estimator: Any) -> Any:
    """The unpruned one, even when every alpha prunes: sums over a pruned tree's leaves have other last bits."""
    own = copy(estimator)  # whoever fits it clones it
    own.ccp_alpha = 0.0
    return own


def _pruned_nodes(tree: Any, values: Sequence[Any], leaves: Leaves) -> Iterator[Leaves]:
    cuts = cut_weakest(tree, [float(value) for value in values])
    nodes = leaves.copy()
    for done in cuts.done:
        while (cut := cuts.when[nodes] < done).any():
            nodes[cut] = cuts.into[nodes[cut]]
        yield nodes


TREE_PRUNING, FOREST_PRUNING = (
    SubtreePath(
        name=name,
        parameter="ccp_alpha",
        takes_type=takes,
        lane_of=_lane,
        wrong_value="is no finite number from 0",
        refuses=_refuses,
        rank=float,
        grow=_grow,
        cut=_pruned_nodes,
    )
    for name, takes in (("pruning path", is_tree), ("forest pruning path", is_forest))
)
