"""Size and power of `compare`: paired rows beside the t over folds that was the default before.

Learners are fitted by plain numpy, part by part, so that hundreds of studies take seconds; the p-values are those of
heldout.risk. In a null setting both learners have the same expected risk at the training size of five folds. The pairs
of soft thresholding are those of arXiv 2508.04409: each learner is stable, and their difference is not. For these the
table also says how often the interval holds the difference of the very fits that were tested: that is not promised.
Areas under the ROC curve are compared over stratified folds, with one row in two or one in ten positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.run import spread
from heldout.risk.comparison.paired_rows import KAPPA, PAIRED_ROWS, Spread, spread_of_rows
from heldout.risk.intervals.auc import area_influences
from heldout.risk.intervals.t_intervals import cautious_t_p, corrected_t_p

Floats = NDArray[np.float64]
Learner = Callable[[Floats, Floats, Floats], Floats]
LEVEL, STUDIES, FRESH = 0.95, 500, 2_000
SIZES = (100, 200)
KAPPAS = (1.2, 1.25)  # beside the default


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Two learners, the data they are compared on, and whether they have the same expected risk."""

    words: str
    coefficients: Callable[[int], Floats]  # by the number of rows
    first: Learner
    second: Learner
    classes: bool = False
    null: bool = False
    fits: bool = False  # whether the difference of the fits themselves is looked at
    positive: float | None = None  # the share of positives, where areas under the ROC curve are compared

    @property
    def loss(self) -> str:
        """What the learners are compared by."""
        return "squared" if not self.classes else "zero-one" if self.positive is None else "AUC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """How often two learners were called different, by the t over folds and by paired rows."""

    setting: str
    loss: str
    recipe: str
    rows: int
    null: bool
    before: float | None  # shares of studies; the t over folds has nothing to say of leave-one-out
    after: float
    narrower: tuple[float, ...]  # as `after`, with each κ of KAPPAS
    covers: float | None  # how often paired rows hold the expected difference
    covers_fits: float | None
    studies: int
    error: float  # Monte-Carlo, at 5 %


def least_squares(X: Floats, y: Floats, Z: Floats) -> Floats:
    """Least squares with an intercept."""
    A = np.column_stack([np.ones(len(X)), X])
    return np.asarray(np.column_stack([np.ones(len(Z)), Z]) @ np.linalg.solve(A.T @ A, A.T @ y))


def mean(X: Floats, y: Floats, Z: Floats) -> Floats:
    """No model."""
    return np.full(len(Z), y.mean())


def soft(threshold: float) -> Learner:
    """Least squares whose coefficients are moved towards 0 by a threshold."""

    def predict(X: Floats, y: Floats, Z: Floats) -> Floats:
        b = np.linalg.solve(X.T @ X, X.T @ y)
        return np.asarray(Z @ (np.sign(b) * np.maximum(np.abs(b) - threshold, 0)))

    return predict


def neighbours(count: int) -> Learner:
    """The mean of the nearest rows."""

    def predict(X: Floats, y: Floats, Z: Floats) -> Floats:
        away = (Z**2).sum(axis=1)[:, None] - 2 * Z @ X.T + (X**2).sum(axis=1)
        return np.asarray(y[np.argpartition(away, count, axis=1)[:, :count]].mean(axis=1))

    return predict


def half(learner: Learner, *, second: bool = False) -> Learner:
    """The learner on one half of the columns."""

    def predict(X: Floats, y: Floats, Z: Floats) -> Floats:
        cut = X.shape[1] // 2
        columns = slice(cut, None) if second else slice(cut)
        return learner(X[:, columns], y, Z[:, columns])

    return predict


def _halves(first: float, second: float) -> Callable[[int], Floats]:
    return lambda rows: np.repeat([first, second], 5)


def _as_good_as_the_mean(rows: int) -> Floats:
    """Coefficients that five columns of least squares at four fifths of the rows are just worth."""
    return np.full(5, sqrt(1 / (rows * 4 // 5 - 5 - 2)))


def _of_halves(learner: Learner) -> dict[str, Learner]:
    return {"first": half(learner), "second": half(learner, second=True)}


SETTINGS = (
    Setting(
        words="least squares on equal halves", coefficients=_halves(0.5, 0.5), null=True, **_of_halves(least_squares)
    ),
    Setting(words="least squares on unequal halves", coefficients=_halves(0.6, 0.35), **_of_halves(least_squares)),
    Setting(
        words="3 neighbours on equal halves", coefficients=_halves(0.5, 0.5), null=True, **_of_halves(neighbours(3))
    ),
    Setting(
        words="least squares as good as the mean",
        coefficients=_as_good_as_the_mean,
        first=least_squares,
        second=mean,
        null=True,
    ),
    Setting(
        words="least squares and the mean",
        coefficients=lambda rows: np.full(5, 0.25),
        first=least_squares,
        second=mean,
    ),
    Setting(
        words="discriminants on equal halves",
        coefficients=_halves(0.5, 0.5),
        classes=True,
        null=True,
        **_of_halves(least_squares),
    ),
    Setting(
        words="discriminants on unequal halves",
        coefficients=_halves(0.7, 0.3),
        classes=True,
        **_of_halves(least_squares),
    ),
    Setting(
        words="1 neighbour on equal halves",
        coefficients=_halves(0.5, 0.5),
        classes=True,
        null=True,
        **_of_halves(neighbours(1)),
    ),
    Setting(
        words="1 neighbour on unequal halves", coefficients=_halves(0.7, 0.2), classes=True, **_of_halves(neighbours(1))
    ),
    Setting(
        words="soft thresholds .05 and .1, few signals",
        coefficients=lambda rows: np.repeat([0.2, 0.0], (5, 15)),
        first=soft(0.05),
        second=soft(0.1),
        fits=True,
    ),
    Setting(
        words="soft thresholds .1 and .2, all signals",
        coefficients=lambda rows: np.full(20, 0.15),
        first=soft(0.1),
        second=soft(0.2),
        fits=True,
    ),
    *(
        Setting(
            words=f"{words} on {which} halves, {share:.0%} positive".replace("%", " %"),
            coefficients=_halves(*halves),
            classes=True,
            null=halves[0] == halves[1],
            positive=share,
            **_of_halves(learner),
        )
        for words, learner in (("discriminants", least_squares), ("5 neighbours", neighbours(5)))
        for which, halves in (("equal", (0.5, 0.5)), ("unequal", (0.7, 0.3)))
        for share in (0.5, 0.1)
    ),
)
RECIPES = ("KFold(5)", "KFold(10)", "KFold(5, repeats=5)", "Resample(10)", "LeaveOneOut()")


def draw(setting: Setting, rows: int, rng: np.random.Generator, *, coefficients: Floats) -> tuple[Floats, Floats]:
    """Rows of the population."""
    X = rng.standard_normal((rows, len(coefficients)))
    y = X @ coefficients + rng.standard_normal(rows)
    cut = 0.0 if setting.positive is None else float(np.quantile(y, 1 - setting.positive))
    return X, np.where(y > cut, 1.0, -1.0) if setting.classes else y


def losses(setting: Setting, y: Floats, predicted: Floats) -> Floats:
    """Zero-one for classes, else squared."""
    return ((predicted > 0) != (y > 0)).astype(float) if setting.classes else (y - predicted) ** 2


def parts_of(recipe: str, y: Floats, rng: np.random.Generator, *, stratified: bool) -> list[NDArray[np.intp]]:
    """The held-out rows of each part; folds of classes are stratified, as they are by default."""
    n = len(y)
    if recipe == "LeaveOneOut()":
        return list(np.arange(n)[:, None])
    if recipe == "Resample(10)":
        return [rng.permutation(n)[: n // 5] for _ in range(10)]
    k = 10 if recipe == "KFold(10)" else 5
    parts = []
    for _ in range(5 if "repeats" in recipe else 1):
        order = rng.permutation(n)
        order = order[np.argsort(y[order], kind="stable")] if stratified else order
        parts += [order[fold::k] for fold in range(k)]
    return parts


def study(place: int, rows: int, recipe: str, number: int) -> tuple[float | None, ...]:
    """p before and after, mean and ends of paired rows, the difference of the fits, and p at each of KAPPAS."""
    setting = SETTINGS[place]
    rng = np.random.default_rng([71, place, rows, RECIPES.index(recipe), number])
    coefficients = setting.coefficients(rows)
    X, y = draw(setting, rows, rng, coefficients=coefficients)
    fresh = draw(setting, FRESH, rng, coefficients=coefficients) if setting.fits and "KFold" in recipe else None
    parts = parts_of(recipe, y, rng, stratified=setting.classes)
    found, fits, scores = [], [], []
    for held in parts:
        kept = np.setdiff1d(np.arange(rows), held)
        both = [learner(X[kept], y[kept], X[held]) for learner in (setting.first, setting.second)]
        scores.append(both)
        found.append(losses(setting, y[held], both[0]) - losses(setting, y[held], both[1]))
        if fresh is not None:
            Z, t = fresh
            first, second = (losses(setting, t, f(X[kept], y[kept], Z)).mean() for f in (setting.first, setting.second))
            fits.append(first - second)
    folds = np.array([one.mean() for one in found])
    held_out = np.concatenate(parts)
    turns = np.repeat(np.arange(len(parts)), [len(one) for one in parts])
    if setting.positive is None:
        paired = spread_of_rows(np.concatenate(found), units=held_out, parts=turns)
    else:
        folds, paired = _areas([y[held] > 0 for held in parts], scores, units=held_out, parts=turns)
    interval = paired.interval(LEVEL, method=PAIRED_ROWS.name)
    before = None
    if recipe != "LeaveOneOut()":
        ratio = len(held_out) / (len(parts) * rows - len(held_out))
        of_folds = corrected_t_p if recipe in ("KFold(5)", "KFold(10)") else cautious_t_p
        before = of_folds(folds, test_ratio=ratio) if np.ptp(folds) > 0 else 1.0
    others = [replace(paired, error=paired.error * kappa / KAPPA).p() for kappa in KAPPAS]
    of_fits = float(np.mean(fits)) if fits else float("nan")
    return before, paired.p(), paired.mean, interval.low, interval.high, of_fits, *others


def _areas(
    truth: list[NDArray[np.bool_]], scores: list[list[Floats]], **which: NDArray[np.intp]
) -> tuple[Floats, Spread]:
    """The difference of two learners' areas in each part, and its spread as `compare` has it."""
    positive = [one.astype(float) for one in truth]
    (_, first), (_, second) = (area_influences(one, positive, None, grouped=False) for one in zip(*scores, strict=True))
    each = [
        [area_influences([one], [y], None, grouped=False)[0] for one in two]
        for two, y in zip(scores, positive, strict=True)
    ]
    folds = np.array([a - b for a, b in each])
    paired = spread_of_rows(np.concatenate(first) - np.concatenate(second), **which)
    return folds, replace(paired, mean=float(folds.mean()), freedom=min(paired.freedom, paired.carriers))


def table(studies: int = STUDIES) -> list[Power]:
    """A row a setting, number of rows and recipe."""
    cells = [
        (place, rows, recipe)
        for place, setting in enumerate(SETTINGS)
        for rows in SIZES
        for recipe in RECIPES
        if recipe != "LeaveOneOut()" or (rows == SIZES[0] and setting.null)
        if setting.positive is None or "KFold" in recipe
    ]
    questions = [(*cell, number) for cell in cells for number in range(studies)]
    answers = list(spread(study, questions, words="size and power of compare"))
    return [_row(cell, answers[at * studies : (at + 1) * studies]) for at, cell in enumerate(cells)]


def _row(cell: tuple[int, int, str], answers: list[Any]) -> Power:
    place, rows, recipe = cell
    setting, alpha = SETTINGS[place], 1 - LEVEL
    before = None if answers[0][0] is None else float(np.mean([one[0] <= alpha for one in answers]))
    _, p, mean_, low, high, fits, *others = np.array([[np.nan if v is None else v for v in one] for one in answers]).T
    # The mean over studies is the expected difference, to within a twentieth of an interval's width.
    expected = 0.0 if _is_null(setting, recipe) else float(np.mean(mean_))
    return Power(
        setting=setting.words,
        loss=setting.loss,
        recipe=recipe,
        rows=rows,
        null=_is_null(setting, recipe),
        before=before,
        after=float(np.mean(p <= alpha)),
        narrower=tuple(float(np.mean(other <= alpha)) for other in others),
        covers=float(np.mean((low <= expected) & (expected <= high))),
        covers_fits=None if np.isnan(fits).any() else float(np.mean((low <= fits) & (fits <= high))),
        studies=len(answers),
        error=sqrt(alpha * LEVEL / len(answers)),
    )


def _is_null(setting: Setting, recipe: str) -> bool:
    """Least squares is as good as the mean at the training size of five folds alone."""
    at_five = recipe not in ("KFold(10)", "LeaveOneOut()")
    return setting.null and (at_five or setting.coefficients is not _as_good_as_the_mean)


def lines(rows: list[Power]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and lines of the table: size where both are equally good, power elsewhere."""
    head = (
        "learners",
        "loss",
        "rows",
        "recipe",
        "is",
        "t over folds",
        "paired rows",
        *(f"κ {kappa}" for kappa in KAPPAS),
    )
    head += ("covers", "covers the fits")
    return head, [
        (
            row.setting,
            row.loss,
            str(row.rows),
            row.recipe,
            "size" if row.null else "power",
            "–" if row.before is None else f"{row.before:.3f}",
            f"{row.after:.3f}",
            *(f"{other:.3f}" for other in row.narrower),
            f"{row.covers:.3f}",
            "" if row.covers_fits is None else f"{row.covers_fits:.3f}",
        )
        for row in rows
    ]


def main() -> None:
    """Print the table."""
    head, rows = lines(table())
    for line in (head, ["-"] * len(head), *rows):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
