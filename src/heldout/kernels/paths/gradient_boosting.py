"""Gradient boosting: the first m stages of a longer fit are the fit of m stages.

Law: a stage depends on the stages before it and on one random stream, which it takes up where they left it. Early
stopping looks back only, so that a shorter fit stops where the longer one did, or earlier for want of stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from sklearn.base import is_classifier
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from heldout.kernels.paths.asking import Answering, Methods, stand_in
from heldout.kernels.paths.counting import CountPath, exactly, warm_start_refusal


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    stages = fitted.staged_decision_function(X) if is_classifier(fitted) else fitted.staged_predict(X)
    raw: Any = None
    done = 0
    for size in sizes:
        until = min(size, fitted.n_estimators_)  # fewer where it stopped early
        for raw in islice(stages, until - done):  # noqa: B007 — the last one counts
            pass
        done = until
        yield stand_in(fitted, {"_raw_predict": Answering(raw if is_classifier(fitted) else raw[:, None])})


GRADIENT_BOOSTING = CountPath(
    name="boosting prefix",
    parameter="n_estimators",
    takes_type=exactly(GradientBoostingClassifier, GradientBoostingRegressor),
    refuses=warm_start_refusal,
    members=_members,
)
