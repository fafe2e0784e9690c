"""A panel's answers in the shape of scikit-learn's ``cv_results_``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.search.search import Search
from heldout.study.answers import PanelTable, mean_over_parts


def as_cv_results(search: Search, table: PanelTable) -> dict[str, Any]:
    """Greater is better, and the only loss is "score".

    Means are plain means over splits as scikit-learn's are, but where rows have weights: there a split counts as much
    as its rows weigh, as in the choice. Standard deviations are plain.
    """
    results: dict[str, Any] = {}
    for name, seconds in (("fit_time", table.fit_seconds), ("score_time", table.score_seconds)):
        results[f"mean_{name}"], results[f"std_{name}"] = seconds.mean(axis=1), seconds.std(axis=1)
    if len(search.families) > 1:
        results["family"] = np.array([search.family_of(c).name for c in table.candidates], dtype=object)
    params = [search.params_of(c) for c in table.candidates]
    for name in dict.fromkeys(name for family in search.families for name in family.candidates.names):
        results[f"param_{name}"] = _param_column(name, params)
    results["params"] = params
    several = len(search.losses) > 1
    for number, loss in enumerate(search.losses):
        suffix = loss.name if several else "score"
        scores = 0.0 - table.losses[:, :, number]  # and not -0.0 where the loss is 0
        for part in range(scores.shape[1]):
            results[f"split{part}_test_{suffix}"] = scores[:, part]
        means = mean_over_parts(scores, table.weights)
        results[f"mean_test_{suffix}"], results[f"std_test_{suffix}"] = means, scores.std(axis=1)
        results[f"rank_test_{suffix}"] = _ranks(means)
    return results


def _param_column(name: str, params: list[dict[str, Any]]) -> Any:
    """A parameter over candidates, masked where one does not set it; of a plain type where all values have one."""
    values = {
        index: params_of_candidate[name]
        for index, params_of_candidate in enumerate(params)
        if name in params_of_candidate
    }
    column, mask = np.empty(len(params), dtype=_plain_type(list(values.values()))), np.ones(len(params), dtype=bool)
    for index, value in values.items():
        column[index], mask[index] = value, False
    return np.ma.MaskedArray(column, mask=mask)


def _plain_type(values: list[Any]) -> Any:
    """The numpy type of numbers and booleans; object for texts, sequences and whatever else."""
    if all(isinstance(value, bool | int | float | np.number | np.bool_) for value in values):
        return np.array(values).dtype
    return object


def _ranks(means: NDArray[np.float64]) -> NDArray[np.int32]:
    """Ranks from 1, ties sharing the smallest, candidates with a failed fit last."""
    low = np.nanmin(means) - 1 if np.isfinite(means).any() else 0.0
    filled = np.where(np.isnan(means), low, means)
    order = np.sort(-filled)
    return (np.searchsorted(order, -filled) + 1).astype(np.int32)
