"""Row losses and their means, against scikit-learn and against hand-made numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error, zero_one_loss

from heldout.base.errors import LossError, PredictionError
from heldout.base.responses import Responses
from heldout.losses import ABSOLUTE, LOG, SQUARED, ZERO_ONE, mean_loss, row_losses

finite = st.floats(-1e6, 1e6)


def test_zero_one_counts_wrong_labels_of_any_type():
    y = np.array(["a", "b", "b"], dtype=object)
    assert row_losses(ZERO_ONE, y, Responses(predict=np.array(["a", "a", "b"]))).tolist() == [0, 1, 0]


def test_zero_one_of_several_labels_is_wrong_when_any_is():
    y = np.array([[0, 1], [1, 1], [0, 0]])
    answer = Responses(predict=np.array([[0, 1], [1, 0], [1, 1]]))
    assert row_losses(ZERO_ONE, y, answer).tolist() == [0, 1, 1]
    assert mean_loss(ZERO_ONE, y, answer) == pytest.approx(zero_one_loss(y, answer.predict))


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(*[arrays(float, (n, 2), elements=finite)] * 2)))
def test_squared_and_absolute_are_scikit_learns(pair):
    y, predicted = pair
    answer = Responses(predict=predicted)
    weight = np.arange(1.0, len(y) + 1)
    for loss, peer in ((SQUARED, mean_squared_error), (ABSOLUTE, mean_absolute_error)):
        assert mean_loss(loss, y, answer) == pytest.approx(peer(y, predicted), rel=1e-12)
        assert mean_loss(loss, y, answer, weight) == pytest.approx(peer(y, predicted, sample_weight=weight), rel=1e-12)
        one = Responses(predict=predicted[:, 0])
        assert mean_loss(loss, y[:, 0], one) == peer(y[:, 0], predicted[:, 0])


def test_a_column_of_targets_does_not_broadcast_against_flat_predictions():
    y, predicted = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 5.0])
    assert row_losses(SQUARED, y, Responses(predict=predicted)).tolist() == [0, 0, 4]


@pytest.mark.parametrize("shape", [(2,), (3, 2), (4,)])
def test_predictions_of_the_wrong_shape_are_refused(shape):
    with pytest.raises(PredictionError, match="for a target of shape"):
        row_losses(SQUARED, np.zeros(3), Responses(predict=np.zeros(shape)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_log_loss_is_scikit_learns_with_certain_and_impossible_classes(dtype):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], size=30).astype(dtype)
    proba[0], proba[1] = [0, 0, 1], [1, 0, 0]
    y = rng.integers(0, 3, 30)
    y[:3] = [0, 0, 2]
    names = np.array(["ape", "bee", "cat"])
    answer = Responses(predict_proba=proba, classes=names)
    assert mean_loss(LOG, names[y], answer) == pytest.approx(
        log_loss(names[y], proba), rel=1e-6 if dtype == np.float32 else 1e-14
    )
    assert row_losses(LOG, names[y], answer).dtype == np.float64


def test_log_loss_of_a_class_never_seen_in_training_is_large_and_finite():
    answer = Responses(predict_proba=np.array([[0.5, 0.5], [1.0, 0.0], [0.3, 0.7]]), classes=np.array([0, 2]))
    rows = row_losses(LOG, np.array([2, 1, 3]), answer)
    worst = -np.log(np.finfo(float).eps)
    assert rows == pytest.approx([np.log(2), worst, worst])


def test_log_loss_follows_the_order_of_the_predictors_classes():
    answer = Responses(predict_proba=np.array([[0.9, 0.1], [0.9, 0.1]]), classes=np.array(["z", "a"]))
    assert row_losses(LOG, np.array(["z", "a"]), answer) == pytest.approx(-np.log([0.9, 0.1]))


def test_log_loss_needs_probabilities_of_its_classes():
    with pytest.raises(LossError, match="needs predict_proba"):
        row_losses(LOG, np.array([0]), Responses(predict=np.array([0])))
    with pytest.raises(PredictionError, match="for 1 rows and 3 classes"):
        row_losses(LOG, np.array([0]), Responses(predict_proba=np.array([[0.5, 0.5]]), classes=np.arange(3)))


def test_weights_make_a_weighted_mean():
    answer = Responses(predict=np.array([1, 1, 1]))
    assert mean_loss(ZERO_ONE, np.array([1, 0, 0]), answer, np.array([2.0, 1.0, 1.0])) == 0.5
