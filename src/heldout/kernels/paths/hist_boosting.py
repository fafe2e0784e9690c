"""Histogram gradient boosting: the first m iterations of a longer fit are the fit of m iterations.

Law: bins, the rows set aside for early stopping and the random stream are settled before the first iteration, and each
iteration depends on those before it alone. Early stopping looks back only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from heldout.kernels.paths.asking import Answering, Methods, stand_in
from heldout.kernels.paths.counting import CountPath, exactly, warm_start_refusal


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    rows = fitted._preprocess_X(X, reset=False)
    baseline = fitted._baseline_prediction
    # Each column is a class and is added to by itself, hence the order.
    raw = np.zeros((rows.shape[0], fitted.n_trees_per_iteration_), dtype=baseline.dtype, order="F")
    raw += baseline
    done = 0
    for size in sizes:
        fitted._predict_iterations(rows, fitted._predictors[done:size], raw, is_binned=False, n_threads=1)
        done = size
        yield stand_in(fitted, {"_raw_predict": Answering(raw.copy(order="F"))})


HIST_BOOSTING = CountPath(
    name="histogram boosting prefix",
    parameter="max_iter",
    takes_type=exactly(HistGradientBoostingClassifier, HistGradientBoostingRegressor),
    refuses=warm_start_refusal,
    members=_members,
)
