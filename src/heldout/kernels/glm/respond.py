"""From coefficients to the responses of an estimator on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.extmath import softmax

from heldout.base.responses import Responses
from heldout.kernels.glm.families import Family
from heldout.kernels.glm.forms import Form
from heldout.losses import Loss, needed_methods
from heldout.task.task import Task

Floats = NDArray[np.float64]


def methods_of(form: Form) -> tuple[str, ...]:
    """The response methods that an estimator of this form has."""
    return ("predict", "predict_proba", "decision_function") if form.classifies else ("predict",)


def lacking(form: Form, losses: tuple[Loss, ...]) -> str | None:
    """What these losses ask for that recorded responses of this form cannot give, in words; None if nothing."""
    has = methods_of(form)
    for loss in losses:
        if loss.asks_predictor:
            return f"the loss {loss.name!r} asks the fitted estimator itself"
    for alternatives in needed_methods(losses):
        if not any(method in has for method in alternatives):
            return f"the loss needs {' or '.join(alternatives)}, which these learners lack"
    return None


def responses_of(form: Form, family: Family, task: Task, eta: Floats, losses: tuple[Loss, ...]) -> list[Responses]:
    """What an estimator with each strength answers, from linear predictors: strengths × predictors × rows."""
    if not form.classifies:
        return [Responses(predict=np.exp(one[0])) for one in eta]
    wanted = {next(m for m in alternatives if m in methods_of(form)) for alternatives in needed_methods(losses)}
    classes = _labels(task)
    basis = family.contrasts() if family.classes > 2 else None
    return [_classified(one, basis, classes, wanted) for one in eta]


def _labels(task: Task) -> NDArray[Any]:
    """scikit-learn keeps labels that are text in the narrowest type that holds them."""
    assert task.classes is not None
    return np.asarray(task.classes.tolist()) if task.classes.dtype.kind in "UO" else task.classes


def _classified(one: Floats, basis: Floats | None, classes: NDArray[Any], wanted: set[str]) -> Responses:
    if basis is None:
        scores = np.ascontiguousarray(one[0])
        codes = (scores > 0).astype(np.intp)
    else:
        scores = np.ascontiguousarray((basis @ one).T)
        codes = scores.argmax(axis=1)
    shares = None
    if "predict_proba" in wanted:
        share = expit(scores) if basis is None else softmax(scores)
        shares = np.stack([1 - share, share], axis=1) if basis is None else share
    decision = scores if "decision_function" in wanted else None
    return Responses(predict=classes[codes], predict_proba=shares, decision_function=decision, classes=classes)
