"""Accuracy is taken from its rows where that is what scikit-learn says, bit for bit, and by scikit-learn elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from heldout.base.errors import LossError
from heldout.base.responses import Responses
from heldout.losses import Replay, is_mean_of_rows, mean_loss, resolve_losses
from heldout.losses.scoring import call_scorer

(ACCURACY,) = resolve_losses("accuracy", classification=True)
KINDS = {
    "whole": lambda codes: codes,
    "small": lambda codes: codes.astype(np.int8),
    "texts": lambda codes: np.array(["a", "bb", "ccc"])[codes],
    "truth": lambda codes: codes > 0,
    "objects": lambda codes: np.array(["a", "bb", "ccc"], dtype=object)[codes],
    "floats": lambda codes: codes.astype(float),
}


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0.001, 10)), min_size=1, max_size=40),
    st.sampled_from(sorted(KINDS)),
    st.booleans(),
)
def test_it_is_scikit_learns_accuracy_bit_for_bit(rows, kind, weighted):
    true, predicted, weight = (np.array(column) for column in zip(*rows, strict=True))
    true, predicted = KINDS[kind](true), KINDS[kind](predicted)
    weight = weight if weighted else None
    expected = accuracy_score(true, predicted, sample_weight=weight)
    assert -mean_loss(ACCURACY, true, Responses(predict=predicted), weight) == expected


def test_what_is_no_label_is_still_refused_by_scikit_learn():
    with pytest.raises(LossError, match="mix of binary and continuous"):
        mean_loss(ACCURACY, np.array([0, 1, 1]), Responses(predict=np.array([0.2, 0.7, 0.9])))


def test_several_labels_a_row_are_left_to_scikit_learn():
    true = np.array([[0, 1], [1, 1], [0, 0]])
    predicted = np.array([[0, 1], [1, 0], [0, 0]])
    assert -mean_loss(ACCURACY, true, Responses(predict=predicted)) == accuracy_score(true, predicted) == 2 / 3


@settings(deadline=None)
@given(
    st.integers(1, 600),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["neg_mean_squared_error", "neg_mean_absolute_error"]),
)
def test_means_of_row_errors_are_the_scorers_own_numbers(n, seed, name):
    random = np.random.default_rng(seed)
    y, predicted = random.normal(size=n) * 10.0 ** random.integers(-3, 6), random.normal(size=n)
    (loss,) = resolve_losses(name, classification=False)
    responses = Responses(predict=predicted)
    assert is_mean_of_rows(loss, y, responses)
    assert mean_loss(loss, y, responses) == call_scorer(loss, Replay(responses), None, y, None)
