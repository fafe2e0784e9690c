"""By how much an interval from the spread of rows must be widened to hold the *expected* risk of a learner.

The rows tell how far a mean over test rows is off. An estimate by cross-validation is also off because the same rows
trained the predictors: its variance is about Var(ℓᵢ + m·rᵢ)/n, where rᵢ is row i's influence, as a training row, on
the risk. κ is the root of that variance over the variance of the rows alone. Four parts of it can be estimated with no
further fit: docs/intervals.md says how well. All of it is a rule of thumb, so the guarantee is "heuristic".
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from heldout.risk.record import Elsewhere, Floats, Record
from heldout.risk.sampling import end_to_end, sampling_of

PLAIN = 1.35  # κ where nothing is known of the fold predictors
LEAST_SQUARES = 1.15  # κ of least-squares learners beside their complexity
FOR_GROUPS = 1.3  # the least κ where groups are what is drawn
MOST_FOLDS = 20  # fold predictors of more parts differ too little to tell anything
MEMORISED = 0.2  # a training error below this share of the held-out error


def disagreement(record: Record) -> float | None:
    """The mean variance of the fold predictors' losses on the same rows, over the variance of losses between rows."""
    elsewhere = record.elsewhere
    if elsewhere is None or elsewhere.losses is None or record.row_losses is None or _folds(record) > MOST_FOLDS:
        return None
    if len(elsewhere.losses) < 3:
        return None
    spread = float(np.var(end_to_end(record.row_losses), ddof=1))
    if spread == 0:
        return None
    return float(np.mean(np.var(elsewhere.losses, axis=0, ddof=1))) / spread


def training_loss(elsewhere: Elsewhere | None) -> float | None:
    """The mean loss of the fold predictors on rows that they were trained on."""
    if elsewhere is None or elsewhere.losses is None or not elsewhere.trained.any():
        return None
    return float(np.mean(elsewhere.losses[elsewhere.trained]))


def complexity(record: Record) -> float | None:
    """γ̂ = 1 − √(training MSE / held-out MSE): how much of the training rows' noise a least-squares learner fitted."""
    elsewhere, answers = record.elsewhere, record.answers
    if elsewhere is None or answers is None or answers.classes or not elsewhere.trained.any():
        return None
    inside = (elsewhere.truth - elsewhere.predicted) ** 2
    trained = float(np.mean(inside[elsewhere.trained]))
    outside = float(np.mean((end_to_end(answers.truth) - end_to_end(answers.predicted)) ** 2))
    if outside <= 0 or not np.isfinite(trained / outside):
        return None
    return float(np.clip(1 - sqrt(trained / outside), 0.0, 0.95))


def adaptive(record: Record, *, held_out: float) -> float:
    """κ from how much the fold predictors disagree, or a fixed one where that is not known."""
    differ = disagreement(record)
    if differ is None:
        return PLAIN
    kappa = float(np.clip(1.1 + 0.8 * differ, 1.15, 1.6))
    inside = training_loss(record.elsewhere)
    if inside is not None and inside < MEMORISED * held_out:
        kappa = max(kappa, PLAIN)
    return kappa


def shift(record: Record, losses: Floats, weights: Floats, slopes: Floats | None) -> float:
    """The factor for what moves every probability at once: the intercept, the balance of classes.

    A learner whose probabilities p fulfil Σw(y − p) = 0 has the influence w(y − p)/mean(w·p(1−p)) on its logits. If one
    unit of logit changes the loss by D, row i contributes ℓᵢ + D·IFᵢ. The larger of the two variances counts.

    Parameters
    ----------
    losses : array
        What each row contributes to the estimate.
    slopes : array, optional
        The derivative of each row's contribution by a common shift of the logits; None takes that of a count of
        errors, by a kernel estimate at the threshold.
    """
    answers = record.answers
    if answers is None or answers.classes != 2 or answers.probability is None:
        return 1.0
    p = np.clip(end_to_end(answers.probability), 1e-12, 1 - 1e-12)
    if len(np.unique(p)) <= len(p) / 2:
        return 1.0
    y = (end_to_end(answers.truth) == answers.positive).astype(np.float64)
    by_class = np.ones(2) if answers.class_weights is None else answers.class_weights
    w = np.where(y == 1, by_class[answers.positive], by_class[1 - answers.positive])
    information = float(np.sum(weights * w * p * (1 - p)))
    if information <= 0:
        return 1.0
    influence = w * (y - p) / information
    if slopes is None:
        slopes = at_threshold(p) * (1 - 2 * y)
    slope = float(np.sum(weights * slopes))
    plain = sampling_of(record, losses, weights).error
    moved = sampling_of(record, losses + slope * influence, weights).error
    return moved / plain if moved > plain > 0 else 1.0


def at_threshold(p: Floats) -> Floats:
    """Weights of a kernel estimate of the density of logits at 0, one a row."""
    logits = np.log(p / (1 - p))
    deviation = float(np.std(logits))
    quartiles = np.quantile(logits, (0.25, 0.75))
    robust = float(quartiles[1] - quartiles[0]) / 1.34
    width = 1.06 * (min(deviation, robust) if robust > 0 else deviation) * len(p) ** -0.2
    if width <= 0:
        return np.zeros(len(p))
    return np.asarray(np.exp(-0.5 * (logits / width) ** 2) / (width * sqrt(2 * np.pi)), dtype=np.float64)


def share_variance(record: Record) -> float | None:
    """The variance of the share of rows called positive: (K − 1) times its variance over the fold predictors."""
    elsewhere, answers = record.elsewhere, record.answers
    if elsewhere is None or answers is None or answers.classes != 2 or _folds(record) > MOST_FOLDS:
        return None
    shares = np.mean(elsewhere.predicted == answers.positive, axis=1)
    return None if len(shares) < 3 else float((len(shares) - 1) * np.var(shares, ddof=0))


def _folds(record: Record) -> int:
    return record.parts // record.repeats


def least(record: Record, kappa: float) -> float:
    """κ as it is used: 1 where nothing was trained or one predictor was tested, at least 1.3 where groups are drawn."""
    if record.parts == 1 or not np.sum(record.train_sizes):
        return 1.0
    return max(kappa, FOR_GROUPS) if record.grouped else kappa
