"""Losses that do not fit the target are refused before anything is fitted, with a way out."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from sklearn.metrics import f1_score, get_scorer, make_scorer, mean_squared_error

from heldout.base.errors import LossError, TargetError
from heldout.losses import check_losses, resolve_losses

THREE = np.arange(30) % 3
WORDS = np.array(["no", "yes"])[np.arange(30) % 2]
NUMBERS = np.linspace(-1, 1, 30)


def check(loss, y, classification=True, **options):
    """The names of the losses, once none of them is refused for this target."""
    losses = resolve_losses(loss, classification=classification)
    check_losses(losses, y, classification, **options)
    return [loss.name for loss in losses]


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "jaccard", "average_precision", "neg_brier_score"])
def test_a_binary_score_asks_which_of_two_words_is_positive(name):
    with pytest.raises(LossError, match=r"which of the labels 'no' and 'yes' is the positive one.*pos_label='yes'"):
        check(name, WORDS)


@pytest.mark.parametrize("name", ["f1", "average_precision", "neg_brier_score", "recall"])
def test_the_way_out_that_is_offered_works(name):
    with pytest.raises(LossError) as caught:
        check(name, WORDS)
    offered = str(caught.value).split("Pass ")[1].split(" where a learner")[0]
    scorer = eval(offered, vars(sklearn.metrics))
    assert len(check(scorer, WORDS)) == 1
    assert repr(scorer).replace(", pos_label=yes", "") == repr(get_scorer(name))


def test_scores_that_need_no_positive_label_take_words():
    names = ["roc_auc", "accuracy", "matthews_corrcoef", "neg_log_loss", "f1_macro"]
    assert check(names, WORDS) == names


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("f1", "cannot score 3 classes.*Use f1_macro, f1_micro or f1_weighted"),
        ("roc_auc", "Use roc_auc_ovo, .*or roc_auc_ovr_weighted"),
        (make_scorer(f1_score), r"make_scorer\(f1_score, average='macro'\)"),
        ("positive_likelihood_ratio", "balanced_accuracy"),
    ],
)
def test_a_binary_score_on_three_classes_names_its_wider_forms(loss, words):
    with pytest.raises(LossError, match=words):
        check(loss, THREE)


@pytest.mark.parametrize("loss", ["zero_one", "log", "accuracy", "f1", "neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("y", [NUMBERS, np.arange(30.0)], ids=["fractions", "whole"])
def test_losses_for_classes_are_refused_for_numbers(loss, y):
    with pytest.raises(LossError, match="'squared' or 'absolute'"):
        check(loss, y, classification=False)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_losses_for_numbers_are_refused_for_classes(loss):
    with pytest.raises(LossError, match="'zero_one' or 'log'"):
        check(loss, THREE)


def test_scores_for_numbers_are_refused_for_words():
    with pytest.raises(LossError, match="'r2' cannot score this target"):
        check("r2", WORDS)


@pytest.mark.parametrize("loss", ["squared", "poisson", "r2"])
@pytest.mark.parametrize("y", [WORDS, WORDS.astype(object)], ids=["text", "objects"])
def test_words_are_refused_as_the_target_of_a_learner_that_predicts_numbers(loss, y):
    with pytest.raises(TargetError, match=r"the target holds text \('no'\). Take a classifier"):
        check(loss, y, classification=False)


def test_log_loss_takes_one_label_a_row():
    with pytest.raises(LossError, match="one label a row"):
        check("log", np.eye(3, dtype=int))
    names = ["zero_one", "f1_samples", "accuracy", "roc_auc"]
    assert check(names, np.eye(3, dtype=int)) == names


def test_a_deviance_that_cannot_take_a_rare_value_is_found_in_many_rows():
    y = np.ones(5000)
    assert check("neg_mean_gamma_deviance", y, classification=False) == ["neg_mean_gamma_deviance"]
    y[4321] = 0
    with pytest.raises(LossError, match="neg_mean_gamma_deviance"):
        check("neg_mean_gamma_deviance", y, classification=False)


def test_several_numbers_where_one_is_due():
    raw = make_scorer(mean_squared_error, greater_is_better=False, multioutput="raw_values")
    with pytest.raises(LossError, match="ndarray where one number was due"):
        check(raw, np.ones((30, 2)), classification=False)


def test_a_rare_class_counts_among_many_rows():
    y = np.zeros(5000, dtype=int)
    y[::2] = 1
    assert check("f1", y) == ["f1"]
    y[4999] = 2
    with pytest.raises(LossError, match="3 classes"):
        check("f1", y)


def test_a_weightless_scorer_is_refused_only_where_rows_have_weights():
    assert check("neg_max_error", NUMBERS, classification=False) == ["neg_max_error"]
    with pytest.raises(LossError, match="'neg_max_error' takes no sample_weight"):
        check("neg_max_error", NUMBERS, classification=False, weighted=True)
    assert check(["zero_one", "accuracy"], THREE, weighted=True) == ["zero_one", "accuracy"]


def test_scorers_that_ask_the_predictor_are_let_through():
    assert check(lambda estimator, X, y: 0.0, WORDS) == ["scorer"]
