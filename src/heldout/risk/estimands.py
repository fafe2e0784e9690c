"""In words: which quantity a number estimates, and at which training size.

Four quantities are estimated, and two more are named because they are easily taken for one of the four.

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

Only a predictor that is tested as it is has a risk of its own here. Cross-validation, leave-one-out included,
speaks of a typical predictor at the training size of its parts: for least squares with 100 rows and 20 columns
the correlation of the cross-validation estimate with the risk of the predictor at hand is 0.02.
"""

from __future__ import annotations


def risk_words(loss: str, sign: int = 1) -> str:
    """The quantity a loss or a score measures, as a noun.

    >>> risk_words("zero_one"), risk_words("accuracy", -1)
    ('zero-one risk', 'accuracy')
    """
    words = loss.replace("zero_one", "zero-one").replace("_", " ")
    return f"{words} risk" if sign > 0 else words


def rows_words(train_size: float) -> str:
    """A number of training rows; parts of unequal size have a mean.

    >>> rows_words(120), rows_words(119.5), rows_words(1)
    ('120 rows', 'about 120 rows', '1 row')
    """
    if train_size == 1:
        return "1 row"
    return f"{train_size:.0f} rows" if float(train_size).is_integer() else f"about {train_size:.0f} rows"


def estimand_of(kind: str, *, parts: int, tuned: bool, train_size: float | None, loss: str, sign: int = 1) -> str:
    """What the test losses of a study estimate, by the kind of its splits and how many parts they have.

    >>> estimand_of("kfold", parts=5, tuned=True, train_size=120, loss="zero_one")
    'expected zero-one risk of the tuned learner trained on 120 rows'
    >>> estimand_of("holdout", parts=1, tuned=False, train_size=120, loss="zero_one")
    'zero-one risk of this predictor, trained on 120 rows'
    """
    if parts == 1 or train_size is None:
        words = predictor_risk(loss, train_size=train_size, sign=sign)
    else:
        words = learner_risk(loss, train_size=train_size, tuned=tuned, sign=sign)
    return f"{words}, on later rows" if kind == "forward" else words


def of_weighted_rows(words: str) -> str:
    """An estimand of rows that count as much as their weights.

    >>> of_weighted_rows(learner_risk("squared", train_size=9, tuned=False))
    'expected squared risk of the learner trained on 9 rows, rows counted by sample_weight'
    """
    return f"{words}, rows counted by sample_weight"


def predictor_risk(loss: str, *, train_size: float | None, sign: int = 1) -> str:
    """ℓ_D(A(S)): of this very predictor, whose training size is not known when it came fitted.

    >>> predictor_risk("squared", train_size=None)
    'squared risk of this predictor, fitted beforehand'
    """
    origin = "fitted beforehand" if train_size is None else f"trained on {rows_words(train_size)}"
    return f"{risk_words(loss, sign)} of this predictor, {origin}"


def family_risk(loss: str, *, train_size: float, candidates: int, sign: int = 1) -> str:
    """min_θ ℓ_D(A_θ(S)): of the best predictor of a family on this training set.

    >>> family_risk("zero_one", train_size=96, candidates=17)
    'smallest zero-one risk among the 17 predictors of the family, trained on 96 rows'
    """
    best = "smallest" if sign > 0 else "largest"
    return (
        f"{best} {risk_words(loss, sign)} among the {candidates} predictors of the family, "
        f"trained on {rows_words(train_size)}"
    )


def learner_risk(loss: str, *, train_size: float, tuned: bool, sign: int = 1) -> str:
    """E ℓ_D(A(S)), or E ℓ_D(A_θ̂(S)) when θ is chosen on the training rows: of a typical predictor at this size."""
    who = "the tuned learner" if tuned else "the learner"
    return f"expected {risk_words(loss, sign)} of {who} trained on {rows_words(train_size)}"


def fold_predictors_risk(loss: str, *, train_size: float, parts: int, sign: int = 1) -> str:
    """The mean risk of the fold predictors: for a fixed θ and a convex loss it bounds the risk of their average.

    >>> fold_predictors_risk("squared", train_size=120, parts=5)
    'mean squared risk of the 5 fold predictors, each trained on 120 rows'
    """
    return f"mean {risk_words(loss, sign)} of the {parts} fold predictors, each trained on {rows_words(train_size)}"


def best_validation(loss: str, *, train_size: float, candidates: int, sign: int = 1) -> str:
    """min_θ CV(θ): optimistic, since the rows that chose θ also judge it.

    >>> best_validation("zero_one", train_size=120, candidates=17)
    'best validation zero-one risk of 17 candidates trained on 120 rows, on the rows that chose it: optimistic'
    """
    return (
        f"best validation {risk_words(loss, sign)} of {candidates} candidates trained on {rows_words(train_size)}, "
        "on the rows that chose it: optimistic"
    )


def corrected_validation(loss: str, *, train_size: float, candidates: int, sign: int = 1) -> str:
    """E ℓ_D(A_θ̂(S)) again, from the validation losses alone: the optimism of choosing taken off.

    >>> corrected_validation("zero_one", train_size=120, candidates=17)
    'expected zero-one risk of the best of 17 candidates trained on 120 rows, less the optimism of choosing it'
    """
    return (
        f"expected {risk_words(loss, sign)} of the best of {candidates} candidates trained on "
        f"{rows_words(train_size)}, less the optimism of choosing it"
    )


def kept_predictor_risk(loss: str, *, train_size: float, sign: int = 1) -> str:
    """ℓ_D(A_θ̂(S)) of the predictor that development rows chose and that was not trained on them.

    >>> kept_predictor_risk("zero_one", train_size=96)
    'zero-one risk of the chosen predictor, trained on 96 rows without the development rows'
    """
    return (
        f"{risk_words(loss, sign)} of the chosen predictor, trained on {rows_words(train_size)} "
        "without the development rows"
    )


def excess_risk(loss: str, *, train_size: float, candidates: int) -> str:
    """ℓ_D(A_θ̂(S)) − min_θ ℓ_D(A_θ(S)): what choosing on a development set may have cost.

    >>> excess_risk("zero_one", train_size=96, candidates=17)
    'by how much the chosen predictor is worse in zero-one than the best of the 17 of the family, trained on 96 rows'
    """
    words = loss.replace("zero_one", "zero-one").replace("_", " ")
    return (
        f"by how much the chosen predictor is worse in {words} than the best of the {candidates} of the family, "
        f"trained on {rows_words(train_size)}"
    )
