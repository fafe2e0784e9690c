"""The bounds of a development set: of the predictor it chose, of the best of the family, and of how far apart they are.

They need the mean loss of each candidate and nothing else, so that a hundred thousand candidates take no room.
"""

from __future__ import annotations

import numpy as np

from heldout.losses import Loss
from heldout.risk.estimands import Estimand, Sizes, excess_risk, family_risk, kept_predictor_risk
from heldout.risk.estimate import Estimate, EstimateInfo, Interval, LossRange, user_estimate
from heldout.risk.intervals.method import promised
from heldout.risk.selection import development_bounds
from heldout.splits.drawn import Splits
from heldout.study.answers import Tables
from heldout.study.study import Choice, Study

DEV_CHOSEN, DEV_BEST, DEV_GAP = "development_chosen", "development_best", "development_gap"


def inner_of(study: Study, choice: Choice) -> Splits:
    """The validation splits on which a choice is made."""
    return study.splits[study.panel(choice.panel).splits]


def validation_sizes(study: Study, choice: Choice) -> Sizes:
    """How many rows the predictors are trained on whose validation losses choose."""
    sizes = Sizes.of(inner_of(study, choice).train_sizes)
    assert sizes is not None  # a validation part has training rows
    return sizes


def shown_beside(study: Study, about: EstimateInfo, value: float | None, interval: Interval | None) -> Estimate:
    """An estimate in the loss that chooses."""
    loss = study.search.losses[0]
    scale = LossRange(loss=loss.name, sign=loss.sign, low=loss.low, high=loss.high)
    return user_estimate(scale, about, value=value, interval=interval)


def development_estimates(
    study: Study, tables: Tables, *, level: float, weighted: bool, timed: bool
) -> dict[str, Estimate]:
    """The chosen predictor, the smallest risk of the family, and how far they can be apart, from one dev set."""
    choice = study.choices[0]
    search, loss, inner = study.search, study.search.losses[0], inner_of(study, choice)
    chosen = study.chosen[choice.key].candidate
    means = tables[choice.panel].losses[:, 0, 0]
    size, count = validation_sizes(study, choice), len(search)
    reason = _refusal(study, inner, weighted=weighted, timed=timed or inner.recipe.timed)
    bounds = None
    if reason is None and chosen is not None:
        bounds = development_bounds(
            means,
            n=len(inner.held),
            chosen=chosen,
            level=level,
            low=loss.low,
            high=loss.high,
            counted=loss.counts_errors,
            guarantee=promised("finite-sample", inner.recipe),
        )

    def about(name: str, estimand: Estimand, reason: str | None = None) -> EstimateInfo:
        return EstimateInfo(
            name=name,
            estimand=estimand,
            level=level,
            train_size=size,
            n=len(inner.held),
            reason=reason,
            optimistic=name != DEV_GAP,
        )

    value = None if chosen is None else float(means[chosen])
    given_up = None if search.final == "keep" else _given_up(search.final)
    kept = kept_predictor_risk(loss.name, train_size=size, sign=loss.sign)
    best = family_risk(loss.name, train_size=size, candidates=count, sign=loss.sign)
    found = {
        DEV_CHOSEN: shown_beside(
            study,
            about(DEV_CHOSEN, kept, reason or given_up),
            value,
            None if bounds is None or given_up else bounds.chosen,
        ),
        DEV_BEST: shown_beside(study, about(DEV_BEST, best, reason), value, None if bounds is None else bounds.best),
    }
    if bounds is not None:
        gap = excess_risk(loss.name, train_size=size, candidates=count)
        found[DEV_GAP] = _gap_estimate(loss, bounds.gap, about(DEV_GAP, gap), bounds.best)
    return found


def _gap_estimate(loss: Loss, gap: float, about: EstimateInfo, like: Interval) -> Estimate:
    scale = LossRange(loss=loss.name, sign=1, low=0.0, high=loss.high - loss.low)
    method = "Chernoff–Hoeffding and union bound"
    interval = Interval(low=0.0, high=gap, level=about.level, method=method, guarantee=like.guarantee)
    return user_estimate(scale, about, value=0.0, interval=interval)


def _given_up(final: str) -> str:
    how = "averages predictors" if final == "ensemble" else "trains it again with the development rows"
    return f'No interval: final="{final}" {how}, so the bound does not speak of the predictor. final="keep" keeps it.'


def _refusal(study: Study, inner: Splits, *, weighted: bool, timed: bool) -> str | None:
    search, loss = study.search, study.search.losses[0]
    if search.choose != "best":
        return "No interval: the bound is for the choice of the smallest mean, and choose= asks for another."
    if loss.rows is None:
        return f"No interval: the bound is for means over rows, and {loss.name!r} belongs to whole sets."
    if not np.isfinite(loss.high - loss.low):
        return f"No interval: the bound needs a loss of bounded range, and {loss.name!r} has none."
    if timed or inner.recipe.grouped:
        how = "follow each other in time" if timed else "come in groups"
        return f"No interval: the development rows {how}, so they are not independent."
    if weighted:
        return "No interval: the development rows have weights, and the bound counts each row once."
    return None
