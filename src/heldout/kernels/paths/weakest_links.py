"""Minimal cost-complexity pruning, cut by cut, as scikit-learn does it down to the last bit, for all alphas at once.

scikit-learn looks through every node before each cut and starts anew for each alpha. Here the branches wait in a heap,
each under a strength that it once had. A cut mostly strengthens the branches above it, so that an old strength is a
lower bound, which is put right when the branch comes to the top; where rounding weakens a branch, it is entered again.
The branch at the top with its true strength is therefore the weakest, and the first of equals, since nodes break ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.paths.subtrees import parents_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cuts:
    """What was cut, in order."""

    into: NDArray[np.intp]  # a node that became part of a cut branch: the node that the branch was cut back to
    when: NDArray[np.intp]  # the number of that cut, or past all cuts
    done: tuple[int, ...]  # cuts done for each alpha


class _Branches:
    """The branches of a tree while it is pruned. Lists, since single items are what is read and written."""

    def __init__(self, tree: Any) -> None:
        left, right, parents = tree.children_left, tree.children_right, parents_of(tree)
        weight = tree.weighted_n_node_samples
        cost = weight * tree.impurity / weight[0]
        branch_cost, leaf_count = _branch_sums(parents, np.flatnonzero(left < 0), cost)
        inner = np.flatnonzero(left >= 0)
        strength = np.zeros(len(left))
        strength[inner] = (cost[inner] - branch_cost[inner]) / (leaf_count[inner] - 1)
        self.left, self.right, self.parents = left.tolist(), right.tolist(), parents.tolist()
        self.cost, self.branch_cost, self.leaf_count = cost.tolist(), branch_cost.tolist(), leaf_count.tolist()
        self.entered = strength.tolist()
        self.open = (left >= 0).tolist()
        self.heap = list(zip(strength[inner].tolist(), inner.tolist(), strict=True))
        heapify(self.heap)
        self.cuts = 0
        self.into = list(range(len(left)))
        self.when = [len(left)] * len(left)

    def strength(self, node: int) -> float:
        weakness: float = (self.cost[node] - self.branch_cost[node]) / (self.leaf_count[node] - 1)
        return weakness

    def weakest(self) -> tuple[float, int] | None:
        """The weakest branch left, the first of equals, with its strength."""
        heap = self.heap
        while heap:
            entered, node = heap[0]
            if not self.open[node]:
                heappop(heap)
                continue
            now = self.strength(node)
            if now == entered:
                return heap[0]
            self.entered[node] = now
            heapreplace(heap, (now, node))
        return None

    def cut(self, node: int) -> None:
        """Cut a branch back to its node, and tell the branches above."""
        self._fold(node)
        gone = self.leaf_count[node] - 1
        more = self.cost[node] - self.branch_cost[node]
        self.leaf_count[node] = 0
        self.branch_cost[node] = self.cost[node]
        cost, branch_cost, leaf_count, entered = self.cost, self.branch_cost, self.leaf_count, self.entered
        above = self.parents[node]
        while above >= 0:
            leaf_count[above] = count = leaf_count[above] - gone
            branch_cost[above] = total = branch_cost[above] + more
            now = (cost[above] - total) / (count - 1)
            if now < entered[above]:
                entered[above] = now
                heappush(self.heap, (now, above))
            above = self.parents[above]
        self.cuts += 1

    def _fold(self, node: int) -> None:
        self.open[node] = False
        waiting = [self.left[node], self.right[node]]
        while waiting:
            one = waiting.pop()
            if self.open[one]:
                self.open[one] = False
                waiting += (self.left[one], self.right[one])
            else:  # a leaf by now, grown or cut
                self.into[one] = node
                self.when[one] = self.cuts


def cut_weakest(tree: Any, alphas: Sequence[float]) -> Cuts:
    """Prune a grown tree to each of the rising alphas; 0 prunes nothing, not even branches of strength 0."""
    branches = _Branches(tree)
    done: list[int] = []
    for alpha in alphas:
        while alpha != 0.0 and (found := branches.weakest()) is not None and found[0] <= alpha:
            heappop(branches.heap)
            branches.cut(found[1])
        done.append(branches.cuts)
    return Cuts(
        into=np.array(branches.into, dtype=np.intp), when=np.array(branches.when, dtype=np.intp), done=tuple(done)
    )


def _branch_sums(
    parents: NDArray[np.intp], leaves: NDArray[np.intp], cost: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The cost and number of each branch's leaves, added in the order of the leaves' numbers."""
    above: list[NDArray[np.intp]] = []
    below: list[NDArray[np.intp]] = []
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
    counts = np.bincount(branch, minlength=len(parents))
    sums[leaves] = cost[leaves]
    return sums, counts
