"""Which candidates are nearest neighbours, and which of them one search answers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from heldout.kernels.driver.prepared import Candidate, read_search
from heldout.kernels.sums.rounding import Refuse
from heldout.kernels.within.signature import signature
from heldout.search.search import Search
from heldout.task.task import Task

MODELS = (KNeighborsClassifier, KNeighborsRegressor)
WORDS = "KNeighborsClassifier or KNeighborsRegressor"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """One candidate of a group; members of a group differ in n_neighbors and weights alone."""

    taken: Candidate
    k: int
    weights: str | None
    group: Hashable

    @property
    def model(self) -> Any:
        """The KNeighborsClassifier or KNeighborsRegressor, not fitted."""
        return self.taken.model

    @property
    def classifies(self) -> bool:
        return type(self.model) is KNeighborsClassifier

    def methods(self, task: Task) -> tuple[str, ...]:
        """The response methods of which the kernel knows the answers."""
        return ("predict", "predict_proba") if self.classifies and task.y.ndim == 1 else ("predict",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """All candidates of a search that the kernel reads, and why it does not read the others."""

    by_candidate: Mapping[int, Member]
    refusals: tuple[str, ...]

    @property
    def largest(self) -> int:
        return max(member.k for member in self.by_candidate.values())

    @property
    def most(self) -> int:
        """The number of candidates in the largest group."""
        return max(Counter(member.group for member in self.by_candidate.values()).values())


def read_members(search: Search) -> Members:
    """The candidates of a search; looked through once for each search."""
    if "neighbours" not in search.memo:
        by_candidate, refusals = read_search(search, MODELS, _read, WORDS)
        search.memo["neighbours"] = Members(by_candidate=by_candidate, refusals=refusals)
    members: Members = search.memo["neighbours"]
    return members


def _read(candidate: Candidate) -> Member:
    model = candidate.model
    k, weights, params = model.n_neighbors, model.weights, model.metric_params or {}
    if not isinstance(model.metric, str):
        raise Refuse("the metric is a function or an object of the user's own")
    if model.metric == "precomputed":
        raise Refuse("the distances are precomputed, so X has a column for each row")
    if "p" in params:
        raise Refuse("metric_params holds p, of which scikit-learn warns")
    if model.metric == "minkowski" and not (isinstance(model.p, Real) and float(model.p) >= 1):
        raise Refuse("the Minkowski metric with p below 1 is no distance, of which scikit-learn warns")
    if any(callable(value) for value in params.values()):
        raise Refuse("metric_params holds a function")
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise Refuse(f"n_neighbors={k!r} is no whole number above 0")
    if weights is not None and not (isinstance(weights, str) and weights in ("uniform", "distance")):
        raise Refuse("weights is a function of the user's own")
    return Member(
        taken=candidate,
        k=int(k),
        weights=weights,
        group=(candidate.preparation, signature(model, without=("n_neighbors", "weights", "n_jobs"))),
    )
