"""Estimates from records: values, signs, clipping, failures, and answers known beforehand."""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb

import numpy as np
import pytest

from heldout.base.errors import OptionError
from heldout.risk.estimands import estimand_of
from heldout.risk.estimate_risk import Record, estimate_risk


def record_of(rows, *, train=None, **changed):
    """A K-fold record from the row losses of each part."""
    rows = tuple(np.asarray(part, dtype=float) for part in rows)
    sizes = np.array([len(part) for part in rows])
    plain = {"loss": "squared", "sign": 1, "low": 0.0, "high": np.inf, "kind": "kfold", "partition": True}
    return Record(
        fold_losses=np.array([part.mean() for part in rows]),
        row_losses=rows,
        train_sizes=sizes.sum() - sizes if train is None else np.full(len(rows), train),
        held_sizes=sizes,
        **{**plain, **changed},
    )


def estimate(record, **options):
    return estimate_risk(record, name="risk", estimand="words", **options)


def test_the_value_is_the_mean_of_the_fold_means_and_pooling_must_be_asked_for():
    record = record_of([[1.0, 2.0, 3.0], [8.0]])
    assert estimate(record).value == 5.0
    pooled = estimate(record, pool=True)
    assert pooled.value == 3.5
    assert pooled.unclipped[0] < 3.5 < pooled.unclipped[1]


def test_pooling_keeps_weights():
    record = record_of([[0.0, 1.0], [1.0, 1.0]], weights=(np.array([3.0, 1.0]), np.array([1.0, 1.0])))
    assert estimate(record, pool=True).value == 0.5


def test_pooling_a_score_of_whole_sets_is_refused():
    record = replace(record_of([[1.0], [2.0]]), row_losses=None, loss="roc_auc")
    with pytest.raises(OptionError, match="'roc_auc' compares the rows of a set with each other"):
        estimate(record, pool=True)


def test_scores_are_shown_in_the_users_sign_with_their_ends_in_order():
    losses = [[-1.0] * 9 + [0.0], [-1.0] * 8 + [0.0] * 2, [-1.0] * 10]
    score = estimate(record_of(losses, loss="accuracy", sign=-1, low=-1.0, high=0.0))
    error = estimate(record_of([[x + 1 for x in part] for part in losses], loss="zero_one", high=1.0))
    assert score.value == pytest.approx(1 - error.value)
    assert (score.low, score.high) == (pytest.approx(1 - error.high), pytest.approx(1 - error.low))
    assert score.low <= score.value <= score.high <= 1.0
    assert score.greater_is_better
    assert not error.greater_is_better


def test_a_perfect_zero_is_not_minus_zero():
    risk = estimate(record_of([[0.0, 0.0]], loss="accuracy", sign=-1, low=-1.0, high=0.0, train=8))
    assert [str(risk.value), str(risk.low)] == ["0.0", "0.0"]


def test_what_is_shown_is_clipped_and_the_unclipped_is_kept():
    risk = estimate(record_of([[0.0, 0.1], [0.9, 1.0]]), interval="corrected-t")
    assert risk.low == 0.0
    assert risk.unclipped[0] < 0
    assert risk.unclipped[1] == risk.high


def test_a_failed_part_leaves_no_value_and_says_which():
    record = record_of([[1.0], [2.0], [3.0]])
    losses = record.fold_losses.copy()
    losses[1] = np.nan
    risk = estimate(replace(record, fold_losses=losses))
    assert (risk.value, risk.low, risk.high) == (None, None, None)
    assert "1 of 3 parts failed (part 1)" in risk.reason
    known = estimate(replace(record, fold_losses=losses), reason="Ridge raised in part 1")
    assert (known.value, known.reason) == (None, "Ridge raised in part 1")
    alone = record_of([[1.0, 2.0]])
    assert estimate(replace(alone, fold_losses=np.array([np.nan]))).reason.startswith("No value: the fit")


def test_a_reason_from_above_stands_in_for_the_interval():
    risk = estimate(record_of([[1.0, 2.0], [2.0, 4.0]]), reason="Looked at before.")
    assert (risk.value, risk.low, risk.reason) == (2.25, None, "Looked at before.")


def test_sizes():
    twice = record_of([[0.0] * 3, [1.0] * 2, [0.0] * 3, [1.0] * 2], train=3, repeats=2)
    risk = estimate(replace(twice, train_sizes=np.array([2, 3, 2, 3])))
    assert (risk.n, risk.train_size) == (5, 2.5)
    frozen = record_of([[0.0, 1.0]], kind="given", train=0)
    assert estimate(frozen).train_size is None


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(OptionError, match="between 0 and 1"):
        estimate(record_of([[1.0, 2.0], [3.0, 4.0]]), level=level)


def test_estimates_are_plain_data():
    risk = estimate(record_of([[1.0, 2.0], [3.0, 4.0]]))
    assert json.loads(json.dumps(risk.as_dict()))["value"] == 2.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"kind": "loo", "parts": 20, "tuned": False, "train_size": 19},
            "expected {} of the learner trained on 19 rows",
        ),
        (
            {"kind": "resample", "parts": 9, "tuned": True, "train_size": 80},
            "expected {} of the tuned learner trained on 80 rows",
        ),
        ({"kind": "given", "parts": 1, "tuned": True, "train_size": 80}, "{} of this predictor, trained on 80 rows"),
        ({"kind": "given", "parts": 1, "tuned": False, "train_size": None}, "{} of this predictor, fitted beforehand"),
        (
            {"kind": "forward", "parts": 3, "tuned": False, "train_size": 40.5},
            "expected {} of the learner trained on about 40 rows, on later rows",
        ),
    ],
)
def test_estimands_in_words(options, words):
    assert estimand_of(**options, loss="zero_one") == words.format("zero-one risk")
    assert estimand_of(**options, loss="accuracy", sign=-1) == words.format("accuracy")


# Answers known beforehand.


def majority_mse(n, k):
    """The mean squared error of k-fold cross-validation of the majority learner on n fair coins."""
    m = n // k
    shared = sum(comb(m - 1, j) ** 2 * comb(n - 2 * m, (n - m) // 2 - j) for j in range(m))
    return (k - 1) / k * 2.0**-n * shared + 1 / (4 * n)


def majority_losses(coins, k):
    """Row losses of k-fold cross-validation of the strict majority: (studies, parts, rows a part)."""
    blocks = coins.reshape(len(coins), k, -1)
    ones = coins.sum(axis=1)[:, None] - blocks.sum(axis=2)
    predicted = 2 * ones > coins.shape[1] - blocks.shape[2]
    return (blocks != predicted[:, :, None]).astype(float)


@pytest.mark.parametrize(("k", "known"), [(4, 0.02397), (10, 0.03337), (20, 0.05655)])
def test_cross_validation_of_the_majority_learner_errs_as_much_as_it_must(k, known):
    assert majority_mse(20, k) == pytest.approx(known, abs=5e-6)
    coins = np.random.default_rng(k).integers(0, 2, size=(4000, 20))
    losses = majority_losses(coins, k)
    values = [
        estimate(record_of(study, loss="zero_one", high=1.0, kind="loo" if k == 20 else "kfold")).value
        for study in losses
    ]
    squares = (np.array(values) - 0.5) ** 2  # whatever it predicts, its risk on fair coins is one half
    assert squares.mean() == pytest.approx(known, abs=4 * squares.std() / np.sqrt(len(squares)))


def least_squares_risk(n, p):
    """The expected risk of least squares with an intercept on normal columns, noise of variance 1."""
    return (1 + 1 / n) * (n - 2) / (n - p - 2)


@pytest.mark.parametrize(("n", "known"), [(100, 1.2690), (40, 2.1639)])
def test_least_squares_has_the_risk_it_must(n, known):
    p, rng = 20, np.random.default_rng(n)
    assert least_squares_risk(n, p) == pytest.approx(known, abs=5e-5)
    risks = []
    for _ in range(400):
        X = np.column_stack([np.ones(n), rng.normal(size=(n, p))])
        fitted = np.linalg.lstsq(X, rng.normal(size=n), rcond=None)[0]
        risks.append(1 + fitted @ fitted)  # the true coefficients are 0, the columns independent
    assert np.mean(risks) == pytest.approx(known, abs=4 * np.std(risks) / np.sqrt(len(risks)))


@pytest.mark.parametrize(("n", "known"), [(100, 1.3085), (40, 2.4960)])
def test_cross_validation_of_least_squares_speaks_of_its_own_training_size(n, known):
    p, k = 20, 10
    trained = n * (k - 1) // k
    assert least_squares_risk(trained, p) == pytest.approx(known, abs=5e-5)
    rng = np.random.default_rng(n)
    values = []
    for _ in range(200):
        X = np.column_stack([np.ones(n), rng.normal(size=(n, p))])
        y = rng.normal(size=n)
        # Held-out residuals of a block are (I − H)⁻¹ times its plain residuals: ten small solves, no refits.
        hat = X @ np.linalg.solve(X.T @ X, X.T)
        plain = y - hat @ y
        blocks = np.split(np.arange(n), k)
        rows = [np.linalg.solve(np.eye(len(b)) - hat[np.ix_(b, b)], plain[b]) ** 2 for b in blocks]
        risk = estimate(record_of(rows))
        assert risk.train_size == trained
        values.append(risk.value)
    assert np.mean(values) == pytest.approx(known, abs=4 * np.std(values) / np.sqrt(len(values)))
