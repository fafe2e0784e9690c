"""Which candidates are nearest neighbours, and which of them one search answers together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from heldout.kernels.fitting import make_candidate
from heldout.kernels.within.signature import signature
from heldout.search.search import Family, Search

KINDS = (KNeighborsClassifier, KNeighborsRegressor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One candidate of a group: all that sets it apart from the others."""

    candidate: int
    k: int
    weights: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Candidates that differ in n_neighbors and weights alone."""

    estimator: Any  # one of them, unfitted
    members: tuple[Member, ...]

    @property
    def knn(self) -> Any:
        return last_step(self.estimator)

    @property
    def prepared(self) -> bool:
        """Whether something is fitted in front, so that distances differ between training sets."""
        return has_preparation(self.estimator)

    @property
    def largest(self) -> int:
        return max(member.k for member in self.members)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """The groups of a search, and why other candidates are in none."""

    groups: tuple[Group, ...]
    refusals: tuple[str, ...]

    def group_of(self, candidate: int) -> Group:
        return next(g for g in self.groups if any(m.candidate == candidate for m in g.members))

    @property
    def largest(self) -> int:
        return max((group.largest for group in self.groups), default=0)

    @property
    def most(self) -> int:
        """The number of candidates in the largest group."""
        return max((len(group.members) for group in self.groups), default=0)


_surveys: WeakKeyDictionary[Search, Survey] = WeakKeyDictionary()


def survey(search: Search) -> Survey:
    """The groups of a search; looked through once for each search."""
    found = _surveys.get(search)
    if found is None:
        found = _surveys[search] = _look_through(search)
    return found


def _look_through(search: Search) -> Survey:
    """Candidates by all their parameters but two: one of each kind is made and looked at, the others are not."""
    made: dict[Hashable, tuple[Any, str | None]] = {}
    groups: dict[Hashable, list[Member]] = {}
    refusals: dict[str, None] = {}
    strangers = {id(family): _refusal(family.estimator) for family in search.families if _is_stranger(family)}
    for candidate in range(len(search)):
        family = search.family_of(candidate)
        if id(family) in strangers:
            refusals[strangers[id(family)] or ""] = None
            continue
        params = search.params_of(candidate)
        names = [f"{_path(family.estimator)}{name}" for name in ("n_neighbors", "weights")]
        own = [name in params for name in names]
        others = tuple((name, signature(params[name])) for name in params if name not in names)
        key = (id(family), *own, others)
        if key not in made:
            estimator = make_candidate(search, candidate)
            made[key] = (estimator, _refusal(estimator))
        estimator, reason = made[key]
        knn = last_step(estimator)
        if reason is None:
            k, weights = (
                params[name] if there else getattr(knn, name.rpartition("__")[2])
                for name, there in zip(names, own, strict=True)
            )
            reason = _value_refusal(k, weights)
            if reason is None:
                groups.setdefault(key, []).append(Member(candidate=candidate, k=int(k), weights=weights))
        if reason is not None:
            refusals[reason] = None
    return Survey(groups=_merged(groups, made), refusals=tuple(refusals))


def _merged(groups: dict[Hashable, list[Member]], made: dict[Hashable, tuple[Any, str | None]]) -> tuple[Group, ...]:
    """Groups whose estimators are the same but for the two parameters, as one."""
    estimators: dict[Hashable, Any] = {}
    members: dict[Hashable, list[Member]] = {}
    for key, own in groups.items():
        estimator = made[key][0]
        last_step(estimator).set_params(n_neighbors=1, weights="uniform", n_jobs=None)
        same = signature(estimator)
        estimators.setdefault(same, estimator)
        members.setdefault(same, []).extend(own)
    ordered = {key: tuple(sorted(own, key=lambda member: member.candidate)) for key, own in members.items()}
    return tuple(Group(estimator=estimators[key], members=own) for key, own in ordered.items())


def _is_stranger(family: Family) -> bool:
    """Whether no candidate of a family can be of this kind, which shows without making one."""
    path = _path(family.estimator)
    replaces = {path[:place] for place in range(len(path)) if path.startswith("__", place)}
    fixed = not replaces & set(family.candidates.names)
    return fixed and _refusal(family.estimator) is not None and type(last_step(family.estimator)) not in KINDS


def _path(estimator: Any) -> str:
    """What the names of the last step's parameters begin with."""
    path = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        path += f"{name}__"
    return path


def last_step(estimator: Any) -> Any:
    """The estimator at the end of a Pipeline, or itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def has_preparation(estimator: Any) -> bool:
    """Whether a Pipeline does something to X before its last step."""
    while isinstance(estimator, Pipeline):
        if any(step is not None and step != "passthrough" for _, step in estimator.steps[:-1]):
            return True
        estimator = estimator.steps[-1][1]
    return False


def prepare_rows(fitted: Any, X: Any) -> Any:
    """X as the last step of a fitted Pipeline gets it."""
    while isinstance(fitted, Pipeline):
        if len(fitted.steps) > 1:
            X = fitted[:-1].transform(X)
        fitted = fitted.steps[-1][1]
    return X


def _refusal(estimator: Any) -> str | None:
    """Why one candidate cannot be answered from a shared search, or None."""
    inner = estimator
    while isinstance(inner, Pipeline):
        if type(inner) is not Pipeline:
            return f"{type(inner).__name__} is not scikit-learn's own Pipeline"
        inner = inner.steps[-1][1]
    if type(inner) not in KINDS:
        return f"{type(inner).__name__} is neither KNeighborsClassifier nor KNeighborsRegressor"
    if not isinstance(inner.metric, str):
        return "the metric is a function or an object of the user's own"
    if inner.metric == "precomputed":
        return "the distances are precomputed, so X has a column for each row"
    params = inner.metric_params or {}
    if "p" in params:
        return "metric_params holds p, of which scikit-learn warns"
    if inner.metric == "minkowski" and not (isinstance(inner.p, Real) and float(inner.p) >= 1):
        return "the Minkowski metric with p below 1 is no distance, of which scikit-learn warns"
    if any(callable(value) for value in params.values()):
        return "metric_params holds a function"
    return None


def _value_refusal(k: Any, weights: Any) -> str | None:
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        return f"n_neighbors={k!r} is no whole number above 0"
    if weights is not None and not (isinstance(weights, str) and weights in ("uniform", "distance")):
        return "weights is a function of the user's own"
    return None
