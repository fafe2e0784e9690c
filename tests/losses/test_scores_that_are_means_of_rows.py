"""Every scikit-learn score that is a mean over rows has row losses, and their mean is the scorer's number."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import get_scorer, make_scorer

from heldout.base.errors import LossError, PredictionError
from heldout.base.responses import Responses
from heldout.journal.keys import loss_identity
from heldout.losses import (
    Replay,
    family_of,
    is_mean_of_rows,
    mean_loss,
    on_target,
    resolve_losses,
    row_loss,
    row_losses,
)
from heldout.losses.scoring import call_scorer


def loss_of(function, **options):
    return make_scorer(function, greater_is_better=False, **options)


def resolved(scorer, *, numbers):
    (loss,) = resolve_losses(scorer, classification=not numbers)
    return loss


NUMBERS = {
    "neg_mean_absolute_percentage_error": "neg_mean_absolute_percentage_error",
    "neg_mean_squared_log_error": "neg_mean_squared_log_error",
    "neg_mean_poisson_deviance": "neg_mean_poisson_deviance",
    "neg_mean_gamma_deviance": "neg_mean_gamma_deviance",
    "pinball": loss_of(metrics.mean_pinball_loss),
    "pinball .9": loss_of(metrics.mean_pinball_loss, alpha=0.9),
    **{f"tweedie {p}": loss_of(metrics.mean_tweedie_deviance, power=p) for p in (-1.3, 0, 1, 1.5, 2, 3, 3.7)},
    "tweedie": loss_of(metrics.mean_tweedie_deviance),
}
SEVERAL_NUMBERS = {
    **{name: NUMBERS[name] for name in ("neg_mean_absolute_percentage_error", "neg_mean_squared_log_error", "pinball")},
    "uniform": loss_of(metrics.mean_squared_error, multioutput="uniform_average"),
    **{
        f.__name__: loss_of(f, multioutput=[0.2, 0.3, 1.5])
        for f in (
            metrics.mean_squared_error,
            metrics.mean_absolute_error,
            metrics.mean_absolute_percentage_error,
            metrics.mean_squared_log_error,
        )
    },
    "pinball .1": loss_of(metrics.mean_pinball_loss, alpha=0.1, multioutput=[1, 2, 3]),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_losses_of_numbers(name, weighted, kind):
    rng = np.random.default_rng(1)
    y, predicted = (rng.gamma(2, 3, 200) + 1).astype(kind), rng.gamma(2, 3, 200) + 0.1
    weight = rng.uniform(0.1, 3, 200) if weighted else None
    assert_rows_average_to_the_score(resolved(NUMBERS[name], numbers=True), y, Responses(predict=predicted), weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SEVERAL_NUMBERS)
def test_losses_of_several_numbers(name, weighted):
    rng = np.random.default_rng(2)
    y, predicted = rng.gamma(2, 3, (200, 3)), rng.gamma(2, 3, (200, 3)) + 0.1
    weight = rng.uniform(0.1, 3, 200) if weighted else None
    assert_rows_average_to_the_score(
        resolved(SEVERAL_NUMBERS[name], numbers=True), y, Responses(predict=predicted), weight
    )


def assert_rows_average_to_the_score(loss, y, responses, weight, rel=1e-12):
    rows = row_losses(loss, y, responses)
    assert rows is not None
    assert rows.shape == (len(y),)
    assert rows.dtype == np.float64
    options = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = loss.scorer(Replay(responses), None, y, **options)
        assert mean_loss(loss, y, responses, weight) == pytest.approx(-expected, rel=1e-13)
    assert np.average(rows, weights=weight) == pytest.approx(-expected, rel=rel)
    assert loss.low <= rows.min() <= rows.max() <= loss.high


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 400), st.integers(0, 2**32 - 1), st.sampled_from(sorted(NUMBERS)))
def test_means_of_errors_are_the_scorers_own_numbers_bit_for_bit(n, seed, name):
    rng = np.random.default_rng(seed)
    y, responses = rng.gamma(2, 3, n) + 0.01, Responses(predict=rng.gamma(2, 3, n) + 0.01)
    loss = resolved(NUMBERS[name], numbers=True)
    assert is_mean_of_rows(loss, y, responses)
    assert mean_loss(loss, y, responses) == call_scorer(loss, Replay(responses), None, y, None)


BRIER = metrics.brier_score_loss
PROBABILITIES = {
    "neg_brier_score": "neg_brier_score",
    "whole": loss_of(BRIER, response_method="predict_proba", scale_by_half=False),
    "half": loss_of(BRIER, response_method="predict_proba", scale_by_half=True),
    "top_k_accuracy": "top_k_accuracy",
    **{
        f"top {k} {method}": make_scorer(metrics.top_k_accuracy_score, k=k, response_method=method)
        for k in (1, 2, 3)
        for method in ("predict_proba", "decision_function")
    },
    "hinge": loss_of(metrics.hinge_loss, response_method="decision_function"),
    "hamming": loss_of(metrics.hamming_loss),
    "accuracy": make_scorer(metrics.accuracy_score, normalize=True),
    "zero_one": loss_of(metrics.zero_one_loss, normalize=True),
    "log": loss_of(metrics.log_loss, response_method="predict_proba", normalize=True),
}


def classified(rng, labels, n=200):
    """Labels, and what some classifier says of them."""
    codes = np.append(np.arange(len(labels)), rng.integers(len(labels), size=n - len(labels)))
    proba = rng.dirichlet(np.ones(len(labels)), n)
    decision = rng.normal(size=(n, len(labels)))
    return labels[codes], Responses(
        predict=labels[rng.integers(len(labels), size=n)],
        predict_proba=proba,
        decision_function=decision[:, 1] if len(labels) == 2 else decision,
        classes=labels,
    )


LABELS = {
    "0 1": np.array([0, 1]),
    "-1 1": np.array([-1, 1]),
    "1 2": np.array([1, 2]),
    "truth": np.array([False, True]),
    "three": np.array([0, 1, 2]),
    "words": np.array(["ape", "bee", "cat", "dog"]),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PROBABILITIES)
@pytest.mark.parametrize("labels", LABELS)
def test_losses_of_classes(labels, name, weighted):
    rng = np.random.default_rng(3)
    y, responses = classified(rng, LABELS[labels])
    weight = rng.uniform(0.1, 3, len(y)) if weighted else None
    loss = resolved(PROBABILITIES[name], numbers=False)
    assert_rows_average_to_the_score(loss, y, responses, weight)
    (known,) = on_target([loss], LABELS[labels])
    assert_rows_average_to_the_score(known, y, responses, weight)


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_the_positive_label_is_honoured(positive):
    rng = np.random.default_rng(4)
    y, responses = classified(rng, np.array(["no", "yes"]))
    proba = responses.predict_proba + rng.uniform(-0.001, 0, (200, 2))  # of which the two do not add up to 1
    responses = Responses(predict_proba=proba.clip(0), classes=responses.classes)
    loss = resolved(loss_of(BRIER, response_method="predict_proba", pos_label=positive), numbers=False)
    assert_rows_average_to_the_score(loss, y, responses, None)
    assert_rows_average_to_the_score(loss, y, responses, rng.uniform(size=200))


def test_labels_are_honoured_where_a_part_lacks_a_class():
    y, responses = classified(np.random.default_rng(5), np.array([0, 1, 2]))
    few = y < 2
    part = Responses(
        predict_proba=responses.predict_proba[few],
        decision_function=responses.decision_function[few],
        classes=LABELS["three"],
    )
    for scorer in (
        loss_of(BRIER, response_method="predict_proba", labels=[0, 1, 2]),
        make_scorer(metrics.top_k_accuracy_score, response_method="predict_proba", labels=[0, 1, 2]),
        loss_of(metrics.hinge_loss, response_method="decision_function", labels=[0, 1, 2]),
    ):
        assert_rows_average_to_the_score(resolved(scorer, numbers=False), y[few], part, None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "scorer",
    [
        *("f1_samples", "precision_samples", "recall_samples", "jaccard_samples"),
        make_scorer(metrics.fbeta_score, beta=2, average="samples", zero_division=1),
        make_scorer(metrics.jaccard_score, average="samples", zero_division=1),
        loss_of(metrics.hamming_loss),
    ],
    ids=str,
)
def test_several_labels_a_row(scorer, weighted):
    rng = np.random.default_rng(6)
    y, predicted = (rng.uniform(size=(2, 200, 3)) < 0.3).astype(int)
    weight = rng.uniform(0.1, 3, 200) if weighted else None
    assert_rows_average_to_the_score(
        resolved(scorer, numbers=False), y, Responses(predict=predicted, classes=[np.array([0, 1])] * 3), weight
    )


@pytest.mark.parametrize(
    ("scorer", "numbers"),
    [
        (make_scorer(metrics.mean_pinball_loss), True),  # greater is better
        (loss_of(metrics.mean_pinball_loss, multioutput="raw_values"), True),
        (loss_of(metrics.mean_squared_error, response_method="predict_proba"), False),
        (loss_of(BRIER), False),
        (loss_of(BRIER, response_method="predict_proba", sample_weight=np.ones(3)), False),
        (make_scorer(metrics.top_k_accuracy_score, response_method="predict_proba", normalize=False), False),
        (make_scorer(metrics.f1_score, average="macro"), False),
        (make_scorer(metrics.f1_score, average="samples", zero_division=np.nan), False),
        (make_scorer(metrics.f1_score, average="samples", labels=[0, 1]), False),
        *(("neg_root_mean_squared_error", True), ("neg_median_absolute_error", True), ("neg_max_error", True)),
        *(("d2_brier_score", False), ("balanced_accuracy", False), ("f1", False), ("roc_auc", False)),
    ],
    ids=str,
)
def test_what_is_no_mean_over_rows_stays_a_set_score(scorer, numbers):
    assert resolved(scorer, numbers=numbers).rows is None


def test_a_part_of_one_class_is_not_taken_for_the_other():
    """Of the labels 1 and 2, scikit-learn takes 1 for the positive class where a part holds no 2."""
    responses = Responses(predict_proba=np.array([[0.9, 0.1]]), classes=np.array([1, 2]))
    loss = resolved("neg_brier_score", numbers=False)
    assert get_scorer("neg_brier_score")(Replay(responses), None, np.array([1])) == pytest.approx(-0.81)
    assert mean_loss(loss, np.array([1]), responses) == pytest.approx(0.01)


def test_top_1_of_two_classes_counts_decisions_from_0_in_every_part():
    responses = Responses(decision_function=np.array([0.3]), classes=np.array([0, 1]))
    loss = resolved(make_scorer(metrics.top_k_accuracy_score, k=1, response_method="decision_function"), numbers=False)
    assert mean_loss(loss, np.array([1]), responses) == -1


def test_own_names_are_scikit_learns_numbers():
    rng = np.random.default_rng(7)
    y, predicted = rng.gamma(2, 3, 100), rng.gamma(2, 3, 100)
    responses = Responses(predict=predicted)
    for name, expected in {
        "poisson": metrics.mean_poisson_deviance(y, predicted),
        "gamma": metrics.mean_gamma_deviance(y, predicted),
        "pinball:0.9": metrics.mean_pinball_loss(y, predicted, alpha=0.9),
        "tweedie:1.5": metrics.mean_tweedie_deviance(y, predicted, power=1.5),
    }.items():
        loss = resolved(name, numbers=True)
        assert (loss.name, loss.sign, loss.low) == (name, 1, 0)
        assert mean_loss(loss, y, responses) == expected
    for labels in (np.array(["no", "yes"]), np.array(["ape", "bee", "cat"])):
        y, responses = classified(rng, labels)
        (loss,) = on_target(resolve_losses("brier", classification=True), labels)
        expected = BRIER(y, responses.predict_proba, labels=labels)
        assert mean_loss(loss, y, responses) == pytest.approx(expected, rel=1e-14)
        assert loss.high == (1 if len(labels) == 2 else 2)


def test_brier_of_a_class_that_was_not_in_training():
    two = Responses(predict_proba=np.array([[0.25, 0.75]]), classes=np.array([0, 1]))
    (loss,) = on_target(resolve_losses("brier", classification=True), np.array([0, 1, 2]))
    assert row_losses(loss, np.array([2]), two).tolist() == [0.0625 + 0.5625 + 1]
    assert row_losses(loss, np.array([1]), two).tolist() == [0.125]  # as every part of three classes is scaled
    one = Responses(predict_proba=np.array([[1.0]]), classes=np.array([0]))
    (loss,) = on_target(resolve_losses("brier", classification=True), np.array([0, 1]))
    assert row_losses(loss, np.array([1]), one).tolist() == [1]
    outside = Responses(predict_proba=np.array([[-0.5, 1.5]]), classes=np.array([0, 1]))
    with pytest.raises(PredictionError, match="between 0 and 1"):
        row_losses(loss, np.array([1]), outside)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pinball", "'pinball' takes a quantile between 0 and 1 after a colon, as in 'pinball:0.9'"),
        ("pinball:1.5", "a quantile"),
        ("pinball:nan", "a quantile"),
        ("tweedie:0.5", "a power of 1 or more, or at most 0"),
        ("brieer", "Did you mean 'brier'"),
    ],
)
def test_names_with_numbers_are_checked(name, words):
    with pytest.raises(LossError, match=words):
        resolve_losses(name, classification=False)


def test_a_deviance_outside_its_domain_says_whose_fault_it_is():
    loss = resolved("poisson", numbers=True)
    with pytest.raises(LossError, match="targets that are 0 or more, but 1 of 2"):
        row_losses(loss, np.array([-1.0, 2]), Responses(predict=np.ones(2)))
    with pytest.raises(PredictionError, match="predictions that are above 0, but 1 of 2"):
        row_losses(loss, np.array([1.0, 2]), Responses(predict=np.array([0.0, 1])))


@pytest.mark.parametrize("scorer", [*NUMBERS.values(), *PROBABILITIES.values(), "f1_samples"], ids=str)
def test_they_are_pickled_and_known_again(scorer):
    loss = resolved(scorer, numbers=False)
    again = pickle.loads(pickle.dumps(loss))
    assert again.rows == loss.rows
    assert loss_identity(again).key == loss_identity(loss).key


def test_options_are_part_of_what_a_loss_is():
    keys = {loss_identity(resolved(f"pinball:{a}", numbers=True)).key for a in (0.1, 0.5, 0.9)}
    assert len(keys) == 3


def test_only_convex_deviances_say_so():
    powers = {p: resolved(f"tweedie:{p}", numbers=True).convex for p in (-1, 0, 1, 1.5, 2)}
    assert powers == {-1: False, 0: True, 1: True, 1.5: False, 2: False}
    scorers = {p: resolved(loss_of(metrics.mean_tweedie_deviance, power=p), numbers=True).convex for p in powers}
    assert scorers == powers


def test_intervals_know_the_family_of_a_loss_by_what_its_rows_are():
    half = loss_of(BRIER, response_method="predict_proba", scale_by_half=False)
    for loss, family in {
        "brier": "brier",
        "neg_brier_score": "brier",
        half: "other",
        row_loss("squared", low=0, high=9): "squared",
        row_loss("brier", high=1, name="p"): "brier",
        "poisson": "other",
        "f1_samples": "other",
    }.items():
        assert family_of(resolved(loss, numbers=False)) == family, loss
    (named,) = resolve_losses({"mine": "brier"}, classification=True)
    assert family_of(named) == "brier"
