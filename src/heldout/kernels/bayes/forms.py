"""The form of a candidate: all of a naive Bayes learner but its smoothing. Candidates of one form go together."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import chain_of
from heldout.kernels.ridge.columns import Unreadable
from heldout.losses import Loss, needed_methods
from heldout.task.task import Task

KINDS: dict[type, str] = {
    GaussianNB: "gaussian",
    MultinomialNB: "multinomial",
    ComplementNB: "complement",
    BernoulliNB: "bernoulli",
}
LEAST_ALPHA = 1e-10  # what scikit-learn raises alpha to, where force_alpha is False
METHODS = ("predict", "predict_proba")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A naive Bayes learner. Equal forms differ in nothing but the number that smooths."""

    kind: str  # of KINDS
    scaled: bool | None = None  # behind a StandardScaler, and whether that divides; None without one
    prior: tuple[float, ...] | None = None  # the user's own
    fit_prior: bool = True
    force_alpha: bool = True
    norm: bool = False  # of complement
    threshold: float | None = None  # of Bernoulli: above it a number counts as 1; None where numbers stay as they are
    threshold_type: str = ""  # a threshold of another type is compared in another precision

    @property
    def gaussian(self) -> bool:
        return self.kind == "gaussian"

    @property
    def reading(self) -> tuple[Any, ...]:
        """What the sums of this form depend on, the task apart."""
        return (self.gaussian, self.threshold, self.threshold_type)


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not GaussianNB, MultinomialNB, ComplementNB or BernoulliNB"


def read_form(estimator: Any, task: Task) -> tuple[Form, float]:
    """The form and the smoothing of an unfitted estimator; raises Unreadable with the reason to refuse it."""
    chain = chain_of(estimator)
    model, before = chain[-1][1], [step for _, step in chain[:-1]]
    if type(model) not in KINDS:
        raise Unreadable(no_model(type(model)))
    name, kind = type(model).__name__, KINDS[type(model)]
    if kind == "gaussian":
        prior = _prior(model.priors, task)
        if prior is not None and not np.isclose(sum(prior), 1.0):
            raise Unreadable("priors of GaussianNB do not sum to 1")
        return Form(kind=kind, scaled=_scaling(before), prior=prior), _number("var_smoothing", model.var_smoothing)
    if before:
        raise Unreadable(f"{type(before[0]).__name__} stands before {name}; the sums are those of X as it is")
    threshold, of_type = None, ""
    if kind == "bernoulli" and model.binarize is not None:
        threshold, of_type = _number("binarize", model.binarize), type(model.binarize).__name__
    form = Form(
        kind=kind,
        prior=None if kind == "complement" else _prior(model.class_prior, task),
        fit_prior=_flag("fit_prior", model.fit_prior),
        force_alpha=_flag("force_alpha", model.force_alpha),
        norm=kind == "complement" and _flag("norm", model.norm),
        threshold=threshold,
        threshold_type=of_type,
    )
    alpha = _number("alpha", model.alpha)
    return form, alpha if form.force_alpha else max(alpha, LEAST_ALPHA)


def lacking(losses: tuple[Loss, ...]) -> str | None:
    """What these losses ask for that recorded responses cannot give, in words; None if nothing."""
    for loss in losses:
        if loss.asks_predictor:
            return f"the loss {loss.name!r} asks the fitted estimator itself"
    for alternatives in needed_methods(losses):
        if not any(method in METHODS for method in alternatives):
            return f"the loss needs {' or '.join(alternatives)}, which naive Bayes lacks"
    return None


def wants_proba(losses: tuple[Loss, ...]) -> bool:
    """Whether scikit-learn would ask predict_proba for some of these losses."""
    asked = (next((m for m in alternatives if m in METHODS), None) for alternatives in needed_methods(losses))
    return "predict_proba" in asked


def _scaling(before: list[Any]) -> bool | None:
    if not before:
        return None
    if len(before) > 1 or type(before[0]) is not StandardScaler:
        odd = next((step for step in before if type(step) is not StandardScaler), before[0])
        raise Unreadable(f"{type(odd).__name__} stands before GaussianNB; only one StandardScaler may")
    return bool(before[0].with_std)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not 0 <= float(value) < np.inf:
        raise Unreadable(f"{name} is not one number from 0 up")
    return float(value)


def _flag(name: str, value: Any) -> bool:
    if type(value) not in (bool, np.bool_):
        raise Unreadable(f"{name}={value!r} is neither True nor False")
    return bool(value)


def _prior(given: Any, task: Task) -> tuple[float, ...] | None:
    if given is None:
        return None
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise Unreadable("priors are no numbers") from None
    if task.classes is None or prior.shape != task.classes.shape:
        raise Unreadable("there is not one prior for each class")
    if not (np.isfinite(prior).all() and (prior > 0).all()):
        raise Unreadable("a prior is not above 0")
    return tuple(prior.tolist())
