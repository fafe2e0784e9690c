"""Estimands: which quantity a number estimates and at which training size, as a type and in words.

Four quantities are estimated. Two more are named because they are easily mistaken for one of the four.

====================  ==================================  ==============================================
quantity              words                               estimator
====================  ==================================  ==============================================
ℓ_D(A(S))             :func:`predictor_risk`              test error
min_θ ℓ_D(A_θ(S))     :func:`family_risk`                 development set
E ℓ_D(A(S))           :func:`learner_risk`                cross-validation, leave-one-out, resampling
E ℓ_D(A_θ̂(S))         :func:`learner_risk` (tuned)        nested cross-validation and resampling
mean over k ℓ_D(h_k)  :func:`fold_predictors_risk`        cross-validation, for the ensemble
min_θ CV(θ)           :func:`best_validation`             optimistic: it also chose θ
====================  ==================================  ==============================================

Only a test error estimates the risk of one given predictor. Cross-validation, leave-one-out included, estimates
the expected risk of a predictor at the training size of its parts: for least squares with 100 rows and 20 columns the
correlation of the cross-validation estimate with the risk of the predictor at hand is 0.02.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, Self

import numpy as np

LATER, CLASS_SHARES = "on later rows", "at the class shares of the sample"
WEIGHTED = "rows weighted by sample_weight"
POOLED, AVERAGED = "all held-out rows pooled", "averaged over folds"
ROUNDING = 0.02  # training sizes that differ by a smaller share, or by one row, are one size up to rounding


class Subject(StrEnum):
    """The kind of subject whose risk a number estimates."""

    PREDICTOR = "predictor"  # one predictor, tested as it is
    LEARNER = "learner"  # a typical predictor of a learner at this training size
    TUNED_LEARNER = "tuned learner"  # the same, where the candidate is chosen on the training rows
    FOLD_PREDICTORS = "fold predictors"
    CANDIDATES = "candidates"  # the best of several, or how far it is from it


class Estimand(str):
    """Describes what a number estimates: a string for people, with attributes for code."""

    subject: Subject
    later: bool  # on rows that come later than the training rows

    def __new__(cls, words: str, subject: Subject, later: bool = False) -> Self:
        made = super().__new__(cls, words)
        made.subject, made.later = subject, later
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.subject, self.later

    def __add__(self, words: str) -> Estimand:
        """Return the same quantity with words appended."""
        return Estimand(str(self) + words, self.subject, self.later)

    @property
    def of_learner(self) -> bool:
        """Whether it is an expectation over training sets, not the risk of a predictor at hand."""
        return self.subject in (Subject.LEARNER, Subject.TUNED_LEARNER)


class Sizes(NamedTuple):
    """Holds the mean, the smallest and the largest size of several training sets.

    `fit` is the number of rows that a single fit uses if that is fewer than the learner is given: members of an
    ensemble are trained without a validation part, and a kept predictor without the development rows. Else None.
    """

    mean: float
    least: float
    most: float
    fit: float | None = None

    @classmethod
    def of(cls, sizes: Any, *, fit: float | None = None) -> Sizes | None:
        """Summarise the sizes of several training sets; return None if all are 0, so that nothing was trained.

        >>> Sizes.of([30, 60, 90])
        Sizes(mean=60.0, least=30.0, most=90.0, fit=None)
        """
        numbers = np.atleast_1d(np.asarray(sizes, dtype=float))
        if not numbers.any():
            return None
        return cls(float(np.mean(numbers)), float(numbers.min()), float(numbers.max()), fit)

    @property
    def range(self) -> tuple[float, float] | None:
        """The smallest and the largest size; None if they differ by rounding only."""
        apart = self.most - self.least > max(1.0, ROUNDING * self.most)
        return (self.least, self.most) if apart else None


def risk_words(loss: str, sign: int = 1) -> str:
    """Return the name of the quantity that a loss (sign 1) or a score (sign −1) measures.

    >>> risk_words("zero_one"), risk_words("accuracy", -1)
    ('zero-one risk', 'accuracy')
    """
    words = loss.replace("zero_one", "zero-one").replace("_", " ")
    return f"{words} risk" if sign > 0 else words


def rows_words(train_size: float | Sizes) -> str:
    """Return the number of training rows in words; sizes that differ by more than rounding are given as a range.

    >>> rows_words(120), rows_words(119.5), rows_words(1)
    ('120 rows', 'about 120 rows', '1 row')
    >>> rows_words(Sizes.of([30, 60, 90])), rows_words(Sizes.of([119, 120]))
    ('30 to 90 rows', 'about 120 rows')
    >>> rows_words(Sizes.of(120, fit=96))
    '120 rows (each fit on 96 of them)'
    """
    if not isinstance(train_size, Sizes):
        train_size = Sizes(train_size, train_size, train_size)
    mean = train_size.mean
    if (apart := train_size.range) is not None:
        words = f"{apart[0]:.0f} to {apart[1]:.0f} rows"
    else:
        words = "1 row" if mean == 1 else f"{_count(mean)} rows"
    return words if train_size.fit is None else f"{words} (each fit on {_count(train_size.fit)} of them)"


def _count(rows: float) -> str:
    return f"{rows:.0f}" if float(rows).is_integer() else f"about {rows:.0f}"


def estimand_of(
    kind: str,
    *,
    parts: int,
    tuned: bool,
    train_size: float | Sizes | None,
    loss: str,
    sign: int = 1,
    stratified: bool = False,
    weighted: bool = False,
) -> Estimand:
    """Return what the test losses of a study estimate, given the kind of its splits and the number of parts.

    `stratified`: the parts keep the shares of the classes. `weighted`: rows are weighted by `sample_weight`.

    >>> estimand_of("kfold", parts=5, tuned=True, train_size=120, loss="zero_one")
    'expected zero-one risk of the tuned learner trained on 120 rows'
    >>> estimand_of("holdout", parts=1, tuned=False, train_size=120, loss="zero_one")
    'zero-one risk of this predictor, trained on 120 rows'
    >>> estimand_of("kfold", parts=5, tuned=False, train_size=120, loss="zero_one", stratified=True)
    'expected zero-one risk of the learner trained on 120 rows, at the class shares of the sample'
    >>> estimand_of("forward", parts=3, tuned=False, train_size=Sizes.of([30, 60, 90]), loss="squared", weighted=True)
    'expected squared risk of the learner trained on 30 to 90 rows, rows weighted by sample_weight, on later rows'
    """
    if parts == 1 or train_size is None:
        words = predictor_risk(loss, train_size=train_size, sign=sign)
    else:
        words = learner_risk(loss, train_size=train_size, tuned=tuned, sign=sign)
    words += conditions(stratified=stratified, weighted=weighted)
    return Estimand(f"{words}, {LATER}", words.subject, later=True) if kind == "forward" else words


def conditions(*, stratified: bool, weighted: bool) -> str:
    """Return the words for the rows that the risk refers to; empty if they are unweighted rows of a plain sample."""
    return f", {CLASS_SHARES}" * stratified + f", {WEIGHTED}" * weighted


def taken_over(*, pooled: bool) -> str:
    """Return the words that say whether a score was computed on all held-out rows at once or averaged over folds."""
    return f", {POOLED if pooled else AVERAGED}"


def predictor_risk(loss: str, *, train_size: float | Sizes | None, sign: int = 1) -> Estimand:
    """Return the estimand ℓ_D(A(S)), the risk of this one predictor; `train_size` is None if it was given fitted.

    >>> predictor_risk("squared", train_size=None)
    'squared risk of this predictor, fitted beforehand'
    """
    origin = "fitted beforehand" if train_size is None else f"trained on {rows_words(train_size)}"
    return Estimand(f"{risk_words(loss, sign)} of this predictor, {origin}", Subject.PREDICTOR)


def kept_predictor_risk(loss: str, *, train_size: float | Sizes, sign: int = 1) -> Estimand:
    """Return the estimand ℓ_D(A_θ̂(S)) of a predictor that development rows chose and that was not trained on them.

    >>> kept_predictor_risk("zero_one", train_size=96)
    'zero-one risk of the chosen predictor, trained on 96 rows without the development rows'
    """
    trained = f"trained on {rows_words(train_size)} without the development rows"
    return Estimand(f"{risk_words(loss, sign)} of the chosen predictor, {trained}", Subject.PREDICTOR)


def learner_risk(loss: str, *, train_size: float | Sizes, tuned: bool, sign: int = 1) -> Estimand:
    """Return the estimand E ℓ_D(A(S)), the expected risk at this size; E ℓ_D(A_θ̂(S)) if `tuned`."""
    who = Subject.TUNED_LEARNER if tuned else Subject.LEARNER
    return Estimand(f"expected {risk_words(loss, sign)} of the {who} trained on {rows_words(train_size)}", who)


def fold_predictors_risk(loss: str, *, train_size: float | Sizes, parts: int, sign: int = 1) -> Estimand:
    """Return the estimand "mean risk of the fold predictors"; for a convex loss it bounds the risk of their average.

    >>> fold_predictors_risk("squared", train_size=120, parts=5)
    'mean squared risk of the 5 fold predictors, each trained on 120 rows'
    """
    words = f"mean {risk_words(loss, sign)} of the {parts} fold predictors, each trained on {rows_words(train_size)}"
    return Estimand(words, Subject.FOLD_PREDICTORS)


def family_risk(loss: str, *, train_size: float | Sizes, candidates: int, sign: int = 1) -> Estimand:
    """Return the estimand min_θ ℓ_D(A_θ(S)), the risk of the best predictor of a family on this training set.

    >>> family_risk("zero_one", train_size=96, candidates=17)
    'smallest zero-one risk among the 17 predictors of the family, trained on 96 rows'
    """
    best = f"{'smallest' if sign > 0 else 'largest'} {risk_words(loss, sign)} among the {candidates} predictors"
    return Estimand(f"{best} of the family, trained on {rows_words(train_size)}", Subject.CANDIDATES)


def excess_risk(loss: str, *, train_size: float | Sizes, candidates: int) -> Estimand:
    """Return the estimand ℓ_D(A_θ̂(S)) − min_θ ℓ_D(A_θ(S)), the cost of choosing on a development set.

    >>> excess_risk("zero_one", train_size=96, candidates=17)
    'by how much the chosen predictor is worse in zero-one than the best of the 17 of the family, trained on 96 rows'
    """
    worse = f"by how much the chosen predictor is worse in {risk_words(loss, -1)} than the best of the {candidates}"
    return Estimand(f"{worse} of the family, trained on {rows_words(train_size)}", Subject.CANDIDATES)


def best_validation(loss: str, *, train_size: float | Sizes | None, candidates: int, sign: int = 1) -> Estimand:
    """Return the estimand min_θ CV(θ), optimistic because the rows that chose θ also judge it.

    `train_size` is None if the splits were not drawn.

    >>> best_validation("zero_one", train_size=120, candidates=17)
    'best validation zero-one risk of 17 candidates trained on 120 rows, on the rows that chose it: optimistic'
    """
    best = f"best validation {risk_words(loss, sign)} of {_trained(candidates, train_size)}"
    return Estimand(f"{best}, on the rows that chose it: optimistic", Subject.CANDIDATES)


def corrected_validation(loss: str, *, train_size: float | Sizes | None, candidates: int, sign: int = 1) -> Estimand:
    """Return the estimand E ℓ_D(A_θ̂(S)), estimated from validation losses corrected for the optimism of choosing.

    >>> corrected_validation("zero_one", train_size=120, candidates=17)
    'expected zero-one risk of the best of 17 candidates trained on 120 rows, corrected for the optimism of choosing it'
    """
    best = f"expected {risk_words(loss, sign)} of the best of {_trained(candidates, train_size)}"
    return Estimand(f"{best}, corrected for the optimism of choosing it", Subject.CANDIDATES)


def _trained(candidates: int, train_size: float | Sizes | None) -> str:
    return f"{candidates} candidates" + ("" if train_size is None else f" trained on {rows_words(train_size)}")
