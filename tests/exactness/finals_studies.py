"""Generated fits whose final predictor a kernel makes: all that it shows must be what scikit-learn's own fit shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pls_studies
from compare import ROUNDING, Comparison, array_difference
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression

import heldout as ho
from heldout.base.errors import FitFailed

RULE, TIER = "pls", "rounding"
MADE = "final predictor"


def studies() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The studies of `pls` whose learner is PLSRegression alone, with every candidate on its own."""
    for label, build in pls_studies.studies():
        learner = build()[0]
        if isinstance(learner, ho.Tuned) and type(learner.estimator) is PLSRegression:
            yield label, build
    for x in (1e-4, 1e-2, 1.0, 1e3):
        for y in (1e-3, 1.0, 1e5, 1e7):
            yield f"units {x:g} and {y:g}", partial(_in_units, x, y)


def _in_units(x: float, y: float) -> Any:
    X, target = pls_studies.data(n=120)
    return pls_studies.plain(), x * X, y * target, {}


def check(label: str, build: Callable[[], Any]) -> Comparison:
    """Each candidate fitted on all rows, by its kernel and by scikit-learn."""
    learner, X, y, _ = build()
    tried = made = 0
    sound, worst = True, 0.0
    for params in _candidates(learner):
        space = [{name: [value] for name, value in params.items()}]
        alone = ho.Tuned(clone(learner.estimator), space, validation=ho.KFold(3), jobs=1)
        brute = clone(alone).set_params(options=ho.Options(rules={RULE: False}))
        try:
            ours, theirs = alone.fit(X, y), brute.fit(X, y)
        except FitFailed:
            continue  # what scikit-learn refuses has no final predictor
        tried += 1
        sound = sound and not any("not used" in words for words in ours.plan_.checked)
        if any(MADE in note for note in ours.plan_.notes):
            made += 1
            worst = max(worst, difference(ours.best_estimator_, theirs.best_estimator_, X))
    return Comparison(
        label=label,
        claimed=made > 0,
        brute_fits=tried,
        fallback_fits=tried - made,
        checks_passed=sound,
        difference=worst,
        allowed=ROUNDING,
        same_choices=True,
        refusals=(),
        examined=made,
    )


def _candidates(learner: ho.Tuned) -> list[dict[str, Any]]:
    search = learner.as_search(seed=0, timed=False)
    return [search.params_of(place) for place in range(min(len(search), 24))]


def difference(ours: Any, theirs: Any, X: Any) -> float:
    """The largest of any public attribute and of predictions, relative to the largest number of each."""
    if vars(ours).keys() != vars(theirs).keys():
        return np.inf
    worst = array_difference(ours.predict(X), theirs.predict(X))
    for name, value in vars(theirs).items():
        mine = getattr(ours, name)
        if name == "_x_mean":  # a mean about zero is known to the size of its column
            worst = max(worst, float((np.abs(mine - value) / (theirs._x_std + np.abs(value))).max()))
        elif isinstance(value, np.ndarray):
            worst = max(worst, array_difference(mine, value))
        elif mine != value:
            return np.inf
    return worst
