"""Warnings that an interval may cover less often than its level says, from the recorded losses and answers.

`make coverage` measures how often each warning appears, for intervals that cover and for intervals that do not.

One warning, :func:`leaning_note`, needs the classes of all rows. Stratified folds give the training and the held-out
rows the class shares of the sample. If these are near one half, chance decides which class has more rows, yet each
held-out part has the same commoner class as its training part. A learner that favours the commoner class is then right
more often than it will be on new rows: by (2m − 1)(p − 1/2), where m is the share of its predictions that are that
class and p the share of that class in the sample.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from heldout.base.findings import Finding
from heldout.base.words import percent
from heldout.risk.intervals.bootstrap import FEWEST
from heldout.risk.intervals.method import CALM, FEW_SQUARES, LEANING, count_draws
from heldout.risk.intervals.rows import corrected_rows, recorded_rows
from heldout.risk.record import Floats, Record
from heldout.risk.widening import Sampling, complexity, disagreement, end_to_end, mean_weights, sampling_of

FEWEST_GROUPS = 30
MOST_SKEW, LEANING_SQUARES = 4.2, 0.12  # of squared errors: skewness of groups, and |skewness|/√n that is harmless
HEAVY = 3.7  # kurtosis of errors: 3 where they are normal
LEANING_ABSOLUTE = 0.22  # |skewness|/√n of absolute errors: above it with lognormal errors, seldom with others
LEANING_SMALL_TEST = 0.3  # |skewness|/√n of squared errors on one test set of fewer than a hundred rows
UNEVEN = 0.5  # effective groups over groups, from which on a few large ones decide
FEW_FOR_R2, LOOSE = 100, 0.15  # rows, and γ̂, below and above which R² is not known well
SATURATED = 0.7  # γ̂: the learner fits most of the noise of its training rows
NEAR = 0.05  # distance of a probability from the threshold
FEWEST_OF_A_CLASS, FEWEST_CALLED = 10, 30  # rows; rows called positive, for F1
DISAGREEING = 0.52  # the share of the spread of errors that fold predictors differ by
_SAFER = {  # the loss to take where a few large losses decide the mean
    **dict.fromkeys(("squared", "root", "r2"), "the MAE, the mean absolute error,"),
    "log": "the Brier score, which is bounded,",
}
_OF_COUNTS = ("f1", "matthews", "recalls", "means")


def interval_warnings(record: Record, *, columns: int | None = None, called: str = "") -> tuple[Finding, ...]:
    """Return the findings about the interval of a record; `columns` is the number of features, None if unknown.

    `called` is what reports call the score, such as RMSE for the squared loss; by default the name of the loss.

    >>> record = Record(
    ...     loss="squared", sign=1, low=0.0, high=np.inf, fold_losses=np.array([1.5]), kind="holdout",
    ...     row_losses=(np.array([1.0, 2.0]),), train_sizes=np.array([8]), held_sizes=np.array([2]),
    ... )
    >>> [finding.code for finding in interval_warnings(record, columns=3)]
    ['H303']
    """
    if record.timed or (np.isnan(record.fold_losses).any() and record.pooled is None):
        return ()
    record = replace(recorded_rows(record), loss=called or record.loss)
    found = [(code, "warning", check(record)) for code, check in _CHECKS.items()]
    found.append(("H304", "info", _more_columns_than_rows(record, columns)))
    return tuple(Finding(code=code, severity=severity, message=text) for code, severity, text in found if text)


def _contributions(record: Record) -> tuple[Floats, Sampling] | None:
    """Return the contributions of rows to an unbounded loss or score, and the sampling error of their mean.

    None if the loss is bounded or the contributions are not known.
    """
    if isfinite(record.high) and isfinite(record.low):
        return None
    if record.row_losses is not None:
        rows, weights = end_to_end(record.row_losses), mean_weights(record, pooled=False)
        if not np.isfinite(rows).all():
            return None
        parts, _ = corrected_rows(record, float(np.sum(weights * rows)))
        return rows, sampling_of(record, parts, weights)
    if record.pooled is None or record.pooled.influence is None or record.family not in ("root", "r2"):
        return None
    influence = end_to_end(record.pooled.influence)
    if record.family == "r2" and record.answers is not None:  # the errors decide, not the spread of the target
        influence = (end_to_end(record.answers.truth) - end_to_end(record.answers.predicted)) ** 2
    return influence - float(np.min(influence)), sampling_of(record, influence, mean_weights(record, pooled=True))


def _leans(record: Record, sampling: Sampling) -> bool:
    """Return whether few rows dominate the mean; for squared errors with many rows, judge by the errors' kurtosis."""
    if record.family not in ("squared", "root", "r2"):
        return sampling.lean > (LEANING_ABSOLUTE if record.family == "absolute" else LEANING)
    answers = record.answers
    if record.grouped or answers is None or answers.classes:
        return sampling.lean > min(LEANING, max(LEANING_SQUARES, MOST_SKEW / sqrt(sampling.units)))
    if sampling.units < FEW_SQUARES:
        return sampling.lean > (LEANING_SMALL_TEST if record.parts == 1 else CALM)
    if sampling.lean <= LEANING_SQUARES:  # with so many rows the mean is nearly normal anyway
        return False
    errors = end_to_end(answers.truth) - end_to_end(answers.predicted)
    largest = float(np.max(np.abs(errors)))  # the fourth power of large errors would overflow
    away = (errors / largest - float(np.mean(errors / largest))) ** 2
    return float(np.mean(away**2)) > HEAVY * float(np.mean(away)) ** 2


def _heavy(record: Record) -> str | None:
    """Return a warning if few rows dominate the mean, so that it is far from normal; else None."""
    known = _contributions(record)
    if known is None or known[1].units < FEWEST or not _leans(record, known[1]):
        return None
    rows = known[0]
    largest = np.sort(rows)[::-1][: max(1, len(rows) // 50)]
    total = float(np.sum(rows))
    share = float(np.sum(largest)) / total if total > 0 else 1.0
    count = "the largest makes" if len(largest) == 1 else f"the {len(largest)} largest make"
    safer = _SAFER.get(record.family, "a bounded loss")
    known_rows = "" if record.share == 1 else " These are the losses of a sample; Options(rows=True) takes all of them."
    squares = " squares" * (record.family in ("squared", "root", "r2"))
    what = "errors" if squares or record.family == "absolute" else "losses"
    return (
        f"A few large {what} decide the {record.loss}: {count} up {percent(share)} of the sum of all {len(rows):,}"
        f"{squares}. Its interval misses more often than it says, above all where a sample happens to hold none of the "
        f"largest {what}; {safer} is safer.{known_rows}"
    )


def _few_rows(record: Record) -> str | None:
    if record.parts != 1 or record.row_losses is None or isfinite(record.high):
        return None
    rows = count_draws(record)
    if rows >= FEWEST or rows < 2:  # one row has no interval to doubt
        return None
    what = "groups" if record.grouped else "rows"
    return (
        f"{rows} test {what} are too few to tell how skewed the losses are, so the interval of the unbounded loss "
        f"{record.loss} may miss more often than it says. Hold out at least {FEWEST}, or use KFold."
    )


def _saturated(record: Record) -> str | None:
    """Return a warning if least squares has nearly as many parameters as rows; else None."""
    fitted = complexity(record)
    if fitted is None or record.family not in ("squared", "absolute", "root", "r2"):
        return None
    rows = int(np.sum(record.held_sizes)) // record.repeats
    if fitted > SATURATED:
        return (
            f"The fold predictors fit about {percent(fitted)} of the noise of their training rows: the learner has "
            f"nearly as many parameters as rows. The interval of {record.loss} may miss more often than it says; "
            "regularise more, or use fewer columns."
        )
    if record.family != "r2" or fitted <= LOOSE or rows >= FEW_FOR_R2:
        return None
    return (
        f"{rows} rows are few for the R² of a learner that fits about {percent(fitted)} of the noise of its training "
        "rows: the interval may miss more often than it says. The squared or absolute loss has a surer one."
    )


def _groups(record: Record) -> str | None:
    if not record.grouped or record.groups is None:
        return None
    sizes = np.bincount(np.unique(np.concatenate(record.groups), return_inverse=True)[1])
    count = len(sizes)
    worth = float(np.sum(sizes)) ** 2 / float(np.sum(sizes.astype(np.float64) ** 2))
    if count >= FEWEST_GROUPS and worth >= UNEVEN * count:
        return None
    uneven = f"The {count} groups are of such different sizes that they count as about {worth:.0f} equal ones"
    why = f"There are {count} groups" if count < FEWEST_GROUPS else uneven
    return (
        f"{why}, and the interval counts groups, not rows: with fewer than {FEWEST_GROUPS} groups of about equal size "
        "it may miss more often than it says."
    )


def _undecided(record: Record) -> str | None:
    """Return a warning if most probabilities lie near one half, so that small shifts change many classes; else None."""
    answers = record.answers
    if record.parts == 1 or answers is None or answers.probability is None:
        return None
    if record.family not in ("zero_one", *_OF_COUNTS):
        return None
    near = float(np.mean(np.abs(end_to_end(answers.probability) - 0.5) < NEAR))
    if near <= 0.5:
        return None
    return (
        f"{percent(near)} of the probabilities lie within {NEAR} of one half, so a slightly different predictor would "
        f"give many rows the other class. The interval of {record.loss} may miss more often than it says; the log "
        "loss is steadier."
    )


def _disagreeing(record: Record) -> str | None:
    """Return a warning if the fold predictors disagree a lot, as trees with different first splits do; else None."""
    differ = None if record.parts == 1 else disagreement(record)
    if differ is None or differ <= DISAGREEING:
        return None
    return (
        f"The fold predictors disagree with each other nearly as much as with the truth ({percent(differ)} of the "
        "spread of errors): what is learnt depends on which rows were trained on. The interval may miss more often "
        "than it says; average several such learners, as forests do, or use a steadier one."
    )


def _rare(record: Record) -> str | None:
    """Return a warning if few rows have one of the classes or are predicted to have it; else None."""
    answers = record.answers
    ranked = record.family == "auc" and record.parts == 1  # the spread of few rows tells little of an area
    if answers is None or not answers.classes or not (record.family in _OF_COUNTS or ranked):
        return None
    rows = 1 if record.rows is None else len(np.concatenate(record.rows)) / len(np.unique(np.concatenate(record.rows)))
    true, called = (
        np.bincount(end_to_end(parts).astype(np.intp), minlength=answers.classes) / rows
        for parts in (answers.truth, answers.predicted)
    )
    sides = [("has", float(true.min()), FEWEST_OF_A_CLASS)]
    if not ranked:
        sides.append(("is predicted for", float(called.min()), FEWEST_OF_A_CLASS))
    if record.family == "f1" and answers.classes == 2:
        sides.append(("is predicted for", float(called[answers.positive]), FEWEST_CALLED))
    for what, count, fewest in sides:
        if count < fewest:
            other = "" if ranked else " The log loss and AUC use the probabilities of all rows."
            return (
                f"One class {what} only {count:.0f} row{'s' * (round(count) != 1)}; with fewer than {fewest} the "
                f"interval of {record.loss} may miss more often than it says.{other}"
            )
    return None


_CHECKS = {
    "H303": _few_rows,
    "H302": _heavy,
    "H305": _saturated,
    "H306": _groups,
    "H307": _undecided,
    "H309": _disagreeing,
    "H308": _rare,
}


def _more_columns_than_rows(record: Record, columns: int | None) -> str | None:
    """Return a note if there are more columns than training rows; it is information, not a warning.

    With lasso and ridge the default intervals cover there, but learners that vary a lot between folds may not.
    """
    trained = int(np.min(record.train_sizes))
    if columns is None or record.parts == 1 or not 0 < trained < columns:
        return None
    return (
        f"There are {columns:,} columns for {trained:,} training rows. Unless the learner is regularised enough, its "
        "fold predictors differ much, and the interval may miss more often than it says."
    )


BALANCED = 0.4  # the smallest share of the rarer class that counts as near balance
UNSURE = 2.0  # standard errors: a share nearer to one half than this does not tell the commoner class
FAVOURED = 0.2  # by how much answers exceed the share of the class they favour


def leaning_note(positive: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> str | None:
    """Return a warning if predictions favour the commoner of two about equally frequent classes; else None.

    `positive` marks the rows of the sample that are of the positive class. `predicted` marks the positive predictions
    for rows held out by stratified splits, in any order.

    >>> coins = np.arange(60) < 32
    >>> leaning_note(coins, np.ones(60, dtype=bool)) is None, leaning_note(coins, coins) is None
    (False, True)
    """
    n, share = len(positive), float(np.mean(positive))
    common = max(share, 1 - share)
    if common == 0.5 or common > 1 - BALANCED or (2 * common - 1) * sqrt(n) >= UNSURE or not len(predicted):
        return None
    answers = float(np.mean(predicted == (share > 0.5)))
    if answers - common < FAVOURED:
        return None
    better = (2 * answers - 1) * (common - 0.5)
    return (
        f"{percent(answers)} of the predictions are the commoner class, which has {percent(common, 3)} of {n:,} rows: "
        "too near one half to tell which class is commoner in new data. Stratified folds keep that share in training "
        f"and held-out rows, so the error rate looks about {better:.2g} better than if both classes were equally "
        "frequent. Use stratify=False."
    )
