"""What the kernel reads of a model: the settings that decide how scikit-learn minimises, and the penalty."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.utils.class_weight import compute_class_weight

from heldout.base.responses import METHODS
from heldout.kernels.driver.contract import is_number
from heldout.kernels.driver.prepared import Candidate, PreparedRows
from heldout.kernels.glm.objectives import Objective, columns_of
from heldout.kernels.sums.rounding import Floats, Refuse
from heldout.kernels.within.signature import signature
from heldout.task.task import Task

MODELS = (LogisticRegression, PoissonRegressor, GammaRegressor, TweedieRegressor)
WORDS = "LogisticRegression, PoissonRegressor, GammaRegressor or TweedieRegressor"
FEWEST_ITERATIONS = 20  # fits with a smaller max_iter are as fast with scikit-learn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Glm(Candidate):
    """A generalised linear model. Candidates of a group differ only in the strength of their penalty."""

    strength: float  # C of a classifier, alpha of a regressor

    @property
    def classifies(self) -> bool:
        return type(self.model) is LogisticRegression

    @property
    def group(self) -> Hashable:
        return self.preparation, signature(self.model, without=("C", "alpha"))

    @property
    def power(self) -> float:
        """Return the power of the variance function, as in TweedieRegressor: 1 is Poisson and 2 is gamma."""
        powers = {PoissonRegressor: 1.0, GammaRegressor: 2.0}
        return powers[type(self.model)] if type(self.model) in powers else float(getattr(self.model, "power", 0.0))

    def methods(self, task: Task) -> tuple[str, ...]:
        return METHODS if self.classifies else ("predict",)


def strength_of(model: Any) -> float:
    """Return the model's C or alpha. Raises Refuse with the reason where its fit cannot be followed."""
    if model.solver != "lbfgs":
        raise Refuse(f"solver={model.solver!r}: only lbfgs is followed")
    if type(model.fit_intercept) not in (bool, np.bool_):
        raise Refuse(f"fit_intercept={model.fit_intercept!r} is neither True nor False")
    if model.verbose:
        raise Refuse("a verbose fit prints, which only its own fit does")
    if not is_number(model.tol) or not model.tol > 0:
        raise Refuse(f"tol={model.tol!r} is no number above 0")
    if not isinstance(model.max_iter, Integral) or model.max_iter < FEWEST_ITERATIONS:
        raise Refuse(f"max_iter={model.max_iter!r} stops a fit early, with a warning")
    if type(model) is LogisticRegression:
        return _logistic_strength(model)
    if not is_number(model.alpha):
        raise Refuse(f"alpha={model.alpha!r} is no number from 0 up")
    if type(model) is TweedieRegressor and not _has_log_link(model):
        raise Refuse(f"TweedieRegressor(power={model.power!r}, link={model.link!r}): only powers from 1 to 2 with "
                         "a log link are followed")  # fmt: skip
    return float(model.alpha)


def _logistic_strength(model: LogisticRegression) -> float:
    usual = LogisticRegression()
    for name in ("penalty", "l1_ratio", "dual", "n_jobs"):  # other values belong to other solvers, or are deprecated
        if getattr(model, name) != getattr(usual, name):
            raise Refuse(f"{name}={getattr(model, name)!r}: only {name}={getattr(usual, name)!r} is followed")
    if np.inf != model.C and not (is_number(model.C) and model.C > 0):
        raise Refuse(f"C={model.C!r} is no number above 0")
    return float(model.C)


def _has_log_link(model: TweedieRegressor) -> bool:
    return is_number(model.power) and 1 <= model.power <= 2 and model.link in ("auto", "log")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Holds the objective of several candidates on one training set, and where their minimisations start."""

    objective: Objective
    start: Floats
    classes: NDArray[Any] | None


def make_problem(models: Sequence[Glm], rows: PreparedRows) -> Problem | None:
    """Return the problem that scikit-learn would solve, or None for rows where it computes differently, or fails."""
    first, X = models[0], matrix_of(rows.train)
    if X is None or (rows.weight is not None and not rows.weight.sum() > 0):
        return None
    intercept = bool(first.model.fit_intercept)
    weight = None if rows.weight is None else rows.weight.astype(np.float64)
    strengths = np.array([one.strength for one in models])
    classes, y, power = None, np.asarray(rows.y), 0.0
    if first.classifies:
        classes, y = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            return None
        if first.model.class_weight is not None:
            of_class = compute_class_weight(first.model.class_weight, classes=classes, y=rows.y, sample_weight=weight)
            weight = of_class[y] if weight is None else weight * of_class[y]
    else:
        y, power = y.astype(np.float64), first.power
        if y.min() < 0 or (power == 2 and y.min() == 0):
            return None
    total = float(len(y)) if weight is None else float(weight.sum())
    objective = Objective(
        columns=columns_of(X, intercept=intercept),
        y=y,
        weight=None if weight is None else weight / total,
        penalties=1.0 / (strengths * total) if first.classifies else strengths,
        intercept=intercept,
        classes=0 if classes is None else len(classes),
        power=power,
    )
    start = np.zeros(objective.size)
    if classes is None and intercept:
        mean = float(np.average(y, weights=weight))
        if not mean > 0:
            return None
        start[-1] = np.log(mean)
    return Problem(objective=objective, start=start, classes=classes)


def matrix_of(X: Any) -> Any:
    """Return rows in double precision, dense or sparse, or None where scikit-learn would read them differently."""
    is_sparse: bool = sparse.issparse(X)
    try:
        X = X.tocsr() if is_sparse else np.asarray(X)
        if X.ndim != 2 or X.dtype == np.float32 or X.dtype == np.float16 or X.dtype.kind not in "biufO":
            return None
        X = X.astype(np.float64)
        numbers = X.data if is_sparse else X
    except (TypeError, ValueError):
        return None
    return X if X.shape[0] and X.shape[1] and np.isfinite(numbers).all() else None
