"""Exchangeable learners: how often `compare` says that one is better, where neither is.

Over folds and resamples: ridge on one half of the columns against ridge on the other half, in a population where the
halves may be swapped, so that both have the same expected risk; `compare_power` has learners that differ. On one test
set the null hypothesis is of two predictors: these look at one column each, in a population where the columns may be
swapped, and learn nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import heldout as ho
from benchmarks.coverage.run import spread
from benchmarks.coverage.tally import monte_carlo_error
from heldout.audit.ledger import MemoryLedger
from heldout.risk.intervals.five_by_two import five_by_two_f

ROWS, COLUMNS, LEVEL = 100, 10, 0.95
FOLDS = {
    "KFold(5)": ho.KFold(5),
    "KFold(10)": ho.KFold(10),
    "KFold(2, repeats=5)": ho.KFold(2, repeats=5),
    "Resample(10)": ho.Resample(10),
}
OVER_FOLDS = {"KFold(5)": "corrected-t", "KFold(10)": "corrected-t"} | dict.fromkeys(
    ("KFold(2, repeats=5)", "Resample(10)"), "cautious-t"
)  # the defaults before rows were paired
UNUSED = "Alpaydin's 5×2 F"  # a function of heldout.risk that compare never reports
POSTERIOR = "posterior, 97.5 % on one side"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """How often a method called one of two exchangeable learners better."""

    recipe: str
    loss: str
    method: str
    pairs: int
    share: float
    error: float  # Monte-Carlo, at the share allowed
    verdict: str


class Column(BaseEstimator):
    """Looks at one column, and learns nothing."""

    def __init__(self, place: int = 0) -> None:
        self.place = place


class ColumnSign(ClassifierMixin, Column):
    """The class is the sign of the column."""

    def fit(self, X: Any, y: Any) -> ColumnSign:
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, self.place] > 0).astype(int)


class ColumnValue(RegressorMixin, Column):
    """The prediction is the column."""

    def fit(self, X: Any, y: Any) -> ColumnValue:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return X[:, self.place]


def half_of_columns(X: Any, *, second: bool) -> Any:
    """One half of the columns."""
    return X[:, COLUMNS // 2 :] if second else X[:, : COLUMNS // 2]


def replicate(number: int) -> list[tuple[str, str, str, bool]]:
    """Recipe, loss, method and whether it rejected, for one pair of learners under every recipe."""
    rng = np.random.default_rng([53, number])
    X = rng.standard_normal((ROWS, COLUMNS))
    y = 0.5 * X.sum(axis=1) + rng.standard_normal(ROWS)
    ridges = {
        name: make_pipeline(FunctionTransformer(half_of_columns, kw_args={"second": second}), Ridge())
        for name, second in (("a", False), ("b", True))
    }
    found = []
    for recipe, test in FOLDS.items():
        compared = _compare(ridges, X, y, test)
        pair = compared.pairs[0]
        found.append((recipe, "squared", pair.p_method, pair.p <= 1 - LEVEL))
        by_folds = _compare(ridges, X, y, test, interval=OVER_FOLDS[recipe]).pairs[0]
        found.append((recipe, "squared", f"option {OVER_FOLDS[recipe]!r}", by_folds.p <= 1 - LEVEL))
        if recipe == "KFold(2, repeats=5)":
            asked = _compare(ridges, X, y, test, interval="5x2").pairs[0]
            found.append((recipe, "squared", 'option "5x2": F of the mean', asked.p <= 1 - LEVEL))
            a, b = (compared.results[name].folds["squared"].to_numpy() for name in ("a", "b"))
            found.append((recipe, "squared", UNUSED, five_by_two_f(a - b) <= 1 - LEVEL))
        if recipe == "KFold(10)":
            sides = pair.probabilities
            found.append((recipe, "squared", POSTERIOR, max(sides.left, sides.right) >= 0.5 + LEVEL / 2))
    for kind, target in ((ColumnSign, (y > 0).astype(int)), (ColumnValue, y)):
        pair = _compare({"a": kind(0), "b": kind(COLUMNS - 1)}, X, target, ho.Holdout(0.5)).pairs[0]
        excluded = not pair.difference.low <= 0 <= pair.difference.high
        found.append(("Holdout(0.5)", pair.difference.loss, pair.p_method, pair.p <= 1 - LEVEL))
        if pair.difference.method != pair.p_method:
            found.append(("Holdout(0.5)", pair.difference.loss, pair.difference.method, excluded))
    return found


def _compare(learners: dict[str, Any], X: Any, y: Any, test: Any, interval: str | None = None) -> Any:
    options = ho.Options(interval=interval, ledger=MemoryLedger())  # every sample is new
    return ho.compare(learners, X, y, test=test, level=LEVEL, jobs=1, backend="inline", progress=False, options=options)


def table(pairs: int) -> list[Rejections]:
    """The share of pairs that each method called different."""
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for one in spread(replicate, [(number,) for number in range(pairs)], words="exchangeable learners"):
        for recipe, loss, method, rejected in one:
            counts.setdefault((recipe, loss, method), []).append(rejected)
    return [_row(*key, rejected) for key, rejected in counts.items()]


def _row(recipe: str, loss: str, method: str, rejected: list[bool]) -> Rejections:
    share, allowed = float(np.mean(rejected)), 1 - LEVEL
    error = monte_carlo_error(allowed, len(rejected))
    return Rejections(
        recipe=recipe,
        loss=loss,
        method=method,
        pairs=len(rejected),
        share=share,
        error=error,
        verdict=_verdict(method, share <= allowed + 2 * error),
    )


def _verdict(method: str, holds: bool) -> str:
    if method == UNUSED:
        return "not used by compare" + ("" if holds else ": rejects too often")
    return "holds" if holds else "FAILS: rejects too often"
