"""The sharing tree of candidates: chains share the equal steps they begin with, and a leaf's members share one fit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout.kernels.claims import chain_of
from heldout.kernels.paths import PATHS, Binned, Path
from heldout.kernels.within.signature import signature
from heldout.kernels.within.sizes import Size, size_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaf:
    """Last steps that one fit serves: those of a single candidate, of equal ones, or of a path of values."""

    path: Path | Binned | None
    members: tuple[tuple[int, Any], ...]  # candidate, unfitted last step; the first is the one that is fitted
    name: str = ""  # the step's name in the whole candidate, which its seeds depend on

    @property
    def candidates(self) -> tuple[int, ...]:
        return tuple(candidate for candidate, _ in self.members)

    @property
    def by_fit(self) -> list[tuple[int, ...]]:
        """The leaf's candidates, in groups that one fit serves; several groups may share binned data."""
        if self.path is None:
            return [self.candidates]
        return [tuple(self.candidates[place] for place in places) for places in self.path.by_fit(self.values)]

    @property
    def values(self) -> list[Any]:
        """The path's value of each member."""
        return [] if self.path is None else [self.path.value_of(estimator) for _, estimator in self.members]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """A transformer and what follows it; at the root `transformer` is None.

    If `size` is given, only this `transformer` is fitted. Each of the branches is one size, whose transformer is read
    off it.
    """

    transformer: Any
    name: str
    branches: tuple[Branch, ...]
    leaves: tuple[Leaf, ...]
    size: Size | None = None

    @property
    def candidates(self) -> tuple[int, ...]:
        own = [candidate for leaf in self.leaves for candidate in leaf.candidates]
        return tuple(sorted(own + [candidate for branch in self.branches for candidate in branch.candidates]))

    @property
    def fits(self) -> int:
        """Number of fits of last steps, which brute force counts too."""
        return len(self.by_fit)

    @property
    def by_fit(self) -> list[tuple[int, ...]]:
        """The branch's candidates, in groups that one fit of a last step serves."""
        below = [group for branch in self.branches for group in branch.by_fit]
        return [group for leaf in self.leaves for group in leaf.by_fit] + below

    @property
    def transforms(self) -> int:
        """Number of fits of transformers; sizes that are read off one fit count once."""
        below = sum(branch.transforms for branch in self.branches)
        read_off = len(self.branches) if self.size is not None else 0
        return (self.transformer is not None) + below - read_off

    @property
    def transforms_alone(self) -> int:
        """Number of fits of transformers if every candidate fitted its own."""
        own = len(self.candidates) if self.transformer is not None and self.size is None else 0
        return own + sum(branch.transforms_alone for branch in self.branches)


Chain = tuple[int, list[tuple[str, Any]]]


def grow_branches(candidates: Iterable[tuple[int, Any]], refusals: list[str] | None = None) -> Branch:
    """Return the tree of these candidates and unfitted estimators; reasons not to share go to `refusals`."""
    chains = [(candidate, chain_of(estimator)) for candidate, estimator in candidates]
    return _grow(("", None), chains, 0, [] if refusals is None else refusals)


def _grow(own: tuple[str, Any], chains: Sequence[Chain], depth: int, refusals: list[str]) -> Branch:
    ends = [(candidate, chain[-1]) for candidate, chain in chains if len(chain) == depth + 1]
    longer: dict[Hashable, list[Chain]] = {}
    for candidate, chain in chains:
        if len(chain) > depth + 1:
            name, step = chain[depth]
            size = size_of(step)
            without = () if size is None else (size.parameter,)
            longer.setdefault((name, signature(step, without=without)), []).append((candidate, chain))
    branches = [branch for group in longer.values() for branch in _branches(group, depth, refusals)]
    name, transformer = own
    return Branch(transformer=transformer, name=name, branches=tuple(branches), leaves=_leaves(ends, refusals))


def _branches(chains: Sequence[Chain], depth: int, refusals: list[str]) -> list[Branch]:
    """Return the branches of chains whose next transformers are equal, or equal but for their size."""
    equal: dict[Hashable, list[Chain]] = {}
    for candidate, chain in chains:
        equal.setdefault(signature(chain[depth][1]), []).append((candidate, chain))
    branches = [_grow(group[0][1][depth], group, depth + 1, refusals) for group in equal.values()]
    size = size_of(chains[0][1][depth][1])
    transformers = [branch.transformer for branch in branches]
    if size is None or len(branches) == 1:
        return branches
    refusal = size.refusal(transformers)
    if refusal is not None:
        refusals.append(refusal)
        return branches
    largest = max(transformers, key=lambda one: _as_number(getattr(one, size.parameter)))
    return [Branch(transformer=largest, name=branches[0].name, branches=tuple(branches), leaves=(), size=size)]


def _as_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("inf")  # SelectKBest takes "all"


def _leaves(ends: Sequence[tuple[int, tuple[str, Any]]], refusals: list[str]) -> tuple[Leaf, ...]:
    alike: dict[tuple[str, type], list[tuple[int, Any]]] = {}
    for candidate, (name, estimator) in ends:
        alike.setdefault((name, type(estimator)), []).append((candidate, estimator))
    return tuple(
        replace(leaf, name=name) for (name, _), group in alike.items() for leaf in _leaves_of_type(group, refusals)
    )


def _leaves_of_type(ends: Sequence[tuple[int, Any]], refusals: list[str]) -> list[Leaf]:
    """Return the leaves of the grouping with the fewest fits, among no path and each path for this type."""
    best = _grouped(ends, None, refusals)
    for path in PATHS:
        if path.takes(ends[0][1]):
            grouped = _grouped(ends, path, refusals)
            if len(grouped) < len(best):
                best = grouped
    return best


def _grouped(ends: Sequence[tuple[int, Any]], path: Path | Binned | None, refusals: list[str]) -> list[Leaf]:
    groups: dict[Hashable, list[tuple[int, Any]]] = {}
    for candidate, estimator in ends:
        lane = None if path is None else path.lane(path.value_of(estimator))
        key = signature(estimator, without=() if path is None else path.free), lane
        groups.setdefault(key, []).append((candidate, estimator))
    leaves: list[Leaf] = []
    for group in groups.values():
        refusal = None if path is None or len(group) == 1 else path.refusal([estimator for _, estimator in group])
        if refusal is not None:
            refusals.append(refusal)
        if path is None or len(group) == 1 or refusal is not None:
            leaves += [Leaf(path=None, members=equal) for equal in _equals(group)]
            continue
        cut = path.cut([path.value_of(estimator) for _, estimator in group])
        leaves += [Leaf(path=path, members=tuple(group[place] for place in places)) for places in cut]
    return leaves


def _equals(group: Sequence[tuple[int, Any]]) -> list[tuple[tuple[int, Any], ...]]:
    same: dict[Hashable, list[tuple[int, Any]]] = {}
    for candidate, estimator in group:
        same.setdefault(signature(estimator), []).append((candidate, estimator))
    return [tuple(members) for members in same.values()]
