"""What a finished study affords the rules of intervals beside its losses, at no further fits.

That is what its predictors answered on the rows they were tested on, what some of them answered on a fixed set of rows,
those that they were trained on among them, and two facts about the learner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cross_decomposition import PLSRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    LarsCV,
    Lasso,
    LassoCV,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    PoissonRegressor,
    Ridge,
    RidgeCV,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_class_weight

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome
from heldout.study.pose import OUTER, aside_of
from heldout.study.study import EVERYWHERE, TEST
from heldout.task import Task

_LEAST_SQUARES = (
    *(LinearRegression, Ridge, RidgeCV, Lasso, LassoCV, ElasticNet, ElasticNetCV),
    *(Lars, LarsCV, LassoLars, LassoLarsCV, LassoLarsIC, OrthogonalMatchingPursuit, OrthogonalMatchingPursuitCV),
    *(MultiTaskLasso, MultiTaskLassoCV, MultiTaskElasticNet, MultiTaskElasticNetCV),
    *(BayesianRidge, ARDRegression, PLSRegression, KernelRidge),
    *(HuberRegressor, GammaRegressor, PoissonRegressor, TweedieRegressor),  # nearly: their fits are weighted squares
)


class FoldResponses(NamedTuple):
    """What the predictor of one test part answered on a fixed set of rows."""

    part: int
    rows: Rows
    responses: Responses
    trained: NDArray[np.bool_]  # whether the predictor was trained on the row


def fold_predictor_responses(task: Task, outcome: Outcome) -> list[FoldResponses] | None:
    """What the predictors of several test parts answered on the same rows; None where they were not asked.

    They are those of at most ten parts of the first repeat. A predictor whose answers failed is left out.
    """
    study = outcome.study
    found = []
    for place, part in enumerate(study.everywhere.parts):
        panel = next(panel for panel in study.of_level(TEST) if part in panel.parts)
        table = outcome.tables.asides.get(aside_of(panel.candidates[0])) if panel.candidates else None
        responses = None if table is None else table.responses(table.candidates[0], place)
        if responses is not None:
            rows = study.splits[EVERYWHERE].rows
            # The predictor of an average was trained on the rows of any of its members.
            sides = [study.splits[ref.splits].train_rows(ref.part) for ref in panel.trains_of(part)]
            found.append(FoldResponses(part, rows, responses, np.isin(rows, np.concatenate(sides))))
    return found or None


def held_out_responses(task: Task, outcome: Outcome) -> tuple[Responses | None, ...]:
    """What the predictor of each test part answered on its own held-out rows; None for a part without an answer.

    Classifiers of two classes were asked for probabilities too, where they have them and asking is cheap. Where they
    answered them on all rows those of their own test part are taken from there.
    """
    study = outcome.study
    asked = {one.part: one for one in fold_predictor_responses(task, outcome) or ()}
    found: list[Responses | None] = [None] * len(study.splits[OUTER])
    for panel in study.of_level(TEST):
        table = outcome.tables.panels.get(panel.key)
        for part in panel.parts if table is not None and len(table.candidates) else ():
            assert table is not None
            responses = table.responses(table.candidates[0], part)
            found[part] = _with_probabilities(responses, asked.get(part), study.splits[OUTER].held_rows(part))
    return tuple(found)


def _with_probabilities(own: Responses | None, everywhere: FoldResponses | None, held: Rows) -> Responses | None:
    if own is None or own.predict_proba is not None or everywhere is None or everywhere.responses.predict_proba is None:
        return own
    places = np.searchsorted(everywhere.rows, held)
    known = places < len(everywhere.rows)
    if not known.all() or not np.array_equal(everywhere.rows[places], held):
        return own
    return replace(own, predict_proba=everywhere.responses.predict_proba[places], classes=everywhere.responses.classes)


def is_least_squares(estimator: Any) -> bool:
    """Whether the last step fits a squared loss by something linear in its features, with or without a penalty.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> is_least_squares(make_pipeline(StandardScaler(), Ridge()))
    True
    """
    return all(_fits_squares(last) for last in _last_steps(estimator))


def _fits_squares(last: Any) -> bool:
    if isinstance(last, SGDRegressor):
        return bool(last.loss == "squared_error")
    return isinstance(last, _LEAST_SQUARES)


def class_weights_of(estimator: Any, y: NDArray[Any]) -> NDArray[np.float64] | None:
    """The weight of each class of `y`, in the order of sorted labels, that `class_weight` of the last step sets.

    None where there is no such parameter, it is not set, or the families of a learner differ in it.

    >>> from sklearn.linear_model import LogisticRegression
    >>> class_weights_of(LogisticRegression(class_weight="balanced"), np.array([0, 0, 0, 1]))
    array([0.66666667, 2.        ])
    """
    classes = np.unique(y)
    found = [_weights_of(getattr(last, "class_weight", None), classes, y) for last in _last_steps(estimator)]
    first = found[0] if found else None
    same = first is not None and all(one is not None and np.array_equal(one, first) for one in found)
    return first if same else None


def _weights_of(weight: Any, classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64] | None:
    if isinstance(weight, str) and weight in ("balanced", "balanced_subsample"):
        weight = "balanced"
    elif not isinstance(weight, Mapping):
        return None
    return np.asarray(compute_class_weight(weight, classes=classes, y=y), dtype=np.float64)


def _last_steps(estimator: Any) -> list[Any]:
    """The estimator itself, the last step of a Pipeline, or those of the families that a search chooses from."""
    if isinstance(estimator, Pipeline):
        return _last_steps(estimator.steps[-1][1])
    if isinstance(estimator, Mapping):  # the families of a Tuned
        return [last for family, _ in estimator.values() for last in _last_steps(family)]
    inside = getattr(estimator, "estimator", None)
    searches = inside is not None and (hasattr(estimator, "space") or hasattr(estimator, "refit"))
    return _last_steps(inside) if searches else [estimator]
