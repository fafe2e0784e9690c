"""Which candidates are nearest neighbours, and which of them one search answers together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from heldout.kernels.driver.contract import is_count
from heldout.kernels.driver.prepared import Candidate
from heldout.kernels.sums.rounding import Refuse
from heldout.kernels.within.signature import signature
from heldout.task.task import Task

MODELS = (KNeighborsClassifier, KNeighborsRegressor)
WORDS = "KNeighborsClassifier or KNeighborsRegressor"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member(Candidate):
    """One candidate of a group. Members of a group differ only in n_neighbors and weights."""

    k: int
    weights: str | None

    @property
    def classifies(self) -> bool:
        return type(self.model) is KNeighborsClassifier

    @property
    def group(self) -> Hashable:
        return self.preparation, signature(self.model, without=("n_neighbors", "weights", "n_jobs"))

    def methods(self, task: Task) -> tuple[str, ...]:
        return ("predict", "predict_proba") if self.classifies and task.y.ndim == 1 else ("predict",)


def read_member(candidate: Candidate) -> Member:
    """Read one unfitted candidate. Raises Refuse if the kernel cannot answer it."""
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
    if not is_count(k):
        raise Refuse(f"n_neighbors={k!r} is no whole number above 0")
    if weights is not None and not (isinstance(weights, str) and weights in ("uniform", "distance")):
        raise Refuse("weights is a function of the user's own")
    return Member(number=candidate.number, before=candidate.before, model=model, k=int(k), weights=weights)
