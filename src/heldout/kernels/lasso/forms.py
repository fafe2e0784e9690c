"""The form of a candidate: all of a penalised learner but its penalty. Candidates of one form share their sums."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, MultiTaskElasticNet, MultiTaskLasso, Ridge
from sklearn.pipeline import Pipeline

from heldout.kernels.claims import chain_of
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.forms import Form as LinearForm
from heldout.kernels.ridge.forms import read_form as read_linear
from heldout.task.task import Task

MODELS = (Lasso, ElasticNet, MultiTaskLasso, MultiTaskElasticNet)
JOINT = (MultiTaskLasso, MultiTaskElasticNet)
LEAST_SWEEPS = 1000  # scikit-learn's own limit: one who asks for fewer wants a descent that stops on its way


class Penalty(NamedTuple):
    """What one candidate pays for its coefficients, and how exactly scikit-learn would have solved it."""

    alpha: float
    l1_ratio: float
    tol: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A linear model on scaled columns with an absolute penalty. Equal forms differ in nothing but the penalty."""

    linear: LinearForm
    joint: bool  # the penalty takes a column's coefficients for all targets together
    positive: bool


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not Lasso, ElasticNet, MultiTaskLasso or MultiTaskElasticNet"


def read_form(estimator: Any, task: Task) -> tuple[Form, Penalty]:
    """The form and penalty of an unfitted estimator; raises Unreadable with the reason when it cannot be answered."""
    model = chain_of(estimator)[-1][1]
    if type(model) not in MODELS:
        raise Unreadable(no_model(type(model)))
    _refuse_settings(model)
    joint = isinstance(model, JOINT)
    if joint and (task.y.ndim != 2 or task.y.shape[1] < 2):
        raise Unreadable(f"{type(model).__name__} wants several targets")
    if not joint and task.y.ndim == 2 and task.y.shape[1] == 1:
        raise Unreadable("y is a table of a single column")
    linear = read_linear(_with_last(estimator, Ridge(fit_intercept=model.fit_intercept)), task)
    return Form(linear=linear, joint=joint, positive=bool(getattr(model, "positive", False))), _penalty(model)


def _with_last(estimator: Any, model: Any) -> Any:
    """The same steps before another model; the steps themselves are only looked at."""
    before = chain_of(estimator)[:-1]
    steps = [(f"step{place}", step) for place, (_, step) in enumerate(before)]
    return Pipeline([*steps, ("model", model)]) if steps else model


def _refuse_settings(model: Any) -> None:
    name = type(model).__name__
    precompute = getattr(model, "precompute", False)
    if not isinstance(precompute, bool | np.bool_):
        raise Unreadable("precompute= holds products of rows that are not those of the training sets")
    for flag in ("positive", "warm_start", "copy_X"):
        if not isinstance(getattr(model, flag, False), bool | np.bool_):
            raise Unreadable(f"{flag}={getattr(model, flag)!r} is neither True nor False")
    if model.selection not in ("cyclic", "random"):
        raise Unreadable(f"selection={model.selection!r} is neither 'cyclic' nor 'random'")
    if not isinstance(model.max_iter, Integral) or isinstance(model.max_iter, bool) or model.max_iter < LEAST_SWEEPS:
        raise Unreadable(f"{name}(max_iter={model.max_iter!r}) may stop before the optimum that this kernel finds")


def _penalty(model: Any) -> Penalty:
    for name in ("alpha", "tol", "l1_ratio"):
        value = getattr(model, name, 1.0)
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not 0 <= float(value) < np.inf:
            raise Unreadable(f"{name}={value!r} is no number from 0 up")
    ratio = float(getattr(model, "l1_ratio", 1.0))
    if ratio > 1:
        raise Unreadable(f"l1_ratio={model.l1_ratio!r} is above 1")
    if model.alpha == 0:
        raise Unreadable("alpha=0 is least squares, which descent on columns does not solve well")
    if model.tol == 0:
        raise Unreadable("tol=0 asks for as many sweeps as there may be")
    if ratio == 0 and (isinstance(model, JOINT) or model.positive):
        raise Unreadable("l1_ratio=0 with several tasks or positive=True has no absolute penalty to take apart")
    return Penalty(alpha=float(model.alpha), l1_ratio=ratio, tol=float(model.tol))
