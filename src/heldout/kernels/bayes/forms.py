"""The settings of a naive Bayes learner that candidates of one group share: all but the smoothing parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import binarize

from heldout.kernels.driver.contract import is_number, read_flag, read_priors
from heldout.kernels.step import remember
from heldout.kernels.sums.dataset import data_problem, matrix_of
from heldout.kernels.sums.rounding import Refuse
from heldout.task.task import Task

MODELS: dict[type, tuple[str, ...]] = {
    GaussianNB: ("var_smoothing",),
    MultinomialNB: ("alpha",),
    ComplementNB: ("alpha",),
    BernoulliNB: ("alpha",),
}
LEAST_ALPHA = 1e-10  # scikit-learn raises smaller alphas to this where force_alpha is False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """X as discrete naive Bayes reads it, dense or sparse.

    BernoulliNB's values are 1 above the threshold and 0 elsewhere.
    """

    negative: bool  # whether values below 0 are allowed
    threshold: float | None = None  # None: values are not binarized
    threshold_type: str = ""  # a threshold of another type is compared in another precision

    def problem(self, task: Task) -> str:
        return remember(task.memo, ("problem of counts", self.negative), lambda: self._problem(task))

    def _problem(self, task: Task) -> str:
        if task.container == "sparse":
            kind = task.X.dtype
            if kind.kind not in "biuf" or kind == np.float16 or kind.itemsize > 8:
                return f"X is of type {kind}; only float64, float32, whole numbers and booleans are read"
            if not np.isfinite(task.X.data).all():
                return "X has missing or infinite values"
        elif problem := data_problem(task):
            return problem
        values = task.X.data if task.container == "sparse" else matrix_of(task)
        if not self.negative and values.size and values.min() < 0:
            return "X has negative values, which are no counts"
        return ""

    def make(self, task: Task) -> Any:
        X = task.X.tocsr() if task.container == "sparse" else matrix_of(task)
        return X if self.threshold is None else binarize(X, threshold=self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The settings of a naive Bayes learner. Candidates with equal forms differ only in the smoothing parameter."""

    kind: type
    prior: tuple[float, ...] | None = None  # given by the user
    fit_prior: bool = True
    force_alpha: bool = True
    norm: bool = False  # ComplementNB's
    counts: Counts | None = None  # None: Gaussian

    @property
    def gaussian(self) -> bool:
        return self.kind is GaussianNB


def read_form(model: Any, task: Task) -> Form:
    """Return the form of an unfitted model. Raises Refuse where the kernel cannot answer it."""
    kind = type(model)
    if kind is GaussianNB:
        prior = read_priors(model.priors, task)
        if prior is not None and not np.isclose(sum(prior), 1.0):
            raise Refuse("priors of GaussianNB do not sum to 1")
        return Form(kind=kind, prior=prior)
    counts = Counts(negative=kind is BernoulliNB)
    if kind is BernoulliNB and model.binarize is not None:
        threshold = _one_number("binarize", model.binarize)
        counts = Counts(negative=True, threshold=threshold, threshold_type=type(model.binarize).__name__)
    return Form(
        kind=kind,
        prior=None if kind is ComplementNB else read_priors(model.class_prior, task),
        fit_prior=read_flag("fit_prior", model.fit_prior),
        force_alpha=read_flag("force_alpha", model.force_alpha),
        norm=kind is ComplementNB and read_flag("norm", model.norm),
        counts=counts,
    )


def read_smoothing(form: Form, value: Any) -> float:
    """Return the smoothing parameter (alpha or var_smoothing). Raises Refuse where it is not a number from 0 up."""
    number = _one_number("var_smoothing" if form.gaussian else "alpha", value)
    return number if form.force_alpha else max(number, LEAST_ALPHA)


def _one_number(name: str, value: Any) -> float:
    if not is_number(value):
        raise Refuse(f"{name} is not one number from 0 up")
    return float(value)
