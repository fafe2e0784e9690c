"""The recipes under test, and one replication of one setting under all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

import heldout as ho
from benchmarks.coverage.settings import Setting
from heldout.api.estimates import test_record as record_of_test
from heldout.api.estimates import trained_sizes
from heldout.risk.choose import NoInterval, choose_method
from heldout.risk.doubt import doubts
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.student import student
from heldout.risk.record import Record
from heldout.study.pose import OUTER

LEVELS = (0.95, 0.90)
HOLDOUT = "Holdout(0.2)"
RECIPES: dict[str, Any] = {
    "KFold(5)": ho.KFold(5),
    "KFold(10)": ho.KFold(10),
    "KFold(5, repeats=5)": ho.KFold(5, repeats=5),
    "KFold(2, repeats=5)": ho.KFold(2, repeats=5),
    "Resample(15)": ho.Resample(15),
    HOLDOUT: ho.Holdout(0.2),
}
HALVES = "halves, 10 pairs of Resample(3)"
DEFAULT, FOIL = "default", "naive fold t"
DEAR = 150  # replications of what needs fits of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One interval of one replication, or the reason why there is none."""

    setting: str
    loss: str
    recipe: str
    method: str
    level: float
    low: float
    high: float
    at_hand: float  # the risk of the predictor at hand
    train_size: int
    fired: tuple[str, ...] = ()  # codes of warnings
    refused: str = ""


def replicate(key: str, setting: Setting, number: int) -> list[Shot]:
    """Draw data, ask each recipe, and make every interval that accepts what was recorded."""
    rng = np.random.default_rng([41, number])
    X, y = setting.draw(rng, setting.n)
    shots: list[Shot] = []
    retrained: dict[str, float] | None = None  # risks of the predictor on all rows: the same for each recipe
    dear = setting.bht and number < DEAR
    recipes = {**RECIPES, HALVES: halves(setting.n, rng)} if dear else RECIPES
    for recipe, test in recipes.items():
        result = _evaluate(setting, X, y, test=test)
        if recipe == HOLDOUT:
            at_hand = {loss: risk(result.predictor) for loss, risk in setting.risks.items()}
        else:
            retrained = retrained or {loss: risk(_fitted(result)) for loss, risk in setting.risks.items()}
            at_hand = retrained
        for place, loss in enumerate(setting.risks):
            record = record_of(result, place)
            about = {"setting": key, "loss": loss, "recipe": recipe, "at_hand": at_hand[loss]}
            found = [Shot(**about, **one) for one in intervals_of(record, X.shape[1])]
            shots += [shot for shot in found if number == 0 or not shot.refused]  # reasons are the same in each
    if dear and retrained is not None:
        shots += bht_shots(key, setting, X, y, retrained)
    return shots


def halves(n: int, rng: np.random.Generator, *, pairs: int = 10, times: int = 3) -> list[Any]:
    """Training and held-out rows inside halves that share no row: a fifth of each half is held out, `times` over."""
    parts = []
    for _ in range(pairs):
        for half in np.split(rng.permutation(n)[: n // 2 * 2], 2):
            for _ in range(times):
                drawn = rng.permutation(half)
                cut = len(half) // 5
                parts.append((np.sort(drawn[cut:]), np.sort(drawn[:cut])))
    return parts


def record_of(result: Any, place: int) -> Record:
    """What a result recorded of the loss in this place: all that its interval is made from."""
    live = result._live
    study = live.outcome.study
    return record_of_test(live.task, live.outcome, place, trained_sizes(study, study.splits[OUTER]))


def intervals_of(record: Record, columns: int) -> list[dict[str, Any]]:
    """Every method at every level, the default first, the naive t over folds last."""
    fired = tuple(f.code for f in doubts(record, columns=columns) if f.severity == "warning")
    size = round(float(np.mean(record.train_sizes)))
    value = float(np.mean(record.fold_losses))
    chosen = choose_method(record)
    found: list[dict[str, Any]] = []
    for level in LEVELS:
        about = {"level": level, "train_size": size}
        if isinstance(chosen, NoInterval):
            found.append({**about, "method": DEFAULT, **_none(chosen.reason)})
        else:
            made = chosen.interval(record, value, level)
            words = f"{DEFAULT}: {chosen.name}"
            found.append({**about, "method": words, "low": made.low, "high": made.high, "fired": fired})
        for method in METHODS.values():
            if method is chosen or method.key == "cluster-t":  # that one is for groups and weights
                continue
            refusal = method.refusal(record)
            if refusal is not None:
                found.append({**about, "method": method.name, **_none(refusal)})
                continue
            made = method.interval(record, value, level)
            found.append({**about, "method": method.name, "low": made.low, "high": made.high})
        if record.parts > 1:
            made = student(record.fold_losses, level=level)
            found.append({**about, "method": FOIL, "low": made.low, "high": made.high})
    return found


def bht_shots(key: str, setting: Setting, X: Any, y: Any, at_hand: dict[str, float]) -> list[Shot]:
    """The intervals of Bates, Hastie and Tibshirani, which need fits of their own: one study, a quantile a level."""
    risk = _evaluate(setting, X, y, test=ho.KFold(5), options=ho.Options(interval="bht"), level=LEVELS[0]).risk
    middle = (risk.unclipped[0] + risk.unclipped[1]) / 2
    shots = []
    for level in LEVELS:
        half = (risk.unclipped[1] - middle) * float(ndtri(0.5 + level / 2) / ndtri(0.5 + LEVELS[0] / 2))
        shot = Shot(
            setting=key,
            loss=risk.loss,
            recipe="KFold(5)",
            method=risk.method,
            level=level,
            low=middle - half,
            high=middle + half,
            at_hand=at_hand[risk.loss],
            train_size=round(risk.train_size),
        )
        shots.append(shot)
    return shots


def _evaluate(setting: Setting, X: Any, y: Any, **asked: Any) -> Any:
    losses = list(setting.risks)
    return ho.evaluate(setting.learner(), X, y, loss=losses, jobs=1, backend="inline", progress=False, **asked)


def _fitted(result: Any) -> Any:
    return getattr(result.predictor, "best_estimator_", result.predictor)


def _none(reason: str) -> dict[str, Any]:
    return {"low": np.nan, "high": np.nan, "refused": reason}
