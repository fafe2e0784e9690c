"""Choosing a candidate from a validation table, how choices change the question, and scikit-learn's ``cv_results_``."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.base.errors import OptionError, SpaceError
from heldout.search.search import Search
from heldout.search.simplicity import simplicity
from heldout.study.answers import PanelTable, Tables, mean_over_parts
from heldout.study.race import Block, blocks, next_round
from heldout.study.study import Chosen, Study


def choose(search: Search, table: PanelTable) -> Chosen:
    """Return the candidate that the search's rule picks; the first of the best where means tie exactly.

    A candidate with a failed validation cell, or one that a race dropped, has a NaN mean and cannot be chosen. Where
    rows have weights, a validation part counts as much as its rows weigh.
    """
    means = mean_over_parts(table.losses[:, :, 0], table.weights)
    usable = np.isfinite(means)
    failed = int(np.count_nonzero((np.isnan(table.losses[:, :, 0]) & table.answered).any(axis=1)))
    if not usable.any():
        return Chosen(candidate=None, inside=None, tied=0, failed=failed)
    best = int(np.nanargmin(np.where(usable, means, np.nan)))
    tied = int(np.count_nonzero(means == means[best]))
    index = _pick(search, table, means, best)
    return Chosen(candidate=table.candidates[index], inside=float(means[index]), tied=tied, failed=failed)


def _pick(search: Search, table: PanelTable, means: Any, best: int) -> int:
    if search.choose == "best":
        return best
    if search.choose == "one_se":
        return _simplest_within_one_se(search, table, means, best)
    if callable(search.choose):
        return _own_choice(search, table)
    raise OptionError(f'choose= is "best", "one_se" or a function, not {search.choose!r}.')


def _simplest_within_one_se(search: Search, table: PanelTable, means: Any, best: int) -> int:
    error = _standard_error(table.losses[best, :, 0], table.weights)
    near = np.flatnonzero(means <= means[best] + error).tolist()
    simple = list(map(simplicity(search), [table.candidates[c] for c in near]))
    return min(zip(simple, means[near], near, strict=True))[2]


def _standard_error(folds: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return the standard error of the mean over parts. Weights enter each squared deviation as squared shares."""
    if weights is None:
        return float(folds.std(ddof=1) / np.sqrt(len(folds)))
    shares = weights / weights.sum()
    spread = np.sum(shares**2 * (folds - np.average(folds, weights=weights)) ** 2)
    return float(np.sqrt(spread * len(folds) / (len(folds) - 1)))


def by_one_se(search: Search, table: PanelTable) -> int | None:
    """Return the one-standard-error rule's candidate, whatever rule chose; None where it cannot be determined."""
    means = mean_over_parts(table.losses[:, :, 0], table.weights)
    if table.losses.shape[1] < 2 or not np.isfinite(means).any():
        return None
    try:
        index = _simplest_within_one_se(search, table, means, int(np.nanargmin(means)))
    except SpaceError:  # no direction of simplicity is known
        return None
    return table.candidates[index]


def _own_choice(search: Search, table: PanelTable) -> int:
    assert callable(search.choose)
    answer = search.choose(as_cv_results(search, table))
    try:
        index = operator.index(answer)
    except TypeError:
        raise OptionError(f"choose= must return the number of a candidate, not {answer!r}.") from None
    if not 0 <= index < len(table.candidates):
        raise OptionError(f"choose= returned candidate {index}, but there are {len(table.candidates)}.")
    if not np.isfinite(table.losses[index, :, 0]).all():
        raise OptionError(f"choose= returned candidate {index}, but a fit of it failed.")
    return index


def as_cv_results(search: Search, table: PanelTable) -> dict[str, Any]:
    """Return the table in the form of ``cv_results_``. Greater is better. A single loss is named "score".

    Means are plain means over splits as in scikit-learn. Where rows have weights, a split counts as much as its rows
    weigh, as in the choice. Standard deviations are plain.
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
    """Return a parameter over candidates, masked where not set; numeric if all its values are numbers."""
    values = {index: own[name] for index, own in enumerate(params) if name in own}
    plain = all(isinstance(value, bool | int | float | np.number | np.bool_) for value in values.values())
    dtype = np.array(list(values.values())).dtype if plain else object
    column, mask = np.empty(len(params), dtype=dtype), np.ones(len(params), dtype=bool)
    for index, value in values.items():
        column[index], mask[index] = value, False
    return np.ma.MaskedArray(column, mask=mask)


def _ranks(means: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return ranks from 1. Ties share the smallest rank, and candidates with a failed fit come last."""
    low = np.nanmin(means) - 1 if np.isfinite(means).any() else 0.0
    return rankdata(-np.where(np.isnan(means), low, means), method="min").astype(np.int32)


def advance(study: Study, tables: Tables) -> Study:
    """Return the study after its answered choices are made: the panels that waited for them know their candidate.

    This is the only place where an answer changes the question. A panel that is raced asks for its next round.
    """
    study = _raced(study, tables)
    chosen: dict[str, Chosen] = dict(study.chosen)
    for choice in study.choices:
        if choice.key not in chosen and _is_answered(study, tables, choice.panel):
            chosen[choice.key] = choose(study.search, tables[choice.panel])
    return _told(study, chosen)


def all_answered(study: Study, tables: Tables) -> bool:
    """Return whether every panel has all the answers that it will get."""
    return all(_is_answered(study, tables, panel.key) for panel in study.panels)


def _is_answered(study: Study, tables: Tables, panel: str) -> bool:
    raced = study.races.get(panel)
    return panel in tables.panels and (tables.panels[panel].complete if raced is None else raced.over)


def _raced(study: Study, tables: Tables) -> Study:
    races, panels = dict(study.races), list(study.panels)
    for number, panel in enumerate(panels):
        if panel.asked is None or panel.key not in tables.panels or not _has_all(tables[panel.key], panel.asked):
            continue
        before = races[panel.key]
        races[panel.key] = after = next_round(before, tables[panel.key].losses[:, :, 0])
        panels[number] = replace(panel, asked=None if after.over else blocks(before, after))
    return replace(study, races=races, panels=tuple(panels))


def _has_all(table: PanelTable, asked: tuple[Block, ...]) -> bool:
    return all(bool(table.answered[np.ix_(block.candidates, block.parts)].all()) for block in asked)


def _told(study: Study, chosen: dict[str, Chosen]) -> Study:
    """Return the study whose waiting panels have the candidates that were chosen."""
    panels = list(study.panels)
    for number, panel in enumerate(panels):
        if panel.candidates is None and panel.waits_for in chosen:
            candidate = chosen[panel.waits_for].candidate
            # When every candidate failed there is nothing to test: an empty panel, which results report as failed.
            only = range(0) if candidate is None else range(candidate, candidate + 1)
            panels[number] = replace(panel, candidates=only)
    return replace(study, panels=tuple(panels), chosen=chosen)


def give_up(study: Study) -> Study:
    """Return the study as it ends early: choices that were not made have no candidate."""
    nobody = Chosen(candidate=None, inside=None, tied=0)
    return _told(study, {**{choice.key: nobody for choice in study.choices}, **study.chosen})
