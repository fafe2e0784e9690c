"""The form of a candidate: all of a generalised linear model but the strength of its penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import chain_of
from heldout.kernels.ridge.columns import Columns, Unreadable, columns_of, is_column_step
from heldout.task.task import Task

MODELS = (LogisticRegression, PoissonRegressor, GammaRegressor, TweedieRegressor)
SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga")
FEWEST_ITERATIONS = 100  # scikit-learn's default: fewer are asked for to stop early
LOOSEST = 1e-2  # a tolerance past this one stops early too


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A generalised linear model on scaled columns. Equal forms differ in nothing but the strength of the penalty."""

    power: float | None  # of the variance, for regressions with a log link: 1 Poisson, 2 Gamma; None: classes
    intercept: bool
    columns: Columns
    class_weight: str | tuple[tuple[Any, float], ...] | None = None  # "balanced", or a weight for each class named

    @property
    def classifies(self) -> bool:
        return self.power is None


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not LogisticRegression, PoissonRegressor, GammaRegressor or TweedieRegressor"


def strength_name(model: Any) -> str:
    """The parameter that sets how strong the penalty is."""
    return "C" if type(model) is LogisticRegression else "alpha"


def read_form(estimator: Any, task: Task) -> Form:
    """The form of an unfitted estimator; raises Unreadable with the reason when the kernel cannot answer it."""
    chain = chain_of(estimator)
    model, before = chain[-1][1], [step for _, step in chain[:-1]]
    if type(model) not in MODELS:
        raise Unreadable(no_model(type(model)))
    if len(before) > 1:
        raise Unreadable("more than one step stands before the linear model")
    if type(model.fit_intercept) not in (bool, np.bool_):
        raise Unreadable(f"fit_intercept={model.fit_intercept!r} is neither True nor False")
    if not _is_number(model.tol) or not 0 < model.tol <= LOOSEST:
        raise Unreadable(f"tol={model.tol!r}: only fits that end near their optimum are answered")
    if not _is_number(model.max_iter) or model.max_iter < FEWEST_ITERATIONS:
        raise Unreadable(f"max_iter={model.max_iter!r} stops before the optimum")
    columns = _columns(before[0], task) if before else Columns()
    intercept = bool(model.fit_intercept)
    if type(model) is LogisticRegression:
        _check_logistic(model)
        weight = _class_weight(model.class_weight, task)
        return Form(power=None, intercept=intercept, columns=columns, class_weight=weight)
    if model.solver not in ("lbfgs", "newton-cholesky"):
        raise Unreadable(f"solver={model.solver!r} is not lbfgs or newton-cholesky")
    return Form(power=_power(model), intercept=intercept, columns=columns)


def read_strength(form: Form, value: Any) -> float:
    """The strength of one penalty: 1/C of a classifier, alpha of a regressor. Raises Unreadable."""
    if not _is_number(value, most=np.inf) or (form.classifies and value == 0):
        raise Unreadable(f"{'C' if form.classifies else 'alpha'} is not one number from 0 up")
    if not form.classifies and value == np.inf:
        raise Unreadable("alpha is infinite")
    return 1.0 / float(value) if form.classifies else float(value)


def _check_logistic(model: LogisticRegression) -> None:
    if model.solver not in SOLVERS:
        raise Unreadable(f"solver={model.solver!r} penalises the intercept, or is unknown; only {', '.join(SOLVERS)}")
    if model.penalty not in ("deprecated", "l2"):
        raise Unreadable(f"penalty={model.penalty!r}; only l2 is answered")
    if model.l1_ratio is not None and not (_is_number(model.l1_ratio) and model.l1_ratio == 0):
        raise Unreadable("l1_ratio is not 0: only the l2 penalty is smooth")
    if model.dual is not False:
        raise Unreadable("dual=True is liblinear's")


def _power(model: Any) -> float:
    if type(model) is PoissonRegressor:
        return 1.0
    if type(model) is GammaRegressor:
        return 2.0
    if not _is_number(model.power) or not 1 <= model.power <= 2 or model.link not in ("auto", "log"):
        raise Unreadable(f"TweedieRegressor(power={model.power!r}, link={model.link!r}): only powers from 1 to 2 with "
                         "a log link have a single optimum")  # fmt: skip
    return float(model.power)


def _is_number(value: Any, *, most: float = float(np.finfo(float).max)) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) <= most


def _columns(step: Any, task: Task) -> Columns:
    if type(step) is StandardScaler:
        return Columns(centred=bool(step.with_mean), scaled=bool(step.with_std))
    if is_column_step(step):
        return columns_of(step, task)
    raise Unreadable(f"{type(step).__name__} stands before the linear model; only StandardScaler, alone or in a "
                     "ColumnTransformer, may")  # fmt: skip


def _class_weight(weight: Any, task: Task) -> str | tuple[tuple[Any, float], ...] | None:
    if weight is None or (isinstance(weight, str) and weight == "balanced"):
        return weight
    if not isinstance(weight, Mapping):
        raise Unreadable(f"class_weight={weight!r} is neither 'balanced' nor a dict")
    if not weight:
        return None
    known = set(np.asarray(task.classes).tolist()) if task.classes is not None else set()
    if any(label not in known for label in weight):
        raise Unreadable("class_weight names a class that y does not have")
    if not all(_is_number(value) and value > 0 for value in weight.values()):
        raise Unreadable("class_weight has a weight that is not above 0")
    return tuple((label, float(value)) for label, value in weight.items())
